"""Statistics of comparisons over blocks, as pure functions on arrays.

Scores come as a (blocks, methods) array. What a block is decides which test holds. Random splits of
one dataset share rows: all methods are compared at once by `range_test`. Datasets are independent
and take rank tests (Demsar 2006); `least_wilcoxon` and `least_friedman` return the smallest p-value
that these can reach: a test that can never reject is not run.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hashbench.core.errors import HashbenchError

Floats = npt.NDArray[np.float64]

ALPHA = 0.05

#: Smallest number of splits that is tested.
LEAST_BLOCKS = 3

#: Largest number of blocks that `blocks_needed` and `splits_needed` try.
MOST_BLOCKS = 1000

#: From here on, degrees of freedom move a critical difference by less than one percent.
LARGE_FREEDOM = 200

#: Degrees of freedom of the pooled variance where a method's own variance is shrunk towards it.
PRIOR_FREEDOM = 2

#: Smaller p-values are given as this one.
LEAST_P = 1e-6

#: Scores that differ by less than this differ by rounding only.
ROUNDING = 1e-12


class Friedman(NamedTuple):
    """Friedman's test with Nemenyi's critical difference.

    Attributes
    ----------
    statistic, p_value : Friedman's chi-square test over blocks
    critical_difference : larger differences of mean ranks are significant (Nemenyi)
    """

    statistic: float
    p_value: float
    critical_difference: float


def ranks(scores: Floats) -> Floats:
    """Rank the methods within each block, 1 for the highest score; ties share their mean rank."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(-_table(scores, 1), axis=1), np.float64)


def friedman(scores: Floats) -> Friedman:
    """Test whether three or more methods differ over two or more blocks."""
    from scipy.stats import friedmanchisquare

    scores = _table(scores, 2)
    blocks, methods = scores.shape
    if methods < 3:
        raise HashbenchError(f"friedman: found {methods} methods; allowed: 3 or more")
    statistic, p_value = 0.0, 1.0  # all methods are equal in every block
    if np.ptp(scores, axis=1).any():
        statistic, p_value = map(float, friedmanchisquare(*scores.T))
    return Friedman(statistic, p_value, critical_difference(blocks, methods))


def critical_difference(blocks: int, methods: int) -> float:
    """Return Nemenyi's critical difference of mean ranks (Demsar 2006, Sec. 3.2.2)."""
    from scipy.stats import studentized_range

    q = studentized_range.ppf(1 - ALPHA, methods, np.inf) / math.sqrt(2)
    return float(q * math.sqrt(methods * (methods + 1) / (6 * blocks)))


def holm(p_values: Floats) -> Floats:
    """Adjust p-values for several comparisons by Holm's step-down procedure."""
    p = np.asarray(p_values, np.float64)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    stepped = p[order] * np.arange(len(p), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return adjusted


# --- the smallest p-value of a test -------------------------------------------------------------


def least_wilcoxon(blocks: int, methods: int) -> float:
    """Return the smallest p-value of Wilcoxon's test, Holm-corrected over all pairs.

    Examples
    --------
    >>> least_wilcoxon(6, 3)
    0.09375
    """
    return float(min(1.0, 2.0 ** (1 - blocks) * methods * (methods - 1) / 2))


def least_friedman(blocks: int, methods: int) -> float:
    """Return the smallest p-value of Friedman's test: every block ranks the methods alike."""
    from scipy.stats import chi2

    return float(chi2.sf(blocks * (methods - 1), methods - 1)) if methods > 2 else 1.0


def blocks_needed(least: Callable[[int, int], float], methods: int) -> int | None:
    """Return the smallest number of blocks with which a test can reject; None if there is none.

    Examples
    --------
    >>> blocks_needed(least_wilcoxon, 38), blocks_needed(least_friedman, 3)
    (15, 3)
    """
    enough = (count for count in range(2, MOST_BLOCKS) if least(count, methods) <= ALPHA)
    return next(enough, None)


# --- all pairs over datasets --------------------------------------------------------------------


def wilcoxon_holm(scores: Floats) -> Floats:
    """Return Wilcoxon's signed-rank tests of all pairs, Holm-corrected; 1 on the diagonal."""
    from scikit_posthocs import posthoc_wilcoxon

    scores = _table(scores, 1)
    with np.errstate(invalid="ignore"):  # nothing differs: no test
        raw = posthoc_wilcoxon(list(scores.T)).to_numpy()
    return _symmetric(np.where(np.isfinite(raw), raw, 1.0))


def _symmetric(p_values: Floats) -> Floats:
    """Return a matrix of p-values, Holm-corrected over all pairs."""
    upper = np.triu_indices(len(p_values), 1)
    corrected = np.ones_like(p_values)
    if len(upper[0]):
        corrected[upper] = holm(p_values[upper])
    return np.minimum(corrected, corrected.T)


class Counts(NamedTuple):
    """Blocks that the row's method wins against the column's, or ties; (methods, methods)."""

    wins: npt.NDArray[np.int64]
    ties: npt.NDArray[np.int64]


def count_wins(scores: Floats) -> Counts:
    """Compare all pairs of methods block by block."""
    scores = _table(scores, 1)
    wins = (scores[:, :, None] > scores[:, None, :]).sum(axis=0)
    ties = (scores[:, :, None] == scores[:, None, :]).sum(axis=0)
    return Counts(wins, ties)


# --- random splits of one dataset ---------------------------------------------------------------


class RangeTest(NamedTuple):
    """All methods compared at once: p-values, intervals and groups from one distribution.

    Two methods differ if and only if their p-value is at most ALPHA, which is if and only if the
    interval of their difference, ``means[i] - means[j] +- half_widths[i, j]``, excludes zero. The
    probability of any wrong statement among all pairs is ALPHA.

    Attributes
    ----------
    means : (methods,)
    error : standard error of a mean, pooled over methods
    freedom : degrees of freedom of the error
    p_values : (methods, methods), 1 on the diagonal
    half_widths : (methods, methods), of the simultaneous intervals; inf if nothing is known
    """

    means: Floats
    error: float
    freedom: float
    p_values: Floats
    half_widths: Floats

    @property
    def critical_difference(self) -> float:
        """The smallest difference that can be significant."""
        return float(self.half_widths.min())

    @property
    def differ(self) -> npt.NDArray[np.bool_]:
        """Which methods differ: (methods, methods)."""
        return self.p_values <= ALPHA

    @property
    def groups(self) -> npt.NDArray[np.int64]:
        """The group of each method, (methods,).

        Group 0 has the best method and those that do not differ from it; group 1 is made in the
        same way of the methods that are left, and so on.
        """
        groups = np.full(len(self.means), -1)
        number = 0
        while (left := np.flatnonzero(groups < 0)).size:
            best = left[self.means[left].argmax()]
            groups[left[~self.differ[best, left]]] = number
            number += 1
        return groups


def nothing_known(means: Floats, freedom: float) -> RangeTest:
    """Return the test of scores without any spread, which cannot tell how far means may be off."""
    every = np.ones((len(means), len(means)))
    return RangeTest(means, 0.0, freedom, every, every * math.inf)


def range_test(scores: Floats, overlap: float) -> RangeTest:
    """Compare all methods over random splits of one dataset by the studentized range (Tukey).

    The variance is the residual mean square of splits x methods, pooled over methods: five splits
    tell little about the variance of one method. Some methods vary more than others, so that two of
    them have a larger variance if their own say so, see `raised_variance`. Scores of splits that
    share rows vary less from one to another than from the truth: the variance of a mean over J
    splits is (1/J + n2/n1) times that of a split (Nadeau and Bengio 2003).

    Parameters
    ----------
    scores : (splits, methods), two or more of each
    overlap : queries for each other row of a split, n2 / n1; 0 for independent blocks

    Examples
    --------
    >>> scores = np.array([[0.80, 0.79, 0.50], [0.82, 0.83, 0.53], [0.78, 0.78, 0.49]])
    >>> range_test(scores, 1 / 3).groups.tolist()
    [0, 0, 1]
    """
    scores = _table(scores, 2)
    splits, methods = scores.shape
    if methods < 2:
        raise HashbenchError(f"range test: found {methods} method; allowed: 2 or more")
    means = scores.mean(axis=0)
    residuals = scores - means - scores.mean(axis=1, keepdims=True) + scores.mean()
    freedom = (splits - 1) * (methods - 1)
    variance = float((residuals**2).sum()) / freedom
    if np.ptp(residuals) <= ROUNDING:  # what only rounding moves has no spread
        return nothing_known(means, freedom)
    shared = 1 / splits + overlap
    # a method's residuals lack the share that the means over methods took from them
    own = (residuals**2).sum(axis=0) / ((splits - 1) * (1 - 1 / methods))
    pairs = raised_variance(np.add.outer(own, own) / 2, variance, splits - 1)
    errors = np.sqrt(shared * pairs)
    distribution = _range_distribution(methods, freedom)
    p_values = distribution.p_values(np.abs(np.subtract.outer(means, means)) / errors)
    np.fill_diagonal(p_values, 1.0)
    error, widths = math.sqrt(shared * variance), distribution.critical * errors
    return RangeTest(means, error, freedom, p_values, widths)


def raised_variance(own: Floats, pooled: float, freedom: int) -> Floats:
    """Return the pooled variance, or more where the own variance, shrunk towards it, is larger.

    With the pooled variance alone, methods that vary more than others would differ by chance in
    many more studies than ALPHA; with their own alone, few splits would find nothing.

    Parameters
    ----------
    own : variances of methods or of pairs
    pooled : over all methods
    freedom : degrees of freedom of one method's variance
    """
    shrunk = (freedom * own + PRIOR_FREEDOM * pooled) / (freedom + PRIOR_FREEDOM)
    return np.maximum(shrunk, pooled)


def splits_needed(difference: float, variance: float, methods: int, overlap: float) -> int | None:
    """Return how many splits it takes until a difference is larger than the critical one.

    None if no number does: splits of one dataset share rows, so that the error of a mean does not
    fall below ``sqrt(overlap * variance)``.

    Parameters
    ----------
    difference : of two means
    variance : of the score of one split, without what all methods share
    methods, overlap : as of :func:`range_test`

    Examples
    --------
    >>> splits_needed(0.05, 0.01**2, 38, 1 / 3), splits_needed(0.01, 0.01**2, 38, 1 / 3)
    (3, None)
    """

    def enough(splits: int) -> bool:
        freedom = (splits - 1) * (methods - 1)
        q = _critical_range(methods, freedom if freedom <= LARGE_FREEDOM else math.inf)
        return q * math.sqrt(variance * (1 / splits + overlap)) <= abs(difference)

    if not enough(MOST_BLOCKS):
        return None
    return bisect.bisect_left(range(MOST_BLOCKS), True, lo=LEAST_BLOCKS, key=enough)


class _RangeDistribution(NamedTuple):
    """The studentized range, tabulated: scipy takes 20 ms per value, a study has thousands.

    Attributes
    ----------
    critical : the upper quantile of ALPHA; a node of the table, so that p-values agree with it
    ranges, log_p : the nodes
    """

    critical: float
    ranges: Floats
    log_p: Floats

    def p_values(self, found: Floats) -> Floats:
        """Return the probability of larger ranges."""
        from scipy.interpolate import PchipInterpolator

        inside = np.minimum(found, self.ranges[-1])
        return np.asarray(np.exp(PchipInterpolator(self.ranges, self.log_p)(inside)))


@lru_cache(maxsize=64)
def _range_distribution(methods: int, freedom: int) -> _RangeDistribution:
    from scipy.stats import studentized_range

    critical = _critical_range(methods, freedom)
    # close around the quantile, where decisions are made
    nodes = critical * np.unique([1.0, *np.linspace(0, 2, 25), *np.geomspace(2, 200, 13)])
    p_values = studentized_range.sf(nodes, methods, freedom)
    p_values[nodes == critical] = ALPHA
    p_values = np.minimum.accumulate(np.clip(p_values, LEAST_P, 1.0))
    return _RangeDistribution(critical, nodes, np.log(p_values))


@lru_cache(maxsize=256)
def _critical_range(methods: int, freedom: float) -> float:
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(1 - ALPHA, methods, freedom))


def _table(scores: Any, blocks: int) -> Floats:
    table = np.asarray(scores, np.float64)
    if table.ndim != 2 or table.shape[0] < blocks or not np.isfinite(table).all():
        raise HashbenchError(
            f"scores: found shape {table.shape}; allowed: finite, {blocks} or more blocks"
        )
    return table
