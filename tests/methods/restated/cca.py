"""CCA: signs of canonical projections, from the textbook's eigenproblem."""

from tests.methods.restated.common import canonical_directions

PARAMETERS = {}


def restate(views, Y, n_bits, seed):
    means = [V.mean(axis=0) for V in views]
    X, T = (V - mean for V, mean in zip(views, means, strict=True))
    *W, _ = canonical_directions(X, T, n_bits, 1e-4, 1e-4)
    return None, lambda Z, view: (Z - means[view]) @ W[view] >= 0
