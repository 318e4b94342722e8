"""EDSH by the paper's equations, with rows as items and its misprints corrected."""

import numpy as np

from tests.methods.restated.common import (
    best_rotation,
    ignore,
    random_rotation,
    regress,
    sign,
)

PARAMETERS = {"iterations": 20}
LAMBDA, BETA, GAMMA, ALPHA, MU = 1.0, 10.0, 10.0, 2.0, 5.0  # the paper's values


def restate(views, Y, n_bits, seed, iterations, rotation="exact", code_step=None, record=ignore):
    rng = np.random.default_rng(seed)
    n, k, eye = len(Y), n_bits, np.eye(n_bits)
    means = [view.mean(axis=0) for view in views]
    X = [view - mean for view, mean in zip(views, means, strict=True)]
    B, V = sign(rng.standard_normal((n, k))), rng.standard_normal((n, k))
    R = random_rotation(k, rng)
    W = [rng.standard_normal((x.shape[1], k)) for x in X]
    for _ in range(iterations):
        U = [x.T @ V @ np.linalg.inv(V.T @ V + MU / LAMBDA * eye) for x in X]  # Eq. 10-11
        P = (np.linalg.pinv(B) @ Y).T  # Eq. 12
        right = ALPHA * B @ R
        right += sum(x @ (LAMBDA * u + BETA * w) for x, u, w in zip(X, U, W, strict=True))
        system = sum(LAMBDA * u.T @ u for u in U) + (ALPHA + len(X) * BETA + MU) * eye
        V = right @ np.linalg.inv(system)  # Eq. 14
        R = best_rotation(B.T @ V)
        R = R.T if rotation == "printed" else R
        Z = ALPHA * V @ R.T + GAMMA * Y @ P
        B = code_step(B, Z, P) if code_step else sign(Z)  # Eq. 18
        W = [regress(x, V, MU / BETA) for x in X]  # Eq. 21-22
        value = GAMMA * np.square(Y - B @ P.T).sum() + ALPHA * np.square(B - V @ R.T).sum()
        value += MU * np.square(V).sum()
        for x, u, w in zip(X, U, W, strict=True):
            value += LAMBDA * np.square(x - V @ u.T).sum() + BETA * np.square(V - x @ w).sum()
            value += MU * (np.square(u).sum() + np.square(w).sum())
        record(value)
    return B > 0, lambda X, view: (X - means[view]) @ W[view] @ R.T >= 0
