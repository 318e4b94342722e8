"""The range test of one split: initialisations and queries resampled together."""

import numpy as np
import pytest
import scipy.stats

from hashbench import HashbenchError
from hashbench.analysis.bootstrap import resampled_range_test


def values(rng, means, seeds=4, queries=200, between_queries=0.3, between_seeds=0.02):
    """Scores of queries: what is hard for one method is as hard for all."""
    hardness = between_queries * rng.standard_normal((1, queries, 1))
    methods = len(means)
    own = 0.1 * rng.standard_normal((1, queries, methods))
    luck = between_seeds * rng.standard_normal((seeds, 1, methods))
    return np.asarray(means) + hardness + own + luck


def test_without_differences_between_queries_it_is_tukeys_test():
    rng = np.random.default_rng(0)
    luck = 0.02 * rng.standard_normal((5, 1, 6))
    found = resampled_range_test(np.tile(luck, (1, 30, 1)), np.random.default_rng(1))
    assert found.freedom == 24
    error = np.sqrt(luck[:, 0].var(axis=0, ddof=1).mean() / 5)
    expected = scipy.stats.studentized_range.ppf(0.95, 6, 24) * error
    # at most a little wider, for the methods that vary more than others
    assert 0.97 * expected < found.critical_difference < 1.2 * expected


def test_without_random_numbers_it_is_a_bootstrap_of_queries():
    rng = np.random.default_rng(0)
    one = values(rng, [0.5, 0.52], seeds=1, between_seeds=0.0)
    found = resampled_range_test(np.tile(one, (3, 1, 1)), np.random.default_rng(1))
    difference = one[0, :, 0] - one[0, :, 1]
    known = scipy.stats.bootstrap((difference,), np.mean, method="basic", rng=rng)
    half = (known.confidence_interval.high - known.confidence_interval.low) / 2
    assert found.critical_difference == pytest.approx(half, rel=0.1)
    assert found.freedom == np.inf


def test_p_values_and_intervals_agree():
    rng = np.random.default_rng(2)
    for _ in range(10):
        found = resampled_range_test(values(rng, np.linspace(0, 0.1, 5)), np.random.default_rng(0))
        distance = np.abs(np.subtract.outer(found.means, found.means))
        assert (found.differ == (distance > found.half_widths)).all()


@pytest.mark.parametrize("seeds", [3, 5])
def test_the_luck_of_an_initialisation_is_no_difference(seeds):
    """Methods that are alike but for their random numbers, some of which have none."""
    rng = np.random.default_rng(3)
    wrong = 0
    for study in range(150):
        luck = 0.02 * rng.standard_normal((seeds, 1, 8))
        luck[:, :, :2] = 0
        hardness = 0.3 * rng.standard_normal((1, 100, 1))
        own = 0.1 * rng.standard_normal((1, 100, 8))
        scores = 0.5 + hardness + own + luck
        wrong += resampled_range_test(
            scores, np.random.default_rng(study), samples=500
        ).differ.any()
    assert wrong / 150 <= 0.07


def test_a_difference_between_methods_is_found():
    rng = np.random.default_rng(4)
    found = resampled_range_test(values(rng, [0.5, 0.5, 0.7]), np.random.default_rng(0))
    assert found.groups.tolist() == [1, 1, 0]


def test_equal_methods_do_not_differ():
    found = resampled_range_test(np.full((3, 5, 2), 0.4), np.random.default_rng(0))
    assert (found.p_values == 1).all()
    assert found.critical_difference == np.inf


def test_two_initialisations_are_refused():
    with pytest.raises(HashbenchError, match="3 or more initialisations"):
        resampled_range_test(np.zeros((2, 5, 2)), np.random.default_rng(0))
