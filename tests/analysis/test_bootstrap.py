"""Bootstraps over queries, beside scipy's."""

import itertools

import numpy as np
import pytest
import scipy.stats

from hashbench import HashbenchError
from hashbench.analysis import bootstrap


def test_paired_bootstrap_agrees_with_scipy():
    rng = np.random.default_rng(1)
    first = rng.normal(0.5, 0.2, 300)
    second = first - rng.normal(0.02, 0.1, 300)
    found = bootstrap.paired_bootstrap(first - second, np.random.default_rng(2))
    expected = scipy.stats.bootstrap(
        ((first - second),), np.mean, method="percentile", rng=np.random.default_rng(3)
    ).confidence_interval
    assert found.difference == pytest.approx((first - second).mean())
    assert found.low == pytest.approx(expected.low, abs=1e-3)
    assert found.high == pytest.approx(expected.high, abs=1e-3)
    assert found.p_value < 0.05


def test_paired_bootstrap_has_the_spread_of_a_mean():
    # more queries than are drawn at once, and a number of samples that batches do not divide
    n = bootstrap.RESAMPLED // 7
    values = np.random.default_rng(4).normal(0.0, 1.0, n)
    found = bootstrap.paired_bootstrap(values, np.random.default_rng(5), samples=503)
    error = values.std() / np.sqrt(n)
    assert (found.high - found.low) / (2 * 1.96) == pytest.approx(error, rel=0.15)
    assert found.low < found.difference < found.high


def test_items_count_by_their_weights():
    difference, weights = np.array([1.0, 0.0]), np.array([3.0, 1.0])
    found = bootstrap.paired_bootstrap(difference, np.random.default_rng(0), weights)
    assert found.difference == pytest.approx(0.75)
    assert (found.low, found.high) == (0.0, 1.0)  # an item twice has the whole weight
    assert found.p_value == pytest.approx(2 * 0.25, abs=0.02)


def test_equal_weights_are_none():
    values = np.random.default_rng(6).normal(size=50)
    same = [
        bootstrap.paired_bootstrap(values, np.random.default_rng(1), weights)
        for weights in (None, np.full(50, 0.2))
    ]
    assert same[0] == same[1]


def test_a_mean_that_is_zero_but_for_rounding_is_on_both_sides():
    found = bootstrap.paired_bootstrap(np.array([0.1, 0.2, -0.3]), np.random.default_rng(0))
    sums = np.array([sum(drawn) for drawn in itertools.product([1, 2, -3], repeat=3)])
    assert (sums == 0).mean() > 0.2
    expected = 2 * min((sums <= 0).mean(), (sums >= 0).mean())
    assert found.p_value == pytest.approx(min(1, expected), abs=0.03)


@pytest.mark.parametrize("weighted", [False, True])
def test_all_pairs_are_what_each_pair_is(weighted):
    rng = np.random.default_rng(7)
    values = rng.random((40, 5)).round(1)  # some means are equal
    values[:, 3] = values[:, 1]
    weights = rng.integers(1, 3, 40) / 2 if weighted else None
    means = bootstrap.resampled_means(values, np.random.default_rng(0), weights)
    found = bootstrap.all_pairs(means)
    for place, (i, j) in enumerate(zip(*np.triu_indices(5, 1), strict=True)):
        one = bootstrap.paired_bootstrap(
            values[:, i] - values[:, j], np.random.default_rng(0), weights
        )
        assert found.p_value[place] == one.p_value
        assert found.low[place] == pytest.approx(one.low, abs=1e-12)
        assert found.high[place] == pytest.approx(one.high, abs=1e-12)


def test_one_method_has_no_pair():
    found = bootstrap.all_pairs(np.zeros((1, 10)))
    assert [len(part) for part in found] == [0, 0, 0]


def test_an_empty_sample_is_refused():
    with pytest.raises(HashbenchError, match=r"bootstrap.*no query"):
        bootstrap.paired_bootstrap(np.empty(0), np.random.default_rng(0))
