"""Statistics of comparisons, as pure functions on arrays.

Scores come as a (blocks, methods) array. A block is one independent repetition of the whole
comparison, a dataset split by a seed: two tasks or two code lengths of one split share their
data and are not two blocks.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hashbench.base.errors import HashbenchError

Floats = npt.NDArray[np.float64]

#: Fewer do not tell a method from the best: two leave a t-test one degree of freedom.
LEAST_BLOCKS = 3

#: Values that a bootstrap draws at once: what stays in a processor's cache.
RESAMPLED = 2**18


class Friedman(NamedTuple):
    """Do the methods differ at all, and how far apart must two mean ranks be?

    Attributes
    ----------
    statistic, p_value : Friedman's chi-square test over blocks
    mean_ranks : (methods,), 1 is best
    critical_difference : mean ranks further apart differ significantly (Nemenyi)
    """

    statistic: float
    p_value: float
    mean_ranks: Floats
    critical_difference: float


def ranks(scores: Floats) -> Floats:
    """Rank the methods within each block, 1 for the highest score; ties share their mean rank."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(-_table(scores, 1), axis=1), np.float64)


def friedman(scores: Floats, alpha: float = 0.05) -> Friedman:
    """Test whether three or more methods differ over two or more blocks."""
    from scipy.stats import friedmanchisquare

    scores = _table(scores, 2)
    if scores.shape[1] < 3:
        raise HashbenchError(f"friedman: found {scores.shape[1]} methods; allowed: 3 or more")
    mean_ranks = ranks(scores).mean(axis=0)
    if np.ptp(ranks(scores), axis=1).max() == 0:  # every block is one single tie
        statistic, p_value = 0.0, 1.0
    else:
        statistic, p_value = (float(value) for value in friedmanchisquare(*scores.T))
    blocks, methods = scores.shape[0], scores.shape[1]
    return Friedman(statistic, p_value, mean_ranks, critical_difference(blocks, methods, alpha))


def critical_difference(blocks: int, methods: int, alpha: float = 0.05) -> float:
    """Nemenyi's critical difference of mean ranks (Demsar 2006, Sec. 3.2.2)."""
    from scipy.stats import studentized_range

    q = studentized_range.ppf(1 - alpha, methods, np.inf) / math.sqrt(2)
    return float(q * math.sqrt(methods * (methods + 1) / (6 * blocks)))


def cliques(mean_ranks: Floats, difference: float) -> list[list[int]]:
    """Return the maximal groups of methods whose mean ranks all lie within the difference.

    Groups of one are left out: they are what a critical-difference diagram draws no bar for.
    """
    order = [int(i) for i in np.argsort(mean_ranks, kind="stable")]
    found: list[list[int]] = []
    for start in range(len(order)):
        end = start
        while (
            end + 1 < len(order)
            and mean_ranks[order[end + 1]] - mean_ranks[order[start]] <= difference
        ):
            end += 1
        group = order[start : end + 1]
        if len(group) > 1 and not any(set(group) <= set(other) for other in found):
            found.append(group)
    return found


def holm(p_values: Floats) -> Floats:
    """Adjust p-values for several comparisons by Holm's step-down procedure."""
    p = np.asarray(p_values, np.float64)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    stepped = p[order] * np.arange(len(p), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return adjusted


def wilcoxon(first: Floats, second: Floats) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test; 1 if nothing differs."""
    from scipy.stats import wilcoxon as signed_rank

    difference = np.asarray(first, np.float64) - np.asarray(second, np.float64)
    if not difference.any():
        return 1.0
    return float(signed_rank(difference).pvalue)


class Pairwise(NamedTuple):
    """Every method against every other.

    Attributes
    ----------
    wins, ties : (methods, methods) counts of blocks that the row's method wins or ties
    p_values : (methods, methods), Holm-corrected over all pairs; 1 on the diagonal
    """

    wins: npt.NDArray[np.int64]
    ties: npt.NDArray[np.int64]
    p_values: Floats


def pairwise(scores: Floats) -> Pairwise:
    """Compare all pairs of methods over blocks."""
    scores = _table(scores, 1)
    k = scores.shape[1]
    wins = (scores[:, :, None] > scores[:, None, :]).sum(axis=0)
    ties = (scores[:, :, None] == scores[:, None, :]).sum(axis=0)
    upper = np.triu_indices(k, 1)
    raw = np.array([wilcoxon(scores[:, i], scores[:, j]) for i, j in zip(*upper, strict=True)])
    p_values = np.ones((k, k))
    p_values[upper] = holm(raw)
    return Pairwise(wins, ties, np.minimum(p_values, p_values.T))


def not_worse_than_best(scores: Floats, alpha: float = 0.05) -> npt.NDArray[np.bool_]:
    """Mark the best method and those that paired t-tests do not tell from it.

    Paired over blocks against the method with the highest mean, Holm-corrected. With fewer than
    three blocks nothing can be told apart, and only the best is marked.
    """
    from scipy.stats import ttest_1samp

    scores = _table(scores, 1)
    best = int(scores.mean(axis=0).argmax())
    marked = np.zeros(scores.shape[1], bool)
    marked[best] = True
    if scores.shape[0] < LEAST_BLOCKS:
        return marked
    others = np.flatnonzero(~marked)
    difference = scores[:, [best]] - scores[:, others]
    # Without spread they are equal, or different for certain; a test cannot say.
    p_values = np.where(difference[0] == 0, 1.0, 0.0)
    spread = np.ptp(difference, axis=0) > 0
    p_values[spread] = ttest_1samp(difference[:, spread], 0.0, axis=0).pvalue
    marked[others] = holm(p_values) > alpha
    return marked


class Bootstrap(NamedTuple):
    """A paired comparison of two methods over queries."""

    difference: float
    low: float
    high: float
    p_value: float


def paired_bootstrap(
    first: Floats,
    second: Floats,
    rng: np.random.Generator,
    samples: int = 10_000,
    level: float = 0.95,
) -> Bootstrap:
    """Resample queries to see how sure the mean difference of two methods is.

    Parameters
    ----------
    first, second : (queries,)
        One value a query; queries where either is NaN (no relevant item) are left out.
    rng : numpy.random.Generator
    samples : int
    level : float
        Of the percentile interval.

    Returns
    -------
    Bootstrap
        Mean of first - second, its interval, and the two-sided p-value: twice the share of
        resampled differences on the other side of zero.
    """
    difference = np.asarray(first, np.float64) - np.asarray(second, np.float64)
    difference = difference[np.isfinite(difference)]
    if not len(difference):
        raise HashbenchError("bootstrap: found no query with a value in both methods")
    n = len(difference)
    means = np.empty(samples)
    batch = max(1, RESAMPLED // n)
    for start in range(0, samples, batch):
        part = means[start : start + batch]
        drawn = rng.integers(n, size=(len(part), n), dtype=np.int32)
        np.take(difference, drawn).mean(axis=1, out=part)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    side = min((means <= 0).mean(), (means >= 0).mean())
    return Bootstrap(float(difference.mean()), float(low), float(high), float(min(1.0, 2 * side)))


def _table(scores: Any, blocks: int) -> Floats:
    table = np.asarray(scores, np.float64)
    if table.ndim != 2 or table.shape[0] < blocks or not np.isfinite(table).all():
        raise HashbenchError(
            f"scores: found shape {table.shape}; allowed: finite, {blocks} or more blocks"
        )
    return table
