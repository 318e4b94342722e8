"""DASH: ITQ of the canonical variates of one view and the labels, then ridge regression."""

import numpy as np

from tests.methods.restated.common import (
    best_rotation,
    canonical_directions,
    random_rotation,
    sign,
)

PARAMETERS = {"iterations": 50}
RIDGE = 1e-4


def restate(views, Y, n_bits, seed, iterations, giver=0):
    rng = np.random.default_rng(seed)
    means = [X.mean(axis=0) for X in views]
    A, Z = (views[m] - means[m] for m in (giver, 1 - giver))
    # Centred labels with one class per row have one direction less than classes; the other
    # columns are zero.
    directions = Y.shape[1] - 1
    W = np.zeros((A.shape[1], n_bits))
    left, _, correlations = canonical_directions(A, Y - Y.mean(axis=0), directions, RIDGE, RIDGE)
    W[:, :directions] = left * correlations
    V, R = A @ W, random_rotation(n_bits, rng)
    for _ in range(iterations):
        R = best_rotation(V.T @ sign(V @ R))
    B = sign(V @ R)
    P = np.linalg.solve(Z.T @ Z + RIDGE * np.eye(Z.shape[1]), Z.T @ B)
    projections = {giver: W @ R, 1 - giver: P}
    return B > 0, lambda X, view: (X - means[view]) @ projections[view] >= 0
