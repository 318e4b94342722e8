"""ALECH with the n x n label similarity formed; items are columns, as in the paper."""

import numpy as np

from tests.methods.restated.common import (
    anchor_features,
    balanced_factor,
    ignore,
    sign,
    unit_rows,
)

PARAMETERS = {"anchors": 40, "anchors_others": 60, "iterations": 5}


def restate(
    views,
    Y,
    n_bits,
    seed,
    anchors,
    anchors_others,
    iterations,
    alpha=1e-4,
    beta=1e-3,
    eta=1e-4,
    lam=1e4,
    record=ignore,
):
    rng = np.random.default_rng(seed)
    (n, c), k, eye = Y.shape, n_bits, np.eye(n_bits)
    features, maps = anchor_features(views, [anchors, anchors_others], rng)
    L, G = Y.T, unit_rows(Y)
    S = 2 * G @ G.T - 1

    # V: projections on the principal directions of the text features, largest entries positive.
    rng.standard_normal((n, k))  # the method draws V for directions that the features lack
    directions = np.linalg.eigh(features[-1].T @ features[-1])[1][:, ::-1][:, :k]
    largest = directions[np.abs(directions).argmax(axis=0), np.arange(k)]
    V = (features[-1] @ (directions * np.sign(largest))).T
    P = np.eye(c)
    W = P @ L @ V.T @ np.linalg.inv(V @ V.T + lam * eye)
    for _ in range(iterations):
        B = sign(alpha * k * V @ S + beta * V)
        P = (W @ V @ L.T + L @ L.T) @ np.linalg.inv(2 * L @ L.T + eta * np.eye(c))
        W = P @ L @ V.T @ np.linalg.inv(V @ V.T + eta * eye)
        Z = W.T @ P @ L + beta * B + alpha * k * B @ S
        V = balanced_factor(Z.T, rng, zero=1e-4).T
        value = np.square(W @ V - P @ L).sum() + np.square(L - P @ L).sum()
        value += eta * (np.square(W).sum() + np.square(P).sum())
        value += beta * np.square(B - V).sum() + alpha * np.square(k * S - V.T @ B).sum()
        record(value)
    F = [
        np.linalg.inv(B @ B.T + lam * eye)
        @ (k * B @ S @ K + lam * B @ K)
        @ np.linalg.pinv(K.T @ K, hermitian=True)
        for K in features
    ]
    return B.T > 0, lambda X, view: maps[view](X) @ F[view].T >= 0
