"""SRLCH: codes regressed from the labels and from both views."""

import numpy as np

from tests.methods.restated.common import ignore, rbf, regress, sign, unit_rows

# With the default weights the text has no influence on the codes.
PARAMETERS = {"anchors": 60, "iterations": 10, "mu": 0.5, "mu_others": 0.4}


def restate(views, Y, n_bits, seed, anchors, iterations, mu, mu_others, record=ignore):
    rng = np.random.default_rng(seed)
    maps = []
    for X in views:
        mean = X.mean(axis=0)
        chosen = np.sort(rng.choice(len(X), anchors, replace=False))
        maps.append(lambda Z, mean=mean, a=X[chosen]: unit_rbf(Z - mean, a - mean))
    features = [phi(X) for phi, X in zip(maps, views, strict=True)]
    start = sign(rng.standard_normal((len(Y), n_bits)))
    B, P = alternate(features, Y, start, iterations, (mu, mu_others), (0.01, 0.1), 0.1, record)
    return B > 0, lambda X, view: maps[view](X) @ P[view] >= 0


def unit_rbf(X, anchors, width=0.6):
    """Return RBF values of rows of unit norm, and a column of ones."""
    K = rbf(unit_rows(X), unit_rows(anchors), 2 * width**2)
    return np.hstack([K, np.ones((len(X), 1))])


def alternate(features, Y, B, iterations, mu, ridges, lam, record, drift=False):
    """Return codes B and hash functions P_m after some iterations, for FDCH with a drift t."""
    t = np.zeros(B.shape[1])
    for _ in range(iterations):
        P = [regress(F, B, ridge) for F, ridge in zip(features, ridges, strict=True)]
        W = regress(Y, B - t, lam)
        t = (B - Y @ W).mean(axis=0) if drift else t
        values = [F @ p for F, p in zip(features, P, strict=True)]
        B = sign(Y @ W + t + sum(m * v for m, v in zip(mu, values, strict=True)))
        value = np.square(B - Y @ W - t).sum() + lam * np.square(W).sum()
        for m, v, p, ridge in zip(mu, values, P, ridges, strict=True):
            value += m * (np.square(B - v).sum() + ridge * np.square(p).sum())
        record(value)
    return B, [regress(F, B, ridge) for F, ridge in zip(features, ridges, strict=True)]
