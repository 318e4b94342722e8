"""EDSH with at most five sweeps of discrete coordinate descent for the codes."""

from tests.methods.restated import edsh

PARAMETERS = edsh.PARAMETERS


def restate(views, Y, n_bits, seed, iterations):
    return edsh.restate(views, Y, n_bits, seed, iterations=iterations, sweeps=5)
