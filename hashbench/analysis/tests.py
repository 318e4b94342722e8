"""Statistics of comparisons over blocks, as pure functions on arrays.

Scores come as a (blocks, methods) array. What a block is decides which test holds: datasets are
independent and take rank tests (Demsar 2006); random splits of one dataset share rows and take
t-tests corrected for that (Nadeau and Bengio 2003). `least_wilcoxon` and `least_friedman` return
the smallest p-value that a test can reach: a test that can never reject is not run.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hashbench.core.errors import HashbenchError

Floats = npt.NDArray[np.float64]

ALPHA = 0.05

#: Smallest number of blocks for a t-test; two leave it one degree of freedom.
LEAST_BLOCKS = 3

#: Largest number of blocks that `blocks_needed` tries.
MOST_BLOCKS = 1000


class Friedman(NamedTuple):
    """Friedman's test with Nemenyi's critical difference.

    Attributes
    ----------
    statistic, p_value : Friedman's chi-square test over blocks
    mean_ranks : (methods,), 1 is best
    critical_difference : larger differences of mean ranks are significant (Nemenyi)
    """

    statistic: float
    p_value: float
    mean_ranks: Floats
    critical_difference: float


def ranks(scores: Floats) -> Floats:
    """Rank the methods within each block, 1 for the highest score; ties share their mean rank."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(-_table(scores, 1), axis=1), np.float64)


def friedman(scores: Floats, alpha: float = ALPHA) -> Friedman:
    """Test whether three or more methods differ over two or more blocks."""
    from scipy.stats import friedmanchisquare

    scores = _table(scores, 2)
    blocks, methods = scores.shape
    if methods < 3:
        raise HashbenchError(f"friedman: found {methods} methods; allowed: 3 or more")
    statistic, p_value = 0.0, 1.0  # all methods are equal in every block
    if np.ptp(scores, axis=1).any():
        statistic, p_value = map(float, friedmanchisquare(*scores.T))
    difference = critical_difference(blocks, methods, alpha)
    return Friedman(statistic, p_value, ranks(scores).mean(axis=0), difference)


def critical_difference(blocks: int, methods: int, alpha: float = ALPHA) -> float:
    """Return Nemenyi's critical difference of mean ranks (Demsar 2006, Sec. 3.2.2)."""
    from scipy.stats import studentized_range

    q = studentized_range.ppf(1 - alpha, methods, np.inf) / math.sqrt(2)
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


def blocks_needed(
    least: Callable[[int, int], float], methods: int, alpha: float = ALPHA
) -> int | None:
    """Return the smallest number of blocks with which a test can reject; None if there is none.

    Examples
    --------
    >>> blocks_needed(least_wilcoxon, 38), blocks_needed(least_friedman, 3)
    (15, 3)
    """
    enough = (count for count in range(2, MOST_BLOCKS) if least(count, methods) <= alpha)
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


class Corrected(NamedTuple):
    """A t-test over splits that share rows, one entry per comparison.

    Attributes
    ----------
    mean, error : of the difference; the error is corrected for the shared rows
    p_value : two-sided; 1 where the differences have no spread
    freedom : degrees of freedom
    """

    mean: Floats
    error: Floats
    p_value: Floats
    freedom: int

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return the confidence interval of the difference."""
        from scipy.special import stdtrit

        half = stdtrit(self.freedom, (1 + level) / 2) * self.error
        return self.mean - half, self.mean + half


def corrected_test(difference: Floats, overlap: float) -> Corrected:
    """Test mean differences over random splits (Nadeau and Bengio 2003, the corrected t-test).

    Scores of splits that share rows vary less from one to another than from the truth: the
    variance of their mean is (1/J + n2/n1) s^2 for J splits, not s^2 / J.

    Parameters
    ----------
    difference : (splits, ...)
    overlap : queries for each other row, n2 / n1; 0 for the usual t-test
    """
    from scipy.special import stdtr

    difference = np.asarray(difference, np.float64)
    count = difference.shape[0]
    if count < 2:
        raise HashbenchError(f"corrected t-test: found {count} split; allowed: 2 or more")
    mean = difference.mean(axis=0)
    error = np.sqrt((1 / count + overlap) * difference.var(axis=0, ddof=1))
    # what only rounding moves has no spread
    still = np.ptp(difference, axis=0) <= 1e-12
    ratio = np.divide(np.abs(mean), error, out=np.zeros_like(mean), where=~still)
    p_value = np.where(still, 1.0, 2 * stdtr(count - 1, -ratio))
    return Corrected(mean, np.where(still, 0.0, error), p_value, count - 1)


def pairs_over_splits(scores: Floats, overlap: float) -> Floats:
    """Return corrected t-tests of all pairs, Holm-corrected; 1 on the diagonal."""
    scores = _table(scores, 2)
    return _symmetric(corrected_test(scores[:, :, None] - scores[:, None, :], overlap).p_value)


def not_worse_than_best(
    scores: Floats, overlap: float, alpha: float = ALPHA
) -> npt.NDArray[np.bool_]:
    """Mark the best method and those that do not differ significantly from it over splits.

    The best method is found on the same scores, so that p-values are corrected for all pairs. With
    fewer than three blocks only the best is marked.
    """
    scores = _table(scores, 1)
    best = int(scores.mean(axis=0).argmax())
    marked = np.zeros(scores.shape[1], bool)
    if scores.shape[0] >= LEAST_BLOCKS:
        marked = pairs_over_splits(scores, overlap)[best] > alpha
    marked[best] = True
    return marked


def _table(scores: Any, blocks: int) -> Floats:
    table = np.asarray(scores, np.float64)
    if table.ndim != 2 or table.shape[0] < blocks or not np.isfinite(table).all():
        raise HashbenchError(
            f"scores: found shape {table.shape}; allowed: finite, {blocks} or more blocks"
        )
    return table
