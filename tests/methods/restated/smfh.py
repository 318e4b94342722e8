"""SMFH with the n x n Laplacian formed."""

import numpy as np
from scipy.spatial.distance import cdist

from tests.methods.restated.common import ignore, regress

PARAMETERS = {}


def neighbours_either_way(X, count):
    """Return the 0/1 graph that joins two rows if one is among the nearest rows of the other."""
    D = cdist(X, X).round(9)  # of equal distances the first counts
    np.fill_diagonal(D, np.inf)
    W = np.zeros_like(D)
    np.put_along_axis(W, np.argsort(D, axis=1, kind="stable")[:, :count], 1, axis=1)
    return np.maximum(W, W.T)


def restate(
    views,
    Y,
    n_bits,
    seed,
    alpha=0.5,
    beta=100.0,
    gamma=1.0,
    ridge_scatter=0.01,
    tolerance=1.0,
    iterations=100,
    record=ignore,
):
    rng = np.random.default_rng(seed)
    weights = [alpha] + [(1 - alpha) / (len(views) - 1)] * (len(views) - 1)
    graph = sum(neighbours_either_way(X, 5) for X in views) + Y @ Y.T
    laplacian = np.diag(graph.sum(axis=1)) - graph
    eigenvalues, Q = np.linalg.eigh(laplacian)
    means = [X.mean(axis=0) for X in views]
    views = [X - mean for X, mean in zip(views, means, strict=True)]
    eye = np.eye(n_bits)
    S = rng.random((len(Y), n_bits))
    P = [rng.random((X.shape[1], n_bits)) for X in views]
    last = np.inf
    for _ in range(iterations):
        U = [
            X.T @ S @ np.linalg.inv(S.T @ S + ridge_scatter / weight * eye)
            for X, weight in zip(views, weights, strict=True)
        ]
        A, C = 2 * (len(views) * beta + ridge_scatter) * eye, np.zeros_like(S)
        for X, weight, u, p in zip(views, weights, U, P, strict=True):
            A += 2 * weight * u.T @ u
            C += 2 * (weight * X @ u + beta * X @ p)
        # S A + 2 gamma laplacian S = C, by the eigenvectors of both matrices
        values, E = np.linalg.eigh(A)
        S = Q @ ((Q.T @ C @ E) / (values + 2 * gamma * eigenvalues[:, None])) @ E.T
        P = [regress(X, S, ridge_scatter / beta) for X in views]
        value = gamma * np.trace(S.T @ laplacian @ S) + ridge_scatter * np.square(S).sum()
        for X, weight, u, p in zip(views, weights, U, P, strict=True):
            value += weight * np.square(X - S @ u.T).sum() + beta * np.square(S - X @ p).sum()
            value += ridge_scatter * (np.square(u).sum() + np.square(p).sum())
        record(value)
        if last - value < tolerance:
            break
        last = value
    centre = S.mean(axis=0)
    return S - centre >= 0, lambda X, view: (X - means[view]) @ P[view] - centre >= 0
