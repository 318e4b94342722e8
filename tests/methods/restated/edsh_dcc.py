"""EDSH with five sweeps of discrete coordinate descent for the codes."""

import numpy as np

from tests.methods.restated import edsh
from tests.methods.restated.common import ignore, sign

PARAMETERS = edsh.PARAMETERS
SWEEPS = 5


def restate(views, Y, n_bits, seed, iterations, record=ignore):
    return edsh.restate(
        views, Y, n_bits, seed, iterations, code_step=coordinate_descent, record=record
    )


def coordinate_descent(B, Z, P):
    """Set b_j = sgn(z_j - gamma sum_{i != j} (P'P)_ji b_i) for every bit in turn."""
    B, H = B.copy(), edsh.GAMMA * P.T @ P
    for _ in range(SWEEPS):
        for j in range(B.shape[1]):
            others = np.arange(B.shape[1]) != j
            B[:, j] = sign(Z[:, j] - B[:, others] @ H[others, j])
    return B
