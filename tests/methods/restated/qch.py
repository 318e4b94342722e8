"""QCH: the two views stacked into one block-diagonal matrix, as its abstract describes it."""

import numpy as np
import scipy

from tests.methods.restated.common import canonical_directions, random_rotation, sign

PARAMETERS = {}


def restate(views, Y, n_bits, seed):
    rng = np.random.default_rng(seed)
    means = [V.mean(axis=0) for V in views]
    X, T = (V - mean for V, mean in zip(views, means, strict=True))
    n, d = X.shape
    Z = scipy.linalg.block_diag(X, T)
    # The penalty is relative to the mean eigenvalue of each view's scatter matrix.
    penalties = [np.trace(V.T @ V) / V.shape[1] for V in (X, T)]
    system = Z.T @ Z + np.diag(np.repeat(penalties, [d, T.shape[1]]))
    *A, _ = canonical_directions(X, T, n_bits, *penalties)
    B = sign(Z @ np.vstack(A) @ random_rotation(n_bits, rng))
    for _ in range(50):
        W = np.linalg.solve(system, Z.T @ B)
        B[:n] = sign(X @ W[:d] + 0.5 * B[n:])
        B[n:] = sign(T @ W[d:] + 0.5 * B[:n])
    return [B[:n] > 0, B[n:] > 0], lambda V, view: (V - means[view]) @ (W[:d], W[d:])[view] >= 0
