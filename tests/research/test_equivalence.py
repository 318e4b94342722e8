"""Equality has to be shown: both one-sided tests, against simulation and scipy."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_ind

from research.equivalence import (
    DIFFERENT,
    EQUIVALENT,
    NUMBERS,
    ONE_RUN,
    OPEN,
    RUNS,
    judge,
    sign_test,
    word,
)


def row(ours, theirs):
    """Return the comparison of two samples."""

    def spread(values):
        return np.std(values, ddof=1) if len(values) > 1 else np.nan

    return {
        "ours": np.mean(ours),
        "ours_std": spread(ours),
        "seeds": len(ours),
        "theirs": np.mean(theirs),
        "theirs_std": spread(theirs),
        "their_seeds": len(theirs),
    }


def test_both_one_sided_tests_are_those_of_scipy():
    rng = np.random.default_rng(0)
    verdicts = set()
    for _ in range(60):
        ours = rng.normal(0.3, 0.01 * rng.random(), 5)
        theirs = rng.normal(0.3 + 0.03 * rng.random(), 0.01 * rng.random(), rng.integers(3, 6))
        found = judge(pd.DataFrame([row(ours, theirs)]), 0.012).iloc[0]
        outer = max(
            ttest_ind(ours + 0.012, theirs, equal_var=False, alternative="greater").pvalue,
            ttest_ind(ours - 0.012, theirs, equal_var=False, alternative="less").pvalue,
        )
        beyond = min(
            ttest_ind(ours - 0.012, theirs, equal_var=False, alternative="greater").pvalue,
            ttest_ind(ours + 0.012, theirs, equal_var=False, alternative="less").pvalue,
        )
        expected = EQUIVALENT if outer <= 0.05 else DIFFERENT if beyond < 0.05 else OPEN
        assert found["verdict"] == expected
        assert found["compared"] == RUNS
        verdicts.add(expected)
    assert verdicts == {EQUIVALENT, OPEN, DIFFERENT}


@pytest.mark.parametrize("theirs", [5, 1])
def test_what_is_not_equal_is_seldom_called_so(theirs):
    """The means differ by the tolerance: at most one comparison in twenty may be called equal."""
    rng = np.random.default_rng(1)
    rows = [row(rng.normal(0.33, 0.01, 5), rng.normal(0.30, 0.01, theirs)) for _ in range(2000)]
    verdicts = judge(pd.DataFrame(rows), 0.03)["verdict"]
    assert verdicts.eq(EQUIVALENT).mean() < 0.065
    assert verdicts.eq(DIFFERENT).mean() < 0.065


def test_numbers_are_compared_as_they_are():
    rows = [row([0.30] * 5, [value]) for value in (0.305, 0.32)]
    found = judge(pd.DataFrame(rows))
    assert found["verdict"].tolist() == [EQUIVALENT, DIFFERENT]
    assert (found["compared"] == NUMBERS).all()
    np.testing.assert_allclose(found["low"], found["high"])


@pytest.mark.parametrize("swapped", [False, True])
def test_a_single_run_is_as_far_from_its_mean_as_the_others(swapped):
    runs = [[0.28, 0.29, 0.30, 0.31, 0.32], [0.30]]
    found = judge(pd.DataFrame([row(*(runs[::-1] if swapped else runs))])).iloc[0]
    assert (found["compared"], found["verdict"]) == (ONE_RUN, OPEN)
    assert found["high"] - found["low"] == pytest.approx(2 * 2.132 * 0.01581 * 1.2**0.5, abs=1e-3)


def comparisons(differences, verdicts):
    """Return comparisons of one method, one ranking each."""
    bits = range(len(differences))
    return pd.DataFrame({"bits": bits, "difference": differences, "verdict": verdicts})


def test_a_word_needs_two_thirds_and_nothing_different():
    shown, open_, other = EQUIVALENT, OPEN, DIFFERENT
    around = [0.002, -0.002, 0.002]
    assert word(comparisons(around, [shown, shown, open_])) == "equivalent"
    assert word(comparisons(around, [shown, open_, open_])) == "consistent"
    assert word(comparisons(around, [shown, shown, other])) == "differs"
    assert word(comparisons([0.002] * 12, [shown] * 12)) == "equivalent, biased"


def test_the_sign_test_counts_a_ranking_once_and_leaves_out_what_is_too_small_to_see():
    measures = pd.DataFrame({"bits": [8] * 3, "difference": [0.004, 0.002, -0.001]})
    assert sign_test(measures)[:2] == (1, 0)
    assert sign_test(comparisons([0.0004] * 20, [EQUIVALENT] * 20)) == (0, 0, 1.0)
    found = sign_test(comparisons([0.002] * 8 + [-0.002], [OPEN] * 9))
    assert found[:2] == (8, 1)
    assert found.p_value == pytest.approx(2 * (1 + 9) / 2**9)
    assert not found.shown
    assert sign_test(comparisons([-0.002] * 8, [OPEN] * 8)).shown
