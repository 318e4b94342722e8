"""Constant: zeros."""

import numpy as np

PARAMETERS = {}


def restate(views, Y, n_bits, seed):
    return None, lambda X, view: np.zeros((len(X), n_bits), bool)
