"""SCRATCH with every matrix written out; items are columns, as in the paper."""

import numpy as np

from tests.methods.restated.common import (
    anchor_features,
    best_rotation_near,
    ignore,
    random_rotation,
    sign,
)

PARAMETERS = {"anchors": 40, "iterations": 5}


def restate(
    views,
    Y,
    n_bits,
    seed,
    anchors,
    iterations,
    lam=0.5,
    alpha=500.0,
    mu=1000.0,
    gamma=5.0,
    record=ignore,
):
    rng = np.random.default_rng(seed)
    eye = np.eye(n_bits)
    features, maps = anchor_features(views, [anchors] * len(views), rng)
    X, L = [K.T for K in features], Y.T
    V = rng.standard_normal((len(Y), n_bits)).T
    R = random_rotation(n_bits, rng)
    for _ in range(iterations):
        B = sign(R @ V)
        U = [lam * x @ V.T @ np.linalg.inv(lam * V @ V.T + gamma * eye) for x in X]
        C = alpha * L @ V.T @ np.linalg.inv(alpha * V @ V.T + gamma * eye)
        W = [mu * V @ x.T @ np.linalg.inv(mu * x @ x.T + gamma * np.eye(len(x))) for x in X]
        left = alpha * C.T @ C + R.T @ R + gamma * eye
        right = alpha * C.T @ L + R.T @ B
        for x, u, w in zip(X, U, W, strict=True):
            left += lam * u.T @ u + mu * eye
            right += lam * u.T @ x + mu * w @ x
        V = np.linalg.inv(left) @ right
        R = best_rotation_near(B @ V.T, R)
        value = alpha * np.square(L - C @ V).sum() + np.square(B - R @ V).sum()
        value += gamma * sum(np.square(M).sum() for M in (*U, *W, C, V))
        for x, u, w in zip(X, U, W, strict=True):
            value += lam * np.square(x - u @ V).sum() + mu * np.square(V - w @ x).sum()
        record(value)
    # B is from before the last step of V and R, as in the released code.
    return B.T > 0, lambda Z, view: maps[view](Z) @ W[view].T @ R.T >= 0
