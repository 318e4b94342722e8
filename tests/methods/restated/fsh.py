"""FSH as released, with the loop over pairs of items and anchors written out."""

import numpy as np
from scipy.spatial.distance import cdist

from tests.methods.restated.common import ignore, sign, unit_rows

PARAMETERS = {"anchors": 30, "neighbours": 5, "iterations": 5}


def restate(
    views,
    Y,
    n_bits,
    seed,
    anchors,
    neighbours,
    iterations,
    lam=300.0,
    exponent=0.5,
    record=ignore,
):
    rng = np.random.default_rng(seed)
    unit = [unit_rows(x) for x in views]
    means = [x.mean(axis=0) for x in unit]
    X = [x - mean for x, mean in zip(unit, means, strict=True)]
    n = len(X[0])
    rows = rng.choice(n, size=anchors, replace=False)
    distances = [cdist(x, x[rows]) for x in unit]
    # Of equal distances the first counts.
    near = [np.argsort(d.round(9), axis=1, kind="stable")[:, :neighbours] for d in distances]
    A = [np.zeros((n, anchors)) for _ in X]
    for m, other in ((0, 1), (1, 0)):
        E = np.exp(-distances[m][rows] / 2)
        for i in range(n):
            for j in range(anchors):
                A[m][i, j] = E[np.ix_(near[m][i], near[other][rows[j]])].mean()
    W = [rng.standard_normal((x.shape[1], n_bits)) for x in X]
    Bs, eta = X[1][rows] @ W[1], 0.5  # real before the first step, as released
    for _ in range(iterations):
        D = eta * A[0] + (1 - eta) * A[1]
        B = sign(D @ Bs + 2 * lam * (X[0] @ W[0] + X[1] @ W[1]))
        Bs = sign(D.T @ B)
        W = [np.linalg.lstsq(x, B, rcond=None)[0] for x in X]
        errors = sum(np.square(B - x @ w).sum() for x, w in zip(X, W, strict=True))
        record(lam * errors - np.trace(Bs.T @ D.T @ B))
        P = [anchors - np.trace(Bs.T @ a.T @ B) for a in A]
        eta = (P[0] / (P[0] + P[1])) ** (1 / (1 - exponent))
    return B > 0, lambda Z, view: (unit_rows(Z) - means[view]) @ W[view] >= 0
