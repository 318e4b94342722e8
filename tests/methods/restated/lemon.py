"""LEMON with the items of earlier chunks kept, and the n x n label similarity formed."""

import numpy as np

from tests.methods.restated.common import (
    balanced_factor,
    best_rotation_near,
    ignore,
    random_rotation,
    regress,
    sign,
    unit_rows,
)

# Under the default weights the labels alone decide about the codes; under these every term counts.
PARAMETERS = {"alpha": 3e-3, "beta": 3.0, "chunk_size": 250, "iterations": 3}


def restate(
    views,
    Y,
    n_bits,
    seed,
    chunk_size,
    iterations,
    alpha=1e4,
    beta=1e4,
    gamma=0.1,
    ridge_scatter=1.0,
    record=ignore,
):
    rng, k = np.random.default_rng(seed), n_bits
    G = unit_rows(Y)
    S = 2 * G @ G.T - 1
    V_old, B_old = np.zeros((0, k)), np.zeros((0, k))
    starts = range(0, len(Y) - chunk_size + 1, chunk_size)  # the last chunk takes the remainder
    for start, stop in zip(starts, [*starts[1:], len(Y)], strict=True):
        new, seen = slice(start, stop), slice(0, stop)
        B, V = sign(rng.standard_normal((stop - start, k))), rng.standard_normal((stop - start, k))
        R = random_rotation(k, rng)
        V_all, B_all = np.vstack([V_old, V]), np.vstack([B_old, B])
        for _ in range(iterations):
            P = np.linalg.solve(V_all.T @ V_all + gamma * np.eye(k), V_all.T @ Y[seen])
            Z = B @ R.T + beta * Y[new] @ P.T + alpha * k * S[new, seen] @ B_all
            V = balanced_factor(Z, rng)
            V_all = np.vstack([V_old, V])
            R = best_rotation_near(V_all.T @ B_all, R)
            B = sign(alpha * k * S[new, seen] @ V_all + V @ R)
            B_all = np.vstack([B_old, B])
            value = np.square(B_all - V_all @ R).sum()
            value += beta * (np.square(Y[seen] - V_all @ P).sum() + gamma * np.square(P).sum())
            record(value + alpha * np.square(k * S[seen, seen] - V_all @ B_all.T).sum())
        V_old, B_old = V_all, B_all
    W = [regress(X, B_all, ridge_scatter) for X in views]
    return B_all > 0, lambda X, view: X @ W[view] >= 0
