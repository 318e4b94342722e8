"""DASH with codes from the second view."""

from tests.methods.restated import dashi

PARAMETERS = dashi.PARAMETERS


def restate(views, Y, n_bits, seed, iterations):
    return dashi.restate(views, Y, n_bits, seed, iterations, source=1)
