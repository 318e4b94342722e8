"""CCA-ITQ: one rotation of the stacked canonical projections of both views."""

import numpy as np

from tests.methods.restated.common import (
    best_rotation,
    canonical_directions,
    random_rotation,
    sign,
)

PARAMETERS = {}


def restate(views, Y, n_bits, seed):
    rng = np.random.default_rng(seed)
    means = [V.mean(axis=0) for V in views]
    X, T = (V - mean for V, mean in zip(views, means, strict=True))
    ridge = 1e-4 * (len(X) - 1)  # of the covariance, here added to the scatter matrix
    *A, _ = canonical_directions(X, T, n_bits, ridge, ridge)
    A = [a / np.abs(A[0]).max(axis=0) for a in A]  # the method's documented scaling "entry"
    V = np.vstack([X @ A[0], T @ A[1]])
    R = random_rotation(n_bits, rng)
    for _ in range(51):
        B = sign(V @ R)
        R = best_rotation(V.T @ B)
    return None, lambda Z, view: (Z - means[view]) @ A[view] @ R >= 0
