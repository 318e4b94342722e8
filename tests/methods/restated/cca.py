"""CCA: signs of canonical projections, from the textbook's eigenproblem."""

from tests.methods.restated.common import canonical_directions

PARAMETERS = {}


def restate(views, Y, n_bits, seed):
    means = [V.mean(axis=0) for V in views]
    X, T = (V - mean for V, mean in zip(views, means, strict=True))
    ridge = 1e-4 * (len(X) - 1)  # of the covariance, here added to the scatter matrix
    *W, _ = canonical_directions(X, T, n_bits, ridge, ridge)
    return None, lambda Z, view: (Z - means[view]) @ W[view] >= 0
