"""Ridge to labels: signs of a random projection of regressed labels."""

import numpy as np

from tests.methods.restated.common import random_rotation

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
    c = Y.shape[1]
    H = random_rotation(max(c, n_bits), rng)[:c, :n_bits]
    return (Y - Y.mean(axis=0)) @ H >= 0, lambda X, view: regressed[view](X) @ H >= 0
