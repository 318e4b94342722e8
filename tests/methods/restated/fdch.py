"""FDCH: the updates of SRLCH with a drift, on centred RBF features."""

import numpy as np

from tests.methods.restated.common import anchor_features, ignore, sign
from tests.methods.restated.srlch import alternate

# A large ridge of the class codes, because otherwise the labels can express the drift themselves.
PARAMETERS = {"anchors": 60, "iterations": 10, "lam": 30.0}
MU, RIDGE = (0.1, 0.1), 1e-6


def restate(views, Y, n_bits, seed, anchors, iterations, lam, record=ignore):
    rng = np.random.default_rng(seed)
    features, maps = anchor_features(views, [anchors, anchors], rng)
    # The ridge is relative to the mean eigenvalue of a view's scatter matrix.
    ridges = [RIDGE * np.linalg.eigvalsh(K.T @ K).mean() for K in features]
    start = sign(rng.standard_normal((len(Y), n_bits)))
    B, P = alternate(features, Y, start, iterations, MU, ridges, lam, record, drift=True)
    return B > 0, lambda X, view: maps[view](X) @ P[view] >= 0
