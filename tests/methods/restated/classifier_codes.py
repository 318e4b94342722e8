"""Classifier codes: every label set has a codeword; a row gets that of the nearest label set."""

import numpy as np

from tests.methods.restated.common import sign
from tests.methods.restated.ridge_labels import regressions

PARAMETERS = {"ridge": 0.3}


def restate(views, Y, n_bits, seed, ridge):
    rng = np.random.default_rng(seed)
    balance = Y.mean(axis=0)
    H = separating_projection(balance, n_bits, rng)
    regressed = regressions(views, Y, ridge)
    sets = np.unique(Y, axis=0)
    directions = sets / np.linalg.norm(sets, axis=1, keepdims=True)
    codewords = (sets - balance) @ H >= 0

    def encode(X, view):
        cosines = (regressed[view](X) + balance) @ directions.T  # up to the length of the row
        return codewords[cosines.argmax(axis=1)]

    return (Y - balance) @ H >= 0, encode


def separating_projection(balance, n_bits, rng):
    """Return the one of 32 random projections with the smallest sum of 2^-(Hamming distance).

    The sum is over all pairs of classes, each coded as a label set of its own.
    """
    draws = [rng.standard_normal((len(balance), n_bits)) for _ in range(32)]
    costs = []
    for H in draws:
        C = sign((np.eye(len(balance)) - balance) @ H)
        distances = (C[:, None] != C[None]).sum(axis=2)
        costs.append((2.0**-distances).sum())
    return draws[np.argmin(costs)]
