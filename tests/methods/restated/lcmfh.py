"""LCMFH with every product over the items written out."""

import numpy as np

from tests.methods.restated.common import ignore, regress, unit_rows

PARAMETERS = {"iterations": 20}


def restate(views, Y, n_bits, seed, iterations, lam=0.5, mu=10.0, gamma=0.001, record=ignore):
    rng = np.random.default_rng(seed)
    eye, G = np.eye(n_bits), unit_rows(Y)
    means = [X.mean(axis=0) for X in views]
    X1, X2 = (X - mean for X, mean in zip(views, means, strict=True))
    Z = rng.random((Y.shape[1], n_bits))
    P1, P2 = (rng.random((X.shape[1], n_bits)) for X in views)
    for _ in range(iterations):
        V = G @ Z
        U1 = X1.T @ V @ np.linalg.inv(V.T @ V + gamma / lam * eye)
        U2 = X2.T @ V @ np.linalg.inv(V.T @ V + gamma / (1 - lam) * eye)
        right = lam * X1 @ U1 + (1 - lam) * X2 @ U2 + mu * X1 @ P1 + mu * X2 @ P2
        left = lam * U1.T @ U1 + (1 - lam) * U2.T @ U2 + (2 * mu + gamma) * eye
        Z = np.linalg.inv(G.T @ G) @ G.T @ right @ np.linalg.inv(left)
        V = G @ Z
        P1, P2 = (regress(X, V, gamma / mu) for X in (X1, X2))
        value = lam * np.square(X1 - V @ U1.T).sum() + (1 - lam) * np.square(X2 - V @ U2.T).sum()
        value += mu * (np.square(V - X1 @ P1).sum() + np.square(V - X2 @ P2).sum())
        record(value + gamma * sum(np.square(M).sum() for M in (U1, U2, P1, P2, V)))
    # Training means instead of those of the encoded batch: see the method's deviations.
    return V - V.mean(axis=0) >= 0, lambda X, view: (X - means[view]) @ (P1, P2)[view] >= 0
