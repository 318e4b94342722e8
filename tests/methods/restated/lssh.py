"""LSSH in double precision, with the bounded least squares solved to the end."""

import numpy as np

from tests.methods.restated.common import ignore, unit_rows, upright

PARAMETERS = {"gamma": 0.2, "atoms": 40, "iterations": 2}
# The method stops the bounded least squares where no row moves by more than 1e-3. If it goes on to
# 1e-9, all codes agree, although it works in single precision.
AGREEMENT = 0.99


def restate(views, Y, n_bits, seed, gamma, atoms, iterations, record=ignore):
    mu, rho = 0.5, 0.2
    rng = np.random.default_rng(seed)
    means = [V.mean(axis=0) for V in views]
    centred = views[0] - means[0]
    components = upright(np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :64])

    def features(Z, view):
        Z = (Z - means[view]) @ (components if view == 0 else np.eye(Z.shape[1]))
        return unit_rows(Z)

    def latent(linked, T):
        inverse = np.linalg.inv(U @ U.T + gamma / mu * np.eye(n_bits))
        return (gamma / mu * linked + T @ U.T) @ inverse

    X, T = (features(V, view) for view, V in enumerate(views))
    U = rng.standard_normal((n_bits, T.shape[1]))
    B = rng.standard_normal((atoms, X.shape[1]))
    R = rng.standard_normal((atoms, n_bits))
    S = lasso(B, X, rho)
    for _ in range(iterations):
        A = latent(S @ R, T)
        U = bounded(A, T)
        root = np.sqrt(gamma)
        S = lasso(np.hstack([B, root * R]), np.hstack([X, root * A]), rho)
        B, R = bounded(S, X), bounded(S, A)
        record(
            np.square(X - S @ B).sum()
            + rho * np.abs(S).sum()
            + mu * np.square(T - A @ U).sum()
            + gamma * np.square(A - S @ R).sum()
        )

    def encode(Z, view):
        F = features(Z, view)
        return (lasso(B, F, rho) @ R if view == 0 else latent(0, F)) >= 0

    return latent(lasso(B, X, rho) @ R, T) >= 0, encode


def lasso(D, Y, rho):
    """Return 30 accelerated proximal steps from zero for each row, with a line search.

    The weight of |s|_1 is rho times the smallest one that makes a row of S zero.
    """
    weight = rho * np.abs(Y @ D.T).max(axis=1, keepdims=True)
    bound = np.ones((len(Y), 1))
    S = last = np.zeros((len(Y), len(D)))
    before, momentum = 1, 1
    for _ in range(30):
        point = S + (before - 1) / momentum * (S - last)
        gradient = (point @ D - Y) @ D.T
        while True:
            new = point - gradient / bound
            new = np.sign(new) * np.maximum(np.abs(new) - weight / bound, 0)
            moved = new - point
            left = np.square(moved @ D).sum(axis=1, keepdims=True)
            right = np.square(moved).sum(axis=1, keepdims=True)
            # A tie, which is the rule after the first step, doubles the bound.
            small = left > (1 - 1e-4) * bound * right
            if not small.any():
                break
            bound = np.where(small, np.maximum(2 * bound, left / np.maximum(right, 1e-20)), bound)
        S, last = new, S
        before, momentum = momentum, (1 + np.sqrt(1 + 4 * momentum**2)) / 2
    return S


def bounded(S, Z):
    """Return B that minimises ||Z - S B||^2 with no row longer than 1: one row after another."""
    G, P = S.T @ S, S.T @ Z
    B = np.zeros((S.shape[1], Z.shape[1]))
    for _ in range(300):
        for j in np.flatnonzero(np.diag(G)):
            row = B[j] + (P[j] - G[j] @ B) / G[j, j]
            B[j] = row / max(1, np.linalg.norm(row))
    return B
