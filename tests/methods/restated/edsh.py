"""EDSH with the paper's equations, rows as items; `errata.md` says which misprints are corrected.

The numbers of equations are the paper's.
"""

import numpy as np

from tests.methods.restated.common import best_rotation, random_rotation, sign

PARAMETERS = {"iterations": 20}
LAM, BETA, GAMMA, ALPHA, MU = 1.0, 10.0, 10.0, 2.0, 5.0  # the paper's values


def restate(views, Y, n_bits, seed, **parameters):
    B, R, W, _ = updates(views, Y, n_bits, seed, **parameters)
    means = [X.mean(axis=0) for X in views]
    return B > 0, lambda X, view: (X - means[view]) @ W[view] @ R.T >= 0


def updates(views, Y, n_bits, seed, iterations, rotation="exact", sweeps=0):
    """Return B, R, W_m and the objective after every iteration.

    With sweeps the B-step is discrete coordinate descent instead of Eq. 18.
    """
    rng = np.random.default_rng(seed)
    n, k, eye = len(Y), n_bits, np.eye(n_bits)
    X = [view - view.mean(axis=0) for view in views]
    B, V = sign(rng.standard_normal((n, k))), rng.standard_normal((n, k))
    R = random_rotation(k, rng)
    W = [rng.standard_normal((x.shape[1], k)) for x in X]
    objective = []
    for _ in range(iterations):
        U = [x.T @ V @ np.linalg.inv(V.T @ V + MU / LAM * eye) for x in X]  # Eq. 10-11
        P = (np.linalg.pinv(B) @ Y).T  # Eq. 12
        right = ALPHA * B @ R
        right += sum(x @ (LAM * u + BETA * w) for x, u, w in zip(X, U, W, strict=True))
        system = sum(LAM * u.T @ u for u in U) + (ALPHA + len(X) * BETA + MU) * eye
        V = right @ np.linalg.inv(system)  # Eq. 14
        R = best_rotation(B.T @ V)
        R = R.T if rotation == "printed" else R
        Z = ALPHA * V @ R.T + GAMMA * Y @ P
        B = descend(B, Z, GAMMA * P.T @ P, sweeps) if sweeps else sign(Z)  # Eq. 18
        W = [np.linalg.solve(x.T @ x + MU / BETA * np.eye(x.shape[1]), x.T @ V) for x in X]
        value = GAMMA * np.square(Y - B @ P.T).sum() + ALPHA * np.square(B - V @ R.T).sum()
        value += MU * np.square(V).sum()
        for x, u, w in zip(X, U, W, strict=True):
            value += LAM * np.square(x - V @ u.T).sum() + BETA * np.square(V - x @ w).sum()
            value += MU * (np.square(u).sum() + np.square(w).sum())
        objective.append(value)
    return B, R, W, objective


def descend(B, Z, H, sweeps):
    """Set b_j = sgn(z_j - sum_{i != j} H_ji b_i) for every bit in turn, several times."""
    B = B.copy()
    for _ in range(sweeps):
        for j in range(B.shape[1]):
            B[:, j] = sign(Z[:, j] - B @ H[j] + H[j, j] * B[:, j])
    return B
