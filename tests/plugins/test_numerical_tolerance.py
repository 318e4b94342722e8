"""How far rounding moves a score: measured, shipped, and used only as far as it holds."""

import numpy as np
import pytest

from hashbench.analysis.summary import rank_methods
from hashbench.plugins.numerical_tolerance import STEADY, measured, tolerance, words
from hashbench.plugins.registry import discover
from research import sensitivity

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
    assert rank_methods({"dch": 0.5, "edsh": 0.4999}, 1) == {"dch": 1, "edsh": 2}


def test_what_other_kernels_do_counts(tmp_path):
    header = "dataset,method,params,bits,seed,task,database,measure,value\n"
    for name, value in {"here": 0.5, "there": 0.52, "elsewhere": 0.49}.items():
        (tmp_path / name).mkdir()
        lines = f"emoji,a,,16,0,x->y,encoded,AP,{value}\nemoji,b,,16,0,x->y,encoded,AP,0.25\n"
        (tmp_path / name / "results.csv").write_text(header + lines)
    found = sensitivity.spread(sorted(tmp_path.iterdir()))
    assert dict(found) == pytest.approx({"a": 0.03, "b": 0.0})
    assert tolerance("acq") > STEADY  # steady under changed features, not under other kernels


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    return sensitivity.rows(tmp_path_factory.mktemp("rows"))


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in QUICK else pytest.mark.slow) for n in measured()]
)
@pytest.mark.parametrize("dtype", sensitivity.CHANGES)
@pytest.mark.filterwarnings("ignore")
def test_rounding_moves_no_score_further_than_is_said(name, dtype, rows):
    """Other roundings than those that were recorded: twice as far is within chance."""
    prepared, split = rows
    base = sensitivity.score(name, sensitivity.changed(prepared, dtype, None), split)
    moved = sensitivity.score(name, sensitivity.changed(prepared, dtype, 7), split)
    assert np.abs(moved - base).max() <= max(STEADY, 2 * tolerance(name))
