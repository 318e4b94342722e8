# mypy: disable-error-code="no-untyped-def,call-arg,unreachable"
"""Passes over all pairs of queries and items, in compiled loops.

Codes and labels come packed into 64-bit words, so that a distance is a population count of an
exclusive or and a relevance is an and. Items are in columns, word by word, (words, items),
because then the inner loops run over neighbouring memory and compile to vector instructions.
Everything runs in parallel over queries (`hashbench.core.threads`) and is compiled once for all
processes (a cache on disk).

Two arrays leave this module. ``counts[q, d, g]`` is the number of items in bucket d (tied items)
of query q that have grade g; the grade is 0 or 1 for relevance, or the number of shared labels.
``grades[q, i]`` is the grade of the item at rank i when ties are ordered as the database is.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hashbench.core.codes import Words
from hashbench.core.compilation import kernel
from hashbench.core.threads import parallel_ranges

#: Grade items by the number of shared labels; any other `rel` t: 1 if at least t are shared.
GRADED = 0

#: Items handled together: distances and grades of a tile stay in the first-level cache.
TILE = 4096

#: Fewer when items are put in order, because a tile without an item of interest is skipped.
TILE_ORDER = 512

#: Two items are counted by one increment while the table of pairs of keys stays this small.
MOST_PAIRS = 1 << 17


@kernel()
def _popcount(word):
    """Count the ones of a 64-bit word: in pairs of bits, in fours, in bytes, in all.

    LLVM recognises this form and uses the processor's own instruction where it has one.
    """
    twos, fours = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
    bytes_, ones = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
    word -= (word >> np.uint64(1)) & twos
    word = (word & fours) + ((word >> np.uint64(2)) & fours)
    word = (word + (word >> np.uint64(4))) & bytes_
    return (word * ones) >> np.uint64(56)


@kernel()
def _add_distances(row, word, step, keys):
    """Add `step` for every bit in which one word of the items differs from the query's."""
    for i in range(keys.size):
        keys[i] += np.uint32(_popcount(row[i] ^ word)) * step


@kernel()
def _any_shared(row, word, keys):
    for i in range(keys.size):
        keys[i] |= np.uint32((row[i] & word) != np.uint64(0))


@kernel()
def _add_shared(row, word, keys):
    for i in range(keys.size):
        keys[i] += np.uint32(_popcount(row[i] & word))


@kernel()
def _grade(labels, start, query, rel, keys):
    """Write the grades of a tile of items into `keys`."""
    keys[:] = 0
    for w in range(labels.shape[0]):
        row = labels[w, start : start + keys.size]
        if rel == 1:
            _any_shared(row, query[w], keys)
        else:
            _add_shared(row, query[w], keys)
    if rel > 1:
        for i in range(keys.size):
            keys[i] = np.uint32(keys[i] >= rel)


@kernel()
def _write_pairs(rows, word, labels, label, step, size, keys):
    """Write the keys of pairs of items in one loop: one label word, relevance by any label."""
    half = keys.size
    first, second = rows[:half], rows[half:]
    first_labels, second_labels = labels[:half], labels[half:]
    for i in range(half):
        one = np.uint32((first_labels[i] & label) != np.uint64(0))
        one += np.uint32(_popcount(first[i] ^ word)) * step
        two = np.uint32((second_labels[i] & label) != np.uint64(0))
        two += np.uint32(_popcount(second[i] ^ word)) * step
        keys[i] = one * size + two


@kernel()
def _add_pairs(rows, word, step, size, keys):
    """Add the distances in one more word to the keys of pairs."""
    first, second = rows[: keys.size], rows[keys.size :]
    for i in range(keys.size):
        one = np.uint32(_popcount(first[i] ^ word)) * size
        keys[i] += (one + np.uint32(_popcount(second[i] ^ word))) * step


@kernel()
def _join(first, second, size):
    """Make keys of pairs of the keys of single items, in the place of the first."""
    for i in range(first.size):
        first[i] = first[i] * size + second[i]


@kernel()
def _count(keys, table):
    for i in range(keys.size):
        table[keys[i]] += np.uint32(1)


@kernel()
def _take_out(table, size, counts):
    """Move what a table of pairs has counted to the counts of single items."""
    for first in range(size):
        row = table[first * size : (first + 1) * size]
        total = 0
        for second in range(size):
            total += row[second]
            counts[second] += row[second]
            row[second] = 0
        counts[first] += total


@kernel()
def _count_queries(begin, end, query_words, words, query_labels, labels, rel, levels, counts):
    """Do what `count_distances` does for some queries; `counts` has grades within distances."""
    n_items = words.shape[1]
    size = counts.shape[1]
    paired = size * size <= MOST_PAIRS
    simple = paired and rel == 1 and labels.shape[0] == 1
    step = np.uint32(levels)
    # counting pairs halves the increments, and fewer of them wait for one another
    table = np.zeros(size * size if paired else 0, np.uint32)
    buffer = np.empty(TILE, np.uint32)
    for q in range(begin, end):
        own = counts[q]
        for start in range(0, n_items, TILE):
            stop = min(start + TILE, n_items)
            keys = buffer[: stop - start]
            half = keys.size // 2 if paired else 0
            if simple and keys.size % 2 == 0:
                pairs = keys[:half]
                row, label_row = words[0, start:stop], labels[0, start:stop]
                code, label = query_words[q, 0], query_labels[q, 0]
                _write_pairs(row, code, label_row, label, step, np.uint32(size), pairs)
                for w in range(1, words.shape[0]):
                    row = words[w, start:stop]
                    _add_pairs(row, query_words[q, w], step, np.uint32(size), pairs)
            else:
                _grade(labels, start, query_labels[q], rel, keys)
                for w in range(words.shape[0]):
                    _add_distances(words[w, start:stop], query_words[q, w], step, keys)
                for i in range(2 * half, keys.size):
                    own[keys[i]] += 1
                _join(keys[:half], keys[half : 2 * half], np.uint32(size))
            _count(keys[:half], table)
        if paired:
            _take_out(table, size, own)


def count_distances(
    query_words: Words,
    words: Words,
    query_labels: Words,
    labels: Words,
    rel: int,
    counts: npt.NDArray[np.int64],
) -> None:
    """Add a block of the database to the counts of all queries.

    Parameters
    ----------
    query_words : (queries, words) uint64
    words : (words, items) uint64
    query_labels : (queries, label words) uint64
    labels : (label words, items) uint64
    rel : int
        `GRADED`, or how many labels a relevant item shares at least.
    counts : (queries, bits + 1, grades) int64
        Changed in place.
    """
    queries, distances, levels = counts.shape
    flat = counts.reshape(queries, distances * levels)
    arguments = query_words, words, query_labels, labels, rel, levels, flat
    parallel_ranges(lambda begin, end: _count_queries(begin, end, *arguments), queries)


@kernel()
def _rank_grades(begin, end, query_words, words, query_labels, labels, rel, stops, cursor, grades):
    """Do what `rank_grades` does, for some queries."""
    n_items = words.shape[1]
    distances = np.empty(TILE_ORDER, np.uint32)
    grade = np.empty(TILE_ORDER, np.uint32)
    for q in range(begin, end):
        stop, place, found = stops[q], cursor[q], grades[q]
        farthest = stop.size - 1
        for start in range(0, n_items, TILE_ORDER):
            # buckets that are full need no more items: soon most tiles hold nothing of interest
            while farthest >= 0 and place[farthest] >= stop[farthest]:
                farthest -= 1
            if farthest < 0:
                break
            keys = distances[: min(TILE_ORDER, n_items - start)]
            if words.shape[0] == 1:
                row = words[0, start : start + keys.size]
                if _least_distance(row, query_words[q, 0]) > farthest:
                    continue
            keys[:] = 0
            for w in range(words.shape[0]):
                row = words[w, start : start + keys.size]
                _add_distances(row, query_words[q, w], np.uint32(1), keys)
            if _least(keys) > farthest:
                continue
            _grade(labels, start, query_labels[q], rel, grade[: keys.size])
            for i in range(keys.size):
                d = keys[i]
                rank = place[d]
                if rank < stop[d]:
                    found[rank] = grade[i]
                    place[d] = rank + 1


def rank_grades(
    query_words: Words,
    words: Words,
    query_labels: Words,
    labels: Words,
    rel: int,
    stops: npt.NDArray[np.int64],
    cursor: npt.NDArray[np.int64],
    grades: npt.NDArray[np.uint16],
) -> None:
    """Write the grades of a block of the database in rank order, tied items as they come.

    Parameters
    ----------
    query_words, words, query_labels, labels, rel
        As in `count_distances`.
    stops : (queries, bits + 1) int64
        One past the last rank that bucket d fills, at most the depth of `grades`.
    cursor : (queries, bits + 1) int64
        The rank that the next item of bucket d gets; changed in place, carried to the next block.
    grades : (queries, depth) uint16
        The grades in rank order; changed in place.
    """
    arguments = query_words, words, query_labels, labels, rel, stops, cursor, grades
    parallel_ranges(lambda begin, end: _rank_grades(begin, end, *arguments), len(query_words))


@kernel()
def _least_distance(row, word):
    least = np.uint64(64)
    for i in range(row.size):
        least = min(least, _popcount(row[i] ^ word))
    return np.int64(least)


@kernel()
def _least(keys):
    least = keys[0]
    for i in range(1, keys.size):
        least = min(least, keys[i])
    return least


@kernel()
def _grade_queries(begin, end, query_labels, labels, rel, grades):
    for q in range(begin, end):
        _grade(labels, np.int64(0), query_labels[q], rel, grades[q])


def grade_items(
    query_labels: Words, labels: Words, rel: int, grades: npt.NDArray[np.uint32]
) -> None:
    """Write the grade of every item for every query, items in database order.

    Parameters
    ----------
    query_labels : (queries, label words) uint64
    labels : (label words, items) uint64
    rel : int
        As in `count_distances`.
    grades : (queries, items) uint32
        Changed in place.
    """
    arguments = query_labels, labels, rel, grades
    parallel_ranges(lambda begin, end: _grade_queries(begin, end, *arguments), len(query_labels))


@kernel()
def _count_runs(begin, end, keys, grades, counts):
    for q in range(begin, end):
        run = 0
        for i in range(keys.shape[1]):
            if keys[q, i] != keys[q, run]:
                run = i
            counts[q, run, grades[q, i]] += 1


def count_runs(
    keys: npt.NDArray[np.uint32], grades: npt.NDArray[np.uint16], counts: npt.NDArray[np.int64]
) -> None:
    """Count the items of every run of equal keys at the place where the run begins.

    Parameters
    ----------
    keys : (queries, items) uint32, in rank order
    grades : (queries, items) uint16, in rank order
    counts : (queries, items, grades) int64
        Changed in place; a place where no run begins stays an empty bucket.
    """
    parallel_ranges(lambda begin, end: _count_runs(begin, end, keys, grades, counts), len(keys))


@kernel()
def pairs_apart(labels, counts, ends):
    """Count the pairs of items of one group that share no label.

    Parameters
    ----------
    labels : (entries, label words) uint64
        Different labels within each group; the entries of a group are adjacent.
    counts : (entries,) int64
        Items with these labels.
    ends : (entries,) int64
        One past the last entry of the same group.
    """
    apart = 0
    for i in range(counts.size):
        own = np.uint64(0)
        for w in range(labels.shape[1]):
            own |= labels[i, w]
        if own == np.uint64(0):
            apart += counts[i] * (counts[i] - 1) // 2
        for j in range(i + 1, ends[i]):
            shared = np.uint64(0)
            for w in range(labels.shape[1]):
                shared |= labels[i, w] & labels[j, w]
            if shared == np.uint64(0):
                apart += counts[i] * counts[j]
    return apart
