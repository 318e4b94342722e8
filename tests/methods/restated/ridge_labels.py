"""Ridge to labels: signs of a random projection of regressed labels."""

import numpy as np

PARAMETERS = {"ridge": 0.3}


def regressions(views, Y, ridge):
    """Return one function per view that regresses centred labels on features.

    The penalty is ``ridge`` times the mean eigenvalue of the scatter matrix.
    """
    functions = []
    for X in views:
        mean = X.mean(axis=0)
        scatter = (X - mean).T @ (X - mean)
        penalty = ridge * np.linalg.eigvalsh(scatter).mean() * np.eye(len(scatter))
        W = np.linalg.inv(scatter + penalty) @ (X - mean).T @ (Y - Y.mean(axis=0))
        functions.append(lambda Z, mean=mean, W=W: (Z - mean) @ W)
    return functions


def restate(views, Y, n_bits, seed, ridge):
    rng = np.random.default_rng(seed)
    regressed = regressions(views, Y, ridge)
    size = max(Y.shape[1], n_bits)
    Q, R = np.linalg.qr(rng.standard_normal((size, size)))
    rotation = Q @ np.diag(np.sign(np.diag(R)))  # the factorisation whose R has a positive diagonal
    H = rotation[: Y.shape[1], :n_bits]
    return (Y - Y.mean(axis=0)) @ H >= 0, lambda X, view: regressed[view](X) @ H >= 0
