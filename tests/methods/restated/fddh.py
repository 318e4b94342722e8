"""FDDH with items as columns, as its paper has them."""

import numpy as np
from scipy.spatial.distance import cdist

from tests.methods.restated.common import best_rotation, ignore, rbf, regress, sign

# With the default weights T hardly differs from the labels, and the kernels have no influence.
PARAMETERS = {"anchors": 50, "mu": 0.5, "gamma": 0.1, "iterations": 10}
RIDGE = 1e-4


def restate(views, Y, n_bits, seed, anchors, mu, gamma, iterations, tolerance=1e-4, record=ignore):
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.choice(len(Y), anchors, replace=False))  # the same items in every view
    widths = [cdist(X, X, "sqeuclidean").mean() for X in views]
    maps = [
        lambda Z, a=X[chosen], width=width: rbf(Z, a, width)
        for X, width in zip(views, widths, strict=True)
    ]
    K1, K2 = (phi(X).T for phi, X in zip(maps, views, strict=True))
    B, T = sign(rng.standard_normal((len(Y), n_bits))).T, Y.T
    R1 = R2 = np.eye(anchors, n_bits)
    goal, before = B @ T.T, np.inf  # the first C-step comes before the first R and does not use it
    for _ in range(iterations):
        C = best_rotation(goal)
        R1, R2 = (best_near(K @ T.T @ C.T, R) for K, R in ((K1, R1), (K2, R2)))
        last, B = B, sign(C @ T)
        T = (C.T @ B + mu * C.T @ (R1.T @ K1 + R2.T @ K2)) / (1 + 2 * mu + gamma)
        T = np.where(Y.T > 0, np.maximum(T, 1), np.minimum(T, 0))
        goal = (B + mu * R1.T @ K1 + mu * R2.T @ K2) @ T.T
        value = np.square(B - C @ T).sum() + gamma * np.square(T).sum()
        value += mu * sum(np.square(K - R @ C @ T).sum() for K, R in ((K1, R1), (K2, R2)))
        record(value)
        if value > before:
            B = last
            break
        if before - value < tolerance * value:
            break
        before = value
    P = [regress(K.T, B.T, RIDGE) for K in (K1, K2)]
    return B.T > 0, lambda X, view: maps[view](X) @ P[view] >= 0


def best_near(A, last):
    """Return the R with orthonormal columns that maximises tr(R'A), and of several tr(R'last).

    With more bits than classes A has the rank of C, and the paper leaves the choice open.
    """
    left, values, right = np.linalg.svd(A)
    rank = (values > 1e-8 * values[0]).sum()
    free = best_rotation(left[:, rank:].T @ last @ right[rank:].T)
    return left[:, :rank] @ right[:rank] + left[:, rank:] @ free @ right[rank:]
