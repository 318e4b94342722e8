"""Probabilities of being better, equal and worse: against their definitions."""

import numpy as np
import pytest
import scipy.stats

from hashbench.analysis import bayesian_tests


def test_the_correlated_t_test_is_a_student_posterior():
    difference = np.array([0.03, 0.01, 0.02, 0.05, 0.015])
    found = bayesian_tests.over_splits(difference, 0.25)
    rho = 0.25 / 1.25  # Benavoli et al. write n2 / (n1 + n2)
    scale = np.sqrt((1 / 5 + rho / (1 - rho)) * difference.var(ddof=1))
    posterior = scipy.stats.t(4, difference.mean(), scale)
    assert found.better == pytest.approx(posterior.sf(0.01))
    assert found.worse == pytest.approx(posterior.cdf(-0.01))
    assert sum(found) == pytest.approx(1)


def test_without_spread_equal_methods_are_equal_and_others_unknown():
    assert [float(each) for each in bayesian_tests.over_splits(np.zeros(4), 0.3)] == [0, 1, 0]
    assert np.isnan(bayesian_tests.over_splits(np.full(4, 0.1), 0.3)).all()


def test_the_signed_rank_test_knows_a_clear_winner():
    rng = np.random.default_rng(0)
    found = bayesian_tests.over_datasets(0.1 + 0.01 * rng.standard_normal(12), rng)
    assert found.better > 0.99
    turned = bayesian_tests.over_datasets(-0.1 + 0.01 * rng.standard_normal(12), rng)
    assert turned.worse > 0.99
    near = bayesian_tests.over_datasets(0.001 * rng.standard_normal(12), rng)
    assert near.equal > 0.99
    assert sum(found) == pytest.approx(1)


def test_the_signed_rank_test_by_brute_force():
    # weights drawn one by one, pairs summed one by one: the test as it is defined
    values = [0.0, 0.05, -0.03, 0.02, 0.04]
    rng = np.random.default_rng(1)
    counts = np.zeros(3)
    for _ in range(2000):
        weights = rng.dirichlet([0.5, 1, 1, 1, 1])
        mass = np.zeros(3)
        for a, x in zip(weights, values, strict=True):
            for b, y in zip(weights, values, strict=True):
                mass[0 if (x + y) / 2 > 0.01 else 2 if (x + y) / 2 < -0.01 else 1] += a * b
        counts[mass.argmax()] += 1
    found = bayesian_tests.over_datasets(np.array(values[1:]), np.random.default_rng(2))
    np.testing.assert_allclose(np.array(found), counts / 2000, atol=0.04)
