# mypy: disable-error-code="no-untyped-def,no-untyped-call"
"""Values of ranked measures for one order of the items, and the order that scores give.

``grades[q, i]`` is the grade of the item at rank i + 1: 0 or 1 for relevance, or the number of
shared labels. Only the first ranks need to be there, as many as the cutoff asks for.

No kernel here calls one of another file: what is compiled is kept until its own file changes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.base.compiled import kernel
from hashbench.base.threads import parallel_ranges
from hashbench.measures.tie_kernels import ALL, RETRIEVED

Grades = npt.NDArray[np.uint16]
Values = npt.NDArray[np.float64]


@kernel()
def _sum_of_precisions(grades, most):
    """Return the number of hits in some ranks, `most` at most, and the sum of precisions at them.

    The places of the hits are written down first, without a branch: whether an item is relevant
    is what a processor guesses worst.
    """
    places = np.empty(grades.size + 1, np.int32)
    found = 0
    for i in range(grades.size):
        places[found] = i
        found += grades[i] > 0
    total = 0.0
    for hit in range(min(found, most)):
        total += (hit + 1) / (places[hit] + 1)
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
        As in `hashbench.measures.tie_kernels.average_precision`.

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
        for point in range(ranks.size):
            while i < min(ranks[point], grades.shape[1]):
                found += grades[q, i] > 0
                i += 1
            counted[q, point] = found


def hits(grades: Grades, ranks: npt.NDArray[np.int64]) -> Values:
    """Return how many relevant items stand in the first k ranks, (queries, points) float64."""
    counted = np.empty((len(grades), ranks.size))
    _of_queries(_hits, grades, ranks, counted)
    return counted


@kernel()
def _discounted_gain(begin, end, grades, cutoff, values):
    for q in range(begin, end):
        for i in range(min(cutoff, grades.shape[1])):
            if grades[q, i] > 0:
                values[q] += grades[q, i] / np.log2(i + 2.0)


def discounted_gain(grades: Grades, cutoff: int) -> Values:
    """Return the gain of the first `cutoff` ranks, each divided by log2(rank + 1)."""
    values = np.zeros(len(grades))
    _of_queries(_discounted_gain, grades, cutoff, values)
    return values


@kernel()
def _sort_queries(begin, end, keys, items):
    digits = np.uint32(2047)
    count = keys.shape[1]
    key, sorted_key = np.empty(count, np.uint32), np.empty(count, np.uint32)
    item, sorted_item = np.empty(count, np.int32), np.empty(count, np.int32)
    place = np.empty(2049, np.int64)
    for q in range(begin, end):
        for i in range(count):
            key[i], item[i] = keys[q, i], i
        for shift in (np.uint32(0), np.uint32(11), np.uint32(22)):
            place[:] = 0
            for i in range(count):
                place[((key[i] >> shift) & digits) + 1] += 1
            for digit in range(1, place.size):
                place[digit] += place[digit - 1]
            for i in range(count):
                digit = (key[i] >> shift) & digits
                sorted_key[place[digit]] = key[i]
                sorted_item[place[digit]] = item[i]
                place[digit] += 1
            key, sorted_key = sorted_key, key
            item, sorted_item = sorted_item, item
        for i in range(count):
            keys[q, i], items[q, i] = key[i], item[i]


def sort_items(keys: npt.NDArray[np.uint32], items: npt.NDArray[np.int32]) -> None:
    """Sort items by their keys, smallest first, equal keys as they stand.

    A radix sort in three rounds of eleven bits: the number of rounds does not grow with the
    database, and every round keeps the order of equal digits.

    Parameters
    ----------
    keys : (queries, items) uint32
        Sorted in place.
    items : (queries, items) int32
        Changed in place: the items in rank order.
    """
    _of_queries(_sort_queries, keys, items)


@kernel()
def _count_runs(begin, end, keys, grades, counts):
    for q in range(begin, end):
        run = 0
        for i in range(keys.shape[1]):
            if keys[q, i] != keys[q, run]:
                run = i
            counts[q, run, grades[q, i]] += 1


def count_runs(keys: npt.NDArray[np.uint32], grades: Grades, counts: npt.NDArray[np.int64]) -> None:
    """Count the items of every run of equal keys at the place where the run begins.

    Parameters
    ----------
    keys : (queries, items) uint32, in rank order
    grades : (queries, items) uint16, in rank order
    counts : (queries, items, grades) int64
        Changed in place; a place where no run begins stays an empty bucket.
    """
    _of_queries(_count_runs, keys, grades, counts)


def _of_queries(part: Any, rows: npt.NDArray[Any], *arguments: Any) -> None:
    """Call a kernel for all queries, of which each has a row, in parts."""
    parallel_ranges(lambda begin, end: part(begin, end, rows, *arguments), len(rows))
