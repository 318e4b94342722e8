"""BATCH with the n x n label similarity formed."""

import numpy as np

from tests.methods.restated.common import (
    anchor_features,
    balanced_factor,
    ignore,
    regress,
    sign,
    unit_rows,
)

# Under the default weights the labels alone decide about the codes; under these every term counts.
WEIGHTS = {"eta": 200.0, "eta_labels": 400.0, "omega": 300.0}
PARAMETERS = {"anchors": 40, "anchors_others": 60, "iterations": 5, **WEIGHTS}


def restate(
    views,
    Y,
    n_bits,
    seed,
    anchors,
    anchors_others,
    iterations,
    eta=0.05,
    eta_labels=0.9,
    omega=0.01,
    ridge_scatter=0.01,
    record=ignore,
):
    rng = np.random.default_rng(seed)
    n = len(Y)
    features, maps = anchor_features(views, [anchors, anchors_others], rng)
    G = unit_rows(Y)
    similarity = n_bits * G @ G.T
    B = sign(rng.standard_normal((n, n_bits)))
    V = rng.standard_normal((n, n_bits))
    matrices, weights = (*features, Y), (eta, eta, eta_labels)
    for _ in range(iterations):
        inverse = np.linalg.inv(V.T @ V + 1e-3 * np.eye(n_bits))
        U = [inverse @ V.T @ M for M in matrices]
        Z = similarity @ B + omega * B
        Z += sum(w * M @ u.T for w, M, u in zip(weights, matrices, U, strict=True))
        V = balanced_factor(Z, rng)
        B = sign(similarity @ V + omega * V)
        value = np.square(similarity - V @ B.T).sum() + omega * np.square(B - V).sum()
        for w, M, u in zip(weights, matrices, U, strict=True):
            value += w * (np.square(M - V @ u).sum() + 1e-3 * np.square(u).sum())
        record(value)
    W = [regress(K, B, ridge_scatter) for K in features]
    return B > 0, lambda X, view: maps[view](X) @ W[view] >= 0
