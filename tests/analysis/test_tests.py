import numpy as np
import pytest
import scikit_posthocs
import scipy.stats

from hashbench import HashbenchError
from hashbench.analysis import tests


@pytest.fixture
def scores():
    rng = np.random.default_rng(0)
    return rng.normal([0.5, 0.6, 0.61, 0.8], 0.05, size=(12, 4))


def test_ranks_share_ties():
    assert tests.ranks(np.array([[0.3, 0.5, 0.5], [0.9, 0.1, 0.2]])).tolist() == [
        [3, 1.5, 1.5],
        [1, 3, 2],
    ]


def test_friedman_agrees_with_scipy(scores):
    found = tests.friedman(scores)
    statistic, p_value = scipy.stats.friedmanchisquare(*scores.T)
    assert found.statistic == pytest.approx(statistic)
    assert found.p_value == pytest.approx(p_value)


def test_friedman_with_ties_agrees_with_scipy(scores):
    rounded = scores.round(1)
    statistic, p_value = scipy.stats.friedmanchisquare(*rounded.T)
    assert tuple(tests.friedman(rounded)[:2]) == pytest.approx((statistic, p_value))


def test_friedman_of_equal_methods_finds_nothing():
    assert tests.friedman(np.ones((5, 3))).p_value == 1


def test_critical_difference_is_the_published_one():
    # Demsar (2006), Table 5 (a): q_0.05 = 2.569 for four methods, 2.728 for five.
    assert tests.critical_difference(14, 4) == pytest.approx(
        2.569 * np.sqrt(4 * 5 / (6 * 14)), rel=1e-3
    )
    assert tests.critical_difference(30, 5) == pytest.approx(
        2.728 * np.sqrt(5 * 6 / (6 * 30)), rel=1e-3
    )


def test_nemenyi_agrees_with_scikit_posthocs(scores):
    ranks, difference = tests.ranks(scores).mean(axis=0), tests.friedman(scores)[2]
    p = scikit_posthocs.posthoc_nemenyi_friedman(scores).to_numpy()
    for i in range(4):
        for j in range(4):
            assert (abs(ranks[i] - ranks[j]) > difference) == (p[i, j] < 0.05)


def test_holm_by_hand():
    # 0.01 * 3, max(0.03, 0.02 * 2), max(0.04, 0.04 * 1)
    np.testing.assert_allclose(tests.holm(np.array([0.04, 0.01, 0.02])), [0.04, 0.03, 0.04])


def test_pairwise_agrees_with_scipy(scores):
    found = tests.wilcoxon_holm(scores)
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    raw = np.array([scipy.stats.wilcoxon(scores[:, i], scores[:, j]).pvalue for i, j in pairs])
    for (i, j), p in zip(pairs, tests.holm(raw), strict=True):
        assert found[i, j] == found[j, i] == pytest.approx(p)
    counts = tests.count_wins(scores)
    assert (counts.wins + counts.wins.T + counts.ties == 12).all()
    assert counts.wins[3, 0] == 12


def test_equal_methods_do_not_differ(scores):
    twice = np.column_stack([scores, scores[:, 3]])
    assert tests.wilcoxon_holm(twice)[3, 4] == 1
    assert tests.range_test(twice, 0.3).p_values[3, 4] == 1


@pytest.mark.parametrize(("blocks", "methods"), [(3, 3), (5, 4), (8, 2), (9, 5)])
def test_the_least_p_values_are_those_of_perfect_agreement(blocks, methods):
    perfect = np.arange(blocks)[:, None] * 0.01 * np.arange(methods) + np.arange(methods)
    if methods > 2:
        p_value = tests.friedman(perfect).p_value
        assert tests.least_friedman(blocks, methods) == pytest.approx(p_value)
    first = tests.wilcoxon_holm(perfect)[0, 1]
    assert tests.least_wilcoxon(blocks, methods) == pytest.approx(first)


def test_how_many_blocks_a_test_takes():
    assert tests.blocks_needed(tests.least_wilcoxon, 2) == 6  # 2^-5 = .031
    assert tests.blocks_needed(tests.least_wilcoxon, 38) == 15
    assert tests.blocks_needed(tests.least_friedman, 3) == 3
    assert tests.blocks_needed(tests.least_friedman, 2) is None


def test_the_range_test_is_tukeys_on_independent_groups():
    """Without an effect of splits, pooled over as many groups, it is Tukey's test of one factor."""
    rng = np.random.default_rng(0)
    scores = rng.normal([0.5, 0.6, 0.61, 0.8], 0.05, size=(6, 4))
    found = tests.range_test(scores, 0.0)
    residuals = scores - scores.mean(axis=0) - scores.mean(axis=1)[:, None] + scores.mean()
    assert found.freedom == 15
    assert found.error == pytest.approx(np.sqrt((residuals**2).sum() / 15 / 6))
    own = (residuals**2).sum(axis=0) / 15 * 4
    assert own.mean() == pytest.approx((residuals**2).sum() / 15)
    errors = np.empty((4, 4))
    for i in range(4):
        for j in range(4):  # five degrees of freedom of its own, two of the pooled variance
            pooled = 6 * found.error**2
            pair = max(pooled, (5 * (own[i] + own[j]) / 2 + 2 * pooled) / 7)
            errors[i, j] = np.sqrt(pair / 6)
    q = scipy.stats.studentized_range
    np.testing.assert_allclose(found.half_widths, q.ppf(0.95, 4, 15) * errors)
    ranges = np.abs(np.subtract.outer(found.means, found.means)) / errors
    np.testing.assert_allclose(found.p_values, q.sf(ranges, 4, 15), atol=0.002)
    assert found.critical_difference == found.half_widths.min()


def test_the_two_sided_t_test_is_the_range_test_of_two_methods():
    rng = np.random.default_rng(1)
    for difference in (0.0, 0.02, 0.05):
        scores = rng.normal([0.5, 0.5 + difference], 0.02, size=(6, 2))
        p_value = scipy.stats.ttest_rel(*scores.T).pvalue
        assert tests.range_test(scores, 0.0).p_values[0, 1] == pytest.approx(p_value, abs=0.003)


@pytest.mark.parametrize(("methods", "splits"), [(38, 5), (38, 3), (5, 3), (3, 2), (2, 3)])
def test_tabulated_p_values_are_scipys(methods, splits):
    freedom = (methods - 1) * (splits - 1)
    known = tests._range_distribution(methods, freedom)
    q = np.linspace(0.01, 3 * known.critical, 13)
    expected = scipy.stats.studentized_range.sf(q, methods, freedom)
    np.testing.assert_allclose(known.p_values(q), expected, atol=0.004)
    assert known.p_values(np.array([known.critical]))[0] == pytest.approx(0.05, abs=1e-12)
    assert (np.diff(known.p_values(np.linspace(0, 300 * known.critical, 500))) <= 0).all()


def test_shared_rows_widen_the_intervals_of_the_range_test(scores):
    alone, shared = tests.range_test(scores, 0.0), tests.range_test(scores, 1 / 3)
    wider = np.sqrt((1 / 12 + 1 / 3) / (1 / 12))
    assert shared.error == pytest.approx(wider * alone.error)
    assert shared.critical_difference == pytest.approx(wider * alone.critical_difference)


def test_p_values_intervals_and_groups_of_the_range_test_agree():
    rng = np.random.default_rng(2)
    for _ in range(20):
        found = tests.range_test(rng.normal(np.linspace(0, 0.1, 7), 0.02, size=(4, 7)), 0.2)
        distance = np.abs(np.subtract.outer(found.means, found.means))
        assert (found.differ == (distance > found.half_widths)).all()
        best = found.means.argmax()
        assert ((found.groups == 0) == ~found.differ[best]).all()
        assert sorted(set(found.groups)) == list(range(max(found.groups) + 1))


def test_methods_without_spread_do_not_differ():
    found = tests.range_test(np.tile([0.1, 0.9], (4, 1)), 0.3)
    assert found.p_values.tolist() == [[1, 1], [1, 1]]
    assert found.groups.tolist() == [0, 0]
    assert found.critical_difference == np.inf


def test_how_many_splits_tell_two_methods_from_each_other():
    needed = tests.splits_needed(0.03, 0.01**2, 10, 0.1)
    assert needed > tests.LEAST_BLOCKS
    q = scipy.stats.studentized_range.ppf
    for splits, enough in ((needed - 1, False), (needed, True)):
        error = 0.01 * np.sqrt(1 / splits + 0.1)
        assert (q(0.95, 10, 9 * (splits - 1)) * error <= 0.03) == enough
    assert tests.splits_needed(0.01, 0.01**2, 38, 1 / 3) is None


def test_bad_tables_are_refused():
    with pytest.raises(HashbenchError, match=r"scores.*\(2, 3\)"):
        tests.friedman(np.array([[1.0, np.nan, 2.0], [1, 2, 3]]))
    with pytest.raises(HashbenchError, match=r"friedman.*2 methods"):
        tests.friedman(np.ones((4, 2)))
    with pytest.raises(HashbenchError, match=r"range test.*1 method"):
        tests.range_test(np.ones((4, 1)), 0.3)
    with pytest.raises(HashbenchError, match=r"scores.*\(1, 3\)"):
        tests.range_test(np.ones((1, 3)), 0.3)
