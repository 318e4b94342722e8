"""How far rounding moves a score: measured, shipped, and used only as far as it holds."""

import pytest

from hashbench.analysis.summary import rank_methods
from hashbench.plugins import numerical_tolerance
from hashbench.plugins.numerical_tolerance import STEADY, Measured, measured, tolerance, words
from hashbench.plugins.registry import discover

METHODS = {name: plugin.cls for name, plugin in discover([]).methods.items()}
QUICK = ["dch", "edsh", "random", "scm-o", "fddh"]


def test_every_method_without_a_network_was_measured():
    wanted = {name for name, cls in METHODS.items() if not cls.requires}
    assert wanted <= set(measured())


def test_words_give_the_measured_number():
    steady = min(measured(), key=tolerance)
    shaken = max(measured(), key=tolerance)
    assert str(STEADY) in words(steady)
    assert f"{tolerance(shaken):.4f}" in words(shaken)
    assert not any(letter.isdigit() for letter in words("nobody"))
    assert tolerance("nobody") == 0


def test_a_difference_that_rounding_can_make_is_no_place():
    shaken = max(measured(), key=tolerance)
    share = tolerance(shaken)
    near, far = {"dch": 0.5, shaken: 0.5 - share / 2}, {"dch": 0.5, shaken: 0.5 - 2 * share}
    assert rank_methods(near, 1) == {"dch": 1, shaken: 1}
    assert rank_methods(far, 1) == {"dch": 1, shaken: 2}
    assert rank_methods(near, 16) == {"dch": 1, shaken: 2}  # over many seeds it evens out
    assert rank_methods({"ridge-labels": 0.5, "random": 0.4999}, 1)["random"] == 2


def test_what_is_stored_is_read_back_and_makes_ties(tmp_path, monkeypatch):
    monkeypatch.setenv("HASHBENCH_CACHE", str(tmp_path))
    measured.cache_clear()
    assert tolerance("mine[lam=1]") == 0
    found = Measured(0.001, 0.002, 0.003, seeds=5, compared="Haswell Nehalem", source="ab12")
    path = numerical_tolerance.store("mine", found)
    assert path.parent == tmp_path
    assert numerical_tolerance.read(path) == {"mine": found}
    assert tolerance("mine[lam=1]") == found.largest == 0.003
    assert "0.0030" in words("mine")
    assert rank_methods({"dch": 0.5, "mine": 0.498}, 1) == {"dch": 1, "mine": 1}
    assert rank_methods({"dch": 0.5, "mine": 0.496}, 1) == {"dch": 1, "mine": 2}
    numerical_tolerance.store("dch", Measured(0.0, 0.0, 0.01))  # before what is shipped
    assert tolerance("dch") == 0.01
    assert set(numerical_tolerance.read(path)) == {"dch", "mine"}


@pytest.fixture(autouse=True)
def as_before():
    """Read the files again after a test that stored something."""
    yield
    measured.cache_clear()
