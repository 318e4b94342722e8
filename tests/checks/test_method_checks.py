"""Every registered method keeps every rule; and the rules can be broken."""

import numpy as np
import pytest

from hashbench import LinearMethod, Log
from hashbench.checks.methods import run_checks
from hashbench.plugins.registry import discover
from hashbench.plugins.requirements import unavailable

METHODS = discover().methods
UNAVAILABLE = unavailable(METHODS)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.torch if "torch" in plugin.cls.requires else ())
        for name, plugin in METHODS.items()
    ],
)
def test_a_built_in_method_keeps_every_rule(name):
    if name in UNAVAILABLE:
        pytest.skip(f"{name} needs {UNAVAILABLE[name]}")
    for outcome in run_checks(METHODS[name].cls):
        # Only what the mathematics leaves open may be declined, never ordinary data.
        open_ended = outcome.check in {"three views", "one bit and 33"}
        allowed = {"passed", "declined"} if open_ended else {"passed"}
        assert outcome.status in allowed, f"{outcome.check}: {outcome.message}"


class Careless(LinearMethod):
    name = "careless"
    supervised = False

    def __init__(self, n_bits=16, random_state=None):
        self.n_bits, self.random_state = n_bits, random_state

    def fit(self, views, labels=None):
        self.n_features_in_ = [X.shape[1] for X in views]
        self.projections_ = [
            np.random.default_rng().standard_normal((X.shape[1], self.n_bits)) for X in views
        ]
        return self

    def encode(self, X, view):
        X *= 1.0
        return np.sign(self.project(X, view))


def test_a_method_that_breaks_rules_fails_their_checks():
    outcomes = {outcome.check: outcome for outcome in run_checks(Careless)}
    for check in ("ordinary data", "repeatable by seed", "inputs not modified", "clear errors"):
        assert outcomes[check].status == "failed", check
    assert outcomes["class attributes"].status == "passed"


class Brittle(Careless):
    """Sound by default, and not at the upper end of what it wants tuned."""

    name = "brittle"
    space = {"scale": Log(0.1, 10)}  # noqa: RUF012

    def __init__(self, n_bits=16, random_state=None, scale=1.0):
        self.n_bits, self.random_state, self.scale = n_bits, random_state, scale

    def encode(self, X, view):
        return np.asarray(self.project(X, view) > 0, bool if self.scale < 10 else float)


def test_the_ends_of_every_range_are_tried():
    outcomes = {outcome.check: outcome for outcome in run_checks(Brittle)}
    assert outcomes["ordinary data"].status == "passed"
    assert outcomes["ends of ranges"].status == "failed"
    assert "scale=10.0" in outcomes["ends of ranges"].message
