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
RIDGE = 0.1  # relative to the mean eigenvalue of a scatter matrix


def penalty(X):
    """Return the ridge of a view in units of its scatter matrix."""
    return RIDGE * np.linalg.eigvalsh(X.T @ X).mean()


def restate(views, Y, n_bits, seed, iterations, source=0):
    rng = np.random.default_rng(seed)
    means = [X.mean(axis=0) for X in views]
    A, Z = (views[m] - means[m] for m in (source, 1 - source))
    # Centred labels with one class per row have rank c - 1; further directions are zero.
    rank = Y.shape[1] - 1
    W = np.zeros((A.shape[1], n_bits))
    labels = Y - Y.mean(axis=0)
    left, _, correlations = canonical_directions(A, labels, rank, penalty(A), penalty(labels))
    W[:, :rank] = left * correlations
    V, R = A @ W, random_rotation(n_bits, rng)
    for _ in range(iterations):
        R = best_rotation(V.T @ sign(V @ R))
    B = sign(V @ R)
    projections = {source: W @ R, 1 - source: regress(Z, B, penalty(Z))}
    return B > 0, lambda X, view: (X - means[view]) @ projections[view] >= 0
