import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.linalg import random_rotation, stiefel
from hashbench.linalg.clustering import multiview_kmeans
from hashbench.methods.fcmh import FCMH


def signs(values):
    return np.where(values >= 0, 1.0, -1.0)


def cosines(Y):
    norms = np.linalg.norm(Y, axis=0)
    return Y.T @ Y / np.outer(np.where(norms > 0, norms, 1), np.where(norms > 0, norms, 1))


def direct(views, Y, k, iterations, seed):
    """The updates with the n x n similarity formed and groups as index sets."""
    a1, a2, b1, b2, gamma, xi = 100.0, 10.0, 10.0, 10.0, 0.1, 1.0
    rng = np.random.default_rng(seed)
    n, c = Y.shape
    assigned = multiview_kmeans(views, c, rng)
    groups = [np.flatnonzero(assigned == g) for g in range(c) if (assigned == g).any()]
    order = np.concatenate(groups)
    G = Y / np.linalg.norm(Y, axis=1, keepdims=True)
    S = 2 * G @ G.T - 1
    B, V = np.empty((n, k)), np.empty((n, k))
    B[order] = signs(rng.standard_normal((n, k)))
    V[order] = rng.standard_normal((n, k))
    R = random_rotation(k, rng)
    C = [b1 * cosines(Y) + b2 * cosines(Y[g]) for g in groups]
    values = []
    for _ in range(iterations):
        left = sum(V[g].T @ Y[g] @ M for g, M in zip(groups, C, strict=True))
        right = sum(len(g) * np.diag(M.sum(axis=1)) for g, M in zip(groups, C, strict=True))
        P = left @ np.linalg.inv(right + gamma * np.eye(c))
        new = V.copy()
        for g, M in zip(groups, C, strict=True):
            Z = B[g] @ R.T + a1 * k * S[g] @ B + a2 * k * S[np.ix_(g, g)] @ B[g] + Y[g] @ M @ P.T
            new[g] = stiefel(Z, rng)
        V = new
        new = B.copy()
        for g in groups:
            new[g] = signs(V[g] @ R + a1 * k * S[g] @ V + a2 * k * S[np.ix_(g, g)] @ V[g])
        B = new
        u, _, v = np.linalg.svd(V.T @ B)
        R = u @ v
        value = np.square(B - V @ R).sum() + gamma * np.square(P).sum()
        value += a1 * np.square(k * S - V @ B.T).sum()
        for g, M in zip(groups, C, strict=True):
            value += a2 * np.square(k * S[np.ix_(g, g)] - V[g] @ B[g].T).sum()
            for j in range(c):
                for i in range(c):
                    value += M[i, j] * np.square(Y[g, i] - V[g] @ P[:, j]).sum()
        values.append(value)
    W = [np.linalg.solve(X.T @ X + xi * np.eye(X.shape[1]), X.T @ B) for X in views]
    return B > 0, W, values


def test_equals_the_updates_with_the_similarity_formed():
    views, Y = toy(120, multilabel=True)
    method = FCMH(n_bits=3, iterations=3, random_state=6).fit(views, Y)
    codes, W, values = direct(views, Y.astype(float), 3, 3, 6)
    assert np.array_equal(method.codes_, codes)
    np.testing.assert_allclose(method.objective_, values, rtol=1e-9)
    for ours, theirs in zip(method.projections_, W, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("n_bits", [3, 10])
def test_objective_never_rises(n_bits):
    views, Y = toy(200, multilabel=True)
    objective = FCMH(n_bits=n_bits, random_state=0).fit(views, Y).objective_
    assert (np.diff(objective) <= 1e-6 * objective[0]).all()
    assert objective[-1] < objective[0]


def test_more_bits_than_items_of_a_group():
    views, Y = toy(30)
    codes = FCMH(n_bits=64, random_state=0).fit(views, Y).codes_
    assert (codes.any(axis=0) & ~codes.all(axis=0)).mean() > 0.9


def test_many_rows_are_reduced_before_they_are_clustered(monkeypatch):
    import hashbench.methods.fcmh as module

    seen = []

    def spy(views, clusters, rng):
        seen.append([X.shape for X in views])
        return multiview_kmeans(views, clusters, rng)

    monkeypatch.setattr(module, "multiview_kmeans", spy)
    monkeypatch.setattr(module, "CLUSTERED_ROWS", 50)
    monkeypatch.setattr(module, "CLUSTERED_COLUMNS", 5)
    views, Y = toy(60)
    FCMH(random_state=0).fit(views, Y)
    FCMH(random_state=0).fit([X[:50] for X in views], Y[:50])
    assert seen == [[(60, 5), (60, 5)], [(50, 12), (50, 8)]]
