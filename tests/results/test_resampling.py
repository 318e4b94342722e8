"""Bootstraps over queries, beside scipy's."""

import numpy as np
import pytest
import scipy.stats

from hashbench import HashbenchError
from hashbench.results import resampling


def test_paired_bootstrap_agrees_with_scipy():
    rng = np.random.default_rng(1)
    first = rng.normal(0.5, 0.2, 300)
    second = first - rng.normal(0.02, 0.1, 300)
    found = resampling.paired_bootstrap(first - second, np.random.default_rng(2))
    expected = scipy.stats.bootstrap(
        ((first - second),), np.mean, method="percentile", rng=np.random.default_rng(3)
    ).confidence_interval
    assert found.difference == pytest.approx((first - second).mean())
    assert found.low == pytest.approx(expected.low, abs=1e-3)
    assert found.high == pytest.approx(expected.high, abs=1e-3)
    assert found.p_value < 0.05


def test_paired_bootstrap_has_the_spread_of_a_mean():
    # more queries than are drawn at once, and a number of samples that batches do not divide
    n = resampling.RESAMPLED // 7
    values = np.random.default_rng(4).normal(0.0, 1.0, n)
    found = resampling.paired_bootstrap(values, np.random.default_rng(5), samples=503)
    error = values.std() / np.sqrt(n)
    assert (found.high - found.low) / (2 * 1.96) == pytest.approx(error, rel=0.15)
    assert found.low < found.difference < found.high


def test_items_count_by_their_weights():
    difference, weights = np.array([1.0, 0.0]), np.array([3.0, 1.0])
    found = resampling.paired_bootstrap(difference, np.random.default_rng(0), weights)
    assert found.difference == pytest.approx(0.75)
    assert (found.low, found.high) == (0.0, 1.0)  # an item twice has the whole weight
    assert found.p_value == pytest.approx(2 * 0.25, abs=0.02)


def test_equal_weights_are_none():
    values = np.random.default_rng(6).normal(size=50)
    same = [
        resampling.paired_bootstrap(values, np.random.default_rng(1), weights)
        for weights in (None, np.full(50, 0.2))
    ]
    assert same[0] == same[1]


def test_nothing_asked_is_refused():
    with pytest.raises(HashbenchError, match="no query"):
        resampling.paired_bootstrap(np.empty(0), np.random.default_rng(0))
