"""SRLCH, and with a drift FDCH: codes regressed from the labels and from both views."""

import numpy as np

from tests.methods.restated.common import rbf, sign

PARAMETERS = {"anchors": 60, "iterations": 10}


def restate(views, Y, n_bits, seed, anchors, iterations, mu=0.1, mu_others=1e-5):
    rng = np.random.default_rng(seed)
    maps = []
    for X in views:
        mean = X.mean(axis=0)
        chosen = np.sort(rng.choice(len(X), anchors, replace=False))
        maps.append(lambda Z, mean=mean, a=X[chosen]: unit_rbf(Z - mean, a - mean))
    features = [phi(X) for phi, X in zip(maps, views, strict=True)]
    B, P, _ = updates(features, Y, n_bits, rng, iterations, (mu, mu_others), (0.01, 0.1))
    return B > 0, lambda X, view: maps[view](X) @ P[view] >= 0


def unit_rbf(X, anchors, width=0.6):
    """Return RBF values of rows brought to unit norm, and a column of ones."""
    X, anchors = (Z / np.linalg.norm(Z, axis=1, keepdims=True) for Z in (X, anchors))
    return np.hstack([rbf(X, anchors, 2 * width**2), np.ones((len(X), 1))])


def updates(features, Y, n_bits, rng, iterations, mu, ridges, drift=False, lam=0.1):
    """Return B, P_m that belongs to it, and the objective after every iteration."""
    B, t = sign(rng.standard_normal((len(Y), n_bits))), np.zeros(n_bits)
    objective = []
    for _ in range(iterations):
        P = [regress(F, B, ridge) for F, ridge in zip(features, ridges, strict=True)]
        W = regress(Y, B - t, lam)
        t = (B - Y @ W).mean(axis=0) if drift else t
        values = [F @ p for F, p in zip(features, P, strict=True)]
        B = sign(Y @ W + t + sum(m * v for m, v in zip(mu, values, strict=True)))
        value = np.square(B - Y @ W - t).sum() + lam * np.square(W).sum()
        for m, v, p, ridge in zip(mu, values, P, ridges, strict=True):
            value += m * (np.square(B - v).sum() + ridge * np.square(p).sum())
        objective.append(value)
    return B, [regress(F, B, r) for F, r in zip(features, ridges, strict=True)], objective


def regress(F, T, ridge):
    """Return (F'F + ridge I)^-1 F'T."""
    return np.linalg.solve(F.T @ F + ridge * np.eye(F.shape[1]), F.T @ T)
