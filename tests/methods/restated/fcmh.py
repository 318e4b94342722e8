"""FCMH with the n x n label similarity formed and groups as sets of rows."""

import numpy as np
from scipy.spatial.distance import cdist

from tests.methods.restated.common import (
    balanced_factor,
    best_rotation_near,
    ignore,
    random_rotation,
    regress,
    sign,
    unit_rows,
)

# Under the default weights the labels alone decide about the codes; under these every term counts.
WEIGHTS = {"alpha1": 1e-3, "alpha2": 1e-2, "beta1": 1.0, "beta2": 1.0}
PARAMETERS = {"iterations": 3, **WEIGHTS}


def clusters(views, count, rng):
    """Return the groups of a robust k-means over all views (Cai, Nie and Huang, 2013)."""
    n = len(views[0])
    assigned = np.concatenate([rng.permutation(count) for _ in range(-(-n // count))])[:n]
    D = [np.ones(n) for _ in views]  # weights of the items in each view
    alpha = np.full(len(views), 1 / len(views))  # weights of the views
    F = [np.zeros((count, X.shape[1])) for X in views]  # centroids
    last = np.inf
    for _ in range(100):
        for X, d, f in zip(views, D, F, strict=True):
            for g in np.unique(assigned):
                f[g] = np.average(X[assigned == g], axis=0, weights=d[assigned == g])
        distances = [cdist(X, f) for X, f in zip(views, F, strict=True)]
        total = sum(
            np.sqrt(a) * d[:, None] * E**2 for a, d, E in zip(alpha, D, distances, strict=True)
        )
        assigned = total.argmin(axis=1)
        lengths = [E[np.arange(n), assigned] for E in distances]
        D = [1 / (2 * np.maximum(length, 1e-12)) for length in lengths]
        losses = np.array([length.sum() for length in lengths])
        alpha = losses**2 / np.sum(losses**2)  # 1 / (1 - r) = 2 for r = 1/2
        value = np.sqrt(alpha) @ losses
        if abs(last - value) <= 1e-3 * value:
            break
        last = value
    return [np.flatnonzero(assigned == g) for g in np.unique(assigned)]


def cosines(Y):
    """Return the cosines between the columns of the labels, zero for a class without items."""
    norms = np.linalg.norm(Y, axis=0)
    norms[norms == 0] = 1
    return Y.T @ Y / np.outer(norms, norms)


def restate(
    views,
    Y,
    n_bits,
    seed,
    iterations,
    alpha1=100.0,
    alpha2=10.0,
    beta1=10.0,
    beta2=10.0,
    gamma=0.1,
    ridge_scatter=1.0,
    record=ignore,
):
    rng, k = np.random.default_rng(seed), n_bits
    n, c = Y.shape
    groups = clusters(views, min(c, 25), rng)
    order = np.concatenate(groups)  # the method draws items in the order of their groups
    B, V = np.empty((n, k)), np.empty((n, k))
    B[order] = sign(rng.standard_normal((n, k)))
    V[order] = rng.standard_normal((n, k))
    R = random_rotation(k, rng)
    G = unit_rows(Y)
    S = 2 * G @ G.T - 1
    C = [beta1 * cosines(Y) + beta2 * cosines(Y[g]) for g in groups]
    for _ in range(iterations):
        left = sum(V[g].T @ Y[g] @ M for g, M in zip(groups, C, strict=True))
        right = sum(len(g) * np.diag(M.sum(axis=1)) for g, M in zip(groups, C, strict=True))
        P = left @ np.linalg.inv(right + gamma * np.eye(c))
        # All V_g come before all B_g: see the method's deviations.
        for g, M in zip(groups, C, strict=True):
            Z = B[g] @ R.T + Y[g] @ M @ P.T
            Z += alpha1 * k * S[g] @ B + alpha2 * k * S[np.ix_(g, g)] @ B[g]
            V[g] = balanced_factor(Z, rng)
        for g in groups:
            B[g] = sign(V[g] @ R + alpha1 * k * S[g] @ V + alpha2 * k * S[np.ix_(g, g)] @ V[g])
        R = best_rotation_near(V.T @ B, R)
        value = np.square(B - V @ R).sum() + gamma * np.square(P).sum()
        value += alpha1 * np.square(k * S - V @ B.T).sum()
        for g, M in zip(groups, C, strict=True):
            value += alpha2 * np.square(k * S[np.ix_(g, g)] - V[g] @ B[g].T).sum()
            value += np.sum(M * cdist(Y[g].T, (V[g] @ P).T, "sqeuclidean"))
        record(value)
    W = [regress(X, B, ridge_scatter) for X in views]
    return B > 0, lambda X, view: X @ W[view] >= 0
