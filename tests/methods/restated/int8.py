"""Int8: regressed labels as unit vectors, those of the database rounded to steps of 1/127."""

import numpy as np

from tests.methods.restated import real_valued

PARAMETERS = {"ridge": 0.3}


def restate(views, Y, n_bits, seed, ridge):
    unit = real_valued.restate(views, Y, n_bits, seed, ridge)[1]

    def vectors(X, view, role):
        z = unit(X, view, role)
        return z if role == "query" else np.round(z * 127).astype(np.int8) / 127

    return None, vectors
