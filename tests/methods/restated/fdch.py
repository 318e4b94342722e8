"""FDCH: the updates of SRLCH with a drift, on centred RBF features."""

import numpy as np

from tests.methods.restated.common import anchor_features
from tests.methods.restated.srlch import updates

PARAMETERS = {"anchors": 60, "iterations": 10}


def restate(views, Y, n_bits, seed, anchors, iterations):
    rng = np.random.default_rng(seed)
    features, maps = anchor_features(views, [anchors, anchors], rng)
    B, P, _ = updates(
        features, Y, n_bits, rng, iterations, mu=(0.5, 0.5), ridges=(0.01, 0.01), drift=True
    )
    return B > 0, lambda X, view: maps[view](X) @ P[view] >= 0
