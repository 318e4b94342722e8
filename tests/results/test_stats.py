import numpy as np
import pytest
import scikit_posthocs
import scipy.stats

from hashbench import HashbenchError
from hashbench.results import stats


@pytest.fixture
def scores():
    rng = np.random.default_rng(0)
    return rng.normal([0.5, 0.6, 0.61, 0.8], 0.05, size=(12, 4))


def test_ranks_share_ties():
    assert stats.ranks(np.array([[0.3, 0.5, 0.5], [0.9, 0.1, 0.2]])).tolist() == [
        [3, 1.5, 1.5],
        [1, 3, 2],
    ]


def test_friedman_agrees_with_scipy(scores):
    found = stats.friedman(scores)
    statistic, p_value = scipy.stats.friedmanchisquare(*scores.T)
    assert found.statistic == pytest.approx(statistic)
    assert found.p_value == pytest.approx(p_value)
    assert found.mean_ranks.argmin() == 3


def test_friedman_of_equal_methods_finds_nothing():
    assert stats.friedman(np.ones((5, 3))).p_value == 1


def test_critical_difference_is_the_published_one():
    # Demsar (2006), Table 5 (a): q_0.05 = 2.569 for four methods, 2.728 for five.
    assert stats.critical_difference(14, 4) == pytest.approx(
        2.569 * np.sqrt(4 * 5 / (6 * 14)), rel=1e-3
    )
    assert stats.critical_difference(30, 5) == pytest.approx(
        2.728 * np.sqrt(5 * 6 / (6 * 30)), rel=1e-3
    )


def test_nemenyi_agrees_with_scikit_posthocs(scores):
    found = stats.friedman(scores)
    p = scikit_posthocs.posthoc_nemenyi_friedman(scores).to_numpy()
    for i in range(4):
        for j in range(4):
            apart = abs(found.mean_ranks[i] - found.mean_ranks[j]) > found.critical_difference
            assert apart == (p[i, j] < 0.05)


def test_cliques_are_maximal():
    ranks = np.array([1.0, 1.4, 2.0, 3.5])
    assert stats.cliques(ranks, 0.7) == [[0, 1], [1, 2]]
    assert stats.cliques(ranks, 1.0) == [[0, 1, 2]]
    assert stats.cliques(ranks, 0.1) == []


def test_holm_by_hand():
    # 0.01 * 3, max(0.03, 0.02 * 2), max(0.04, 0.04 * 1)
    np.testing.assert_allclose(stats.holm(np.array([0.04, 0.01, 0.02])), [0.04, 0.03, 0.04])


def test_pairwise_agrees_with_scikit_posthocs(scores):
    found = stats.pairwise(scores)
    expected = scikit_posthocs.posthoc_wilcoxon(list(scores.T), p_adjust="holm").to_numpy()
    np.testing.assert_allclose(found.p_values, np.where(np.eye(4), 1, expected), atol=1e-12)
    assert (found.wins + found.wins.T + found.ties == 12).all()
    assert found.wins[3, 0] == 12


def test_not_worse_than_best(scores):
    marked = stats.not_worse_than_best(scores)
    assert marked.tolist() == [False, False, False, True]
    near = np.column_stack([scores[:, 3], scores[:, 3] + 1e-4 * np.resize([1, -1], 12)])
    assert stats.not_worse_than_best(near).all()
    for few in (1, 2):
        assert stats.not_worse_than_best(near[:few]).sum() == 1  # nothing to test with


def test_not_worse_than_best_agrees_with_a_test_a_method(scores):
    scores = np.round(scores * 1024) / 1024
    lower = scores[:, 2] - 2.0**-10  # without any spread: different for certain
    table = np.column_stack([scores[:, :3], scores[:, 2], lower])
    p = [scipy.stats.ttest_rel(table[:, 2], table[:, m]).pvalue for m in (0, 1)]
    expected = stats.holm(np.array([*p, 1.0, 0.0])) > 0.05
    assert stats.not_worse_than_best(table).tolist() == [
        expected[0], expected[1], True, expected[2], expected[3],
    ]  # fmt: skip
    assert expected.tolist() == [False, True, True, False]
    assert stats.not_worse_than_best(table[:, :1]).tolist() == [True]


def test_paired_bootstrap_agrees_with_scipy():
    rng = np.random.default_rng(1)
    first = rng.normal(0.5, 0.2, 300)
    second = first - rng.normal(0.02, 0.1, 300)
    found = stats.paired_bootstrap(first, second, np.random.default_rng(2))
    expected = scipy.stats.bootstrap(
        ((first - second),), np.mean, method="percentile", rng=np.random.default_rng(3)
    ).confidence_interval
    assert found.difference == pytest.approx((first - second).mean())
    assert found.low == pytest.approx(expected.low, abs=1e-3)
    assert found.high == pytest.approx(expected.high, abs=1e-3)
    assert found.p_value < 0.05


def test_paired_bootstrap_has_the_spread_of_a_mean():
    # more queries than are drawn at once, and a number of samples that batches do not divide
    n = stats.RESAMPLED // 7
    values = np.random.default_rng(4).normal(0.0, 1.0, n)
    found = stats.paired_bootstrap(values, np.zeros(n), np.random.default_rng(5), samples=503)
    error = values.std() / np.sqrt(n)
    assert (found.high - found.low) / (2 * 1.96) == pytest.approx(error, rel=0.15)
    assert found.low < found.difference < found.high


def test_queries_without_a_value_are_left_out():
    first, second = np.array([1.0, np.nan, 0.5]), np.array([0.5, 0.1, 0.5])
    found = stats.paired_bootstrap(first, second, np.random.default_rng(0))
    assert found.difference == pytest.approx(0.25)
    with pytest.raises(HashbenchError, match="no query"):
        stats.paired_bootstrap(first[1:2], second[1:2], np.random.default_rng(0))


def test_bad_tables_are_refused():
    with pytest.raises(HashbenchError, match="shape"):
        stats.friedman(np.array([[1.0, np.nan, 2.0], [1, 2, 3]]))
    with pytest.raises(HashbenchError, match="2 methods"):
        stats.friedman(np.ones((4, 2)))
