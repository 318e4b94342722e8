# mypy: disable-error-code="no-untyped-def,no-untyped-call"
"""Values of ranked measures for one order of the items: tied items as in the database.

``grades[q, i]`` is the grade of the item at rank i + 1: 0 or 1 for relevance, or the number of
shared labels. Only the first ranks are needed, as many as the cutoff says.

No kernel here calls one of another file, because numba compiles a kernel again only when its own
file changes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.core.compilation import kernel
from hashbench.core.threads import parallel_ranges
from hashbench.measures.ties import ALL, RETRIEVED

Grades = npt.NDArray[np.uint16]
Values = npt.NDArray[np.float64]


@kernel()
def _sum_of_precisions(grades, most):
    """Return the relevant items in some ranks, `most` at most, and the sum of precisions at them.

    With more than two grades the precision at rank i is the mean grade of the first i items. The
    ranks of the relevant items are written down first, without a branch, because a processor
    cannot predict whether an item is relevant.
    """
    ranks = np.empty(grades.size + 1, np.int32)
    found = 0
    for i in range(grades.size):
        ranks[found] = i
        found += grades[i] > 0
    total, gain = 0.0, 0
    for hit in range(min(found, most)):
        gain += grades[ranks[hit]]
        total += gain / (ranks[hit] + 1)
    return min(found, most), total


@kernel()
def _average_precision(begin, end, grades, relevant, cutoff, norm, values):
    for q in range(begin, end):
        found, total = _sum_of_precisions(grades[q, :cutoff], cutoff)
        if relevant[q] == 0:
            values[q] = np.nan
        elif norm == RETRIEVED:
            values[q] = total / found if found > 0 else 0.0
        else:
            values[q] = total / (relevant[q] if norm == ALL else min(relevant[q], cutoff))


def average_precision(
    grades: Grades, relevant: npt.NDArray[np.int64], cutoff: int, norm: int
) -> Values:
    """Return AP over the first `cutoff` ranks of every query; nan without a relevant item.

    Parameters
    ----------
    grades : (queries, depth) uint16
    relevant : (queries,) int64
        Relevant items in the whole database.
    cutoff, norm
        As in `hashbench.measures.ties.average_precision`.

    Returns
    -------
    (queries,) float64
    """
    values = np.empty(len(grades))
    _of_queries(_average_precision, grades, relevant, cutoff, norm, values)
    return values


@kernel()
def _first_hits_precision(begin, end, grades, cutoff, values):
    for q in range(begin, end):
        found, total = _sum_of_precisions(grades[q], cutoff)
        values[q] = total / found if found > 0 else np.nan


def first_hits_precision(grades: Grades, cutoff: int) -> Values:
    """Return the mean precision at the first `cutoff` relevant items, or at all if fewer."""
    values = np.empty(len(grades))
    _of_queries(_first_hits_precision, grades, cutoff, values)
    return values


@kernel()
def _hits(begin, end, grades, ranks, counted):
    for q in range(begin, end):
        found, i = 0, 0
        for point in range(ranks.shape[1]):
            while i < min(ranks[q, point], grades.shape[1]):
                found += grades[q, i] > 0
                i += 1
            counted[q, point] = found


def hits(grades: Grades, ranks: npt.NDArray[np.int64]) -> Values:
    """Return the number of relevant items in the first k ranks, k = ranks[q, point] ascending."""
    counted = np.empty(ranks.shape)
    _of_queries(_hits, grades, ranks, counted)
    return counted


@kernel()
def _discounted_gain(begin, end, grades, gains, cutoff, values):
    for q in range(begin, end):
        for i in range(min(cutoff, grades.shape[1])):
            if grades[q, i] > 0:
                values[q] += gains[grades[q, i]] / np.log2(i + 2.0)


def discounted_gain(grades: Grades, gains: Values, cutoff: int) -> Values:
    """Return the gain of the first `cutoff` ranks, each divided by log2(rank + 1).

    ``gains[g]`` is the gain of grade g; that of grade 0 is 0.
    """
    values = np.zeros(len(grades))
    _of_queries(_discounted_gain, grades, gains, cutoff, values)
    return values


def _of_queries(part: Any, rows: npt.NDArray[Any], *arguments: Any) -> None:
    """Call a kernel for all queries, each of which has one row, in ranges of queries."""
    parallel_ranges(lambda begin, end: part(begin, end, rows, *arguments), len(rows))
