"""Every registered method keeps every rule; and the rules can be broken."""

import contextlib
import warnings

import numpy as np
import pytest

from hashbench import LinearMethod
from hashbench.base.errors import DeclinedError
from hashbench.checks.methods import CHECKS, run_checks
from hashbench.plugins.registry import discover

METHODS = discover().methods


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", METHODS)
def test_method(name, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        # Only what the mathematics leaves open may be declined, never ordinary data.
        open_ended = check in {"three views", "bits from 1 to 256"}
        with contextlib.suppress(DeclinedError) if open_ended else contextlib.nullcontext():
            CHECKS[check](METHODS[name].cls)


class Careless(LinearMethod):
    name = "careless"
    supervised = False

    def __init__(self, n_bits=16, random_state=None):
        self.n_bits, self.random_state = n_bits, random_state

    def fit(self, views, labels=None):
        self.n_features_ = [X.shape[1] for X in views]
        self.projections_ = [
            np.random.default_rng().standard_normal((X.shape[1], self.n_bits)) for X in views
        ]
        return self

    def encode(self, X, view):
        X *= 1.0
        return np.sign(self.project(X, view))


def test_a_careless_method_is_found_out():
    outcomes = {outcome.check: outcome for outcome in run_checks(Careless)}
    for check in ("ordinary data", "repeatable by seed", "inputs not modified", "clear errors"):
        assert outcomes[check].status == "failed", check
    assert "found float64; allowed: bool" in outcomes["ordinary data"].message
    assert outcomes["class attributes"].status == "passed"
