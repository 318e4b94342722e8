"""DASH: ITQ of the canonical variates of one view and the labels, then ridge regression."""

import numpy as np

from tests.methods.restated.common import (
    best_rotation,
    canonical_directions,
    random_rotation,
    regress,
    sign,
)

PARAMETERS = {"iterations": 50}
RIDGE = 1e-4


def restate(views, Y, n_bits, seed, iterations, giver=0):
    rng = np.random.default_rng(seed)
    means = [X.mean(axis=0) for X in views]
    A, Z = (views[m] - means[m] for m in (giver, 1 - giver))
    # Centred labels with one class per row have rank c - 1; further directions are zero.
    rank = Y.shape[1] - 1
    W = np.zeros((A.shape[1], n_bits))
    left, _, correlations = canonical_directions(A, Y - Y.mean(axis=0), rank, RIDGE, RIDGE)
    W[:, :rank] = left * correlations
    V, R = A @ W, random_rotation(n_bits, rng)
    for _ in range(iterations):
        R = best_rotation(V.T @ sign(V @ R))
    B = sign(V @ R)
    projections = {giver: W @ R, 1 - giver: regress(Z, B, RIDGE)}
    return B > 0, lambda X, view: (X - means[view]) @ projections[view] >= 0
