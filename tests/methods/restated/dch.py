"""DCH with the relaxed codes of the released program, or with the paper's coordinate descent."""

import numpy as np

from tests.methods.restated.common import anchor_features, ignore, regress, sign

PARAMETERS = {"iterations": 5}
LAMBDA, RIDGE, SWEEPS = 1.0, 0.01, 10


def restate(
    views, Y, n_bits, seed, iterations, mu=0.0, code_step="relaxed", anchors=0, record=ignore
):
    rng = np.random.default_rng(seed)
    if anchors:
        features, maps = anchor_features(views, [anchors] * len(views), rng)
    else:
        means = [X.mean(axis=0) for X in views]
        features = [X - mean for X, mean in zip(views, means, strict=True)]
        maps = [lambda X, mean=mean: X - mean for mean in means]
    B = sign(rng.standard_normal((len(Y), n_bits)))
    W, P = regress(B, Y, LAMBDA), [regress(F, B, RIDGE) for F in features]
    for _ in range(iterations):
        Q = Y @ W.T + mu * sum(F @ p for F, p in zip(features, P, strict=True))
        if code_step == "relaxed":
            system = W @ W.T + (RIDGE + mu * len(views)) * np.eye(n_bits)
            B = sign(Q @ np.linalg.inv(system))
        else:
            for _ in range(SWEEPS):
                for j in range(n_bits):
                    others = np.arange(n_bits) != j
                    B[:, j] = sign(Q[:, j] - B[:, others] @ W[others] @ W[j])
        W, P = regress(B, Y, LAMBDA), [regress(F, B, RIDGE) for F in features]
        value = np.square(Y - B @ W).sum() + LAMBDA * np.square(W).sum()
        for F, p in zip(features, P, strict=True):
            value += mu * (np.square(B - F @ p).sum() + RIDGE * np.square(p).sum())
        record(value)
    return B > 0, lambda X, view: maps[view](X) @ P[view] >= 0
