"""Where rankings come from: Hamming distances between codes.

A ranking is made once from codes and labels; any number of measures is derived from it. What it
holds for every query is the number of items at each distance, by grade: queries x (bits + 1)
numbers, found in one pass over the database. Orders that need the items themselves
(``ties=index``) take a second pass, for the queries of one block at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.base.codes import Words, as_words
from hashbench.base.errors import HashbenchError
from hashbench.measures import kernels
from hashbench.measures.labels import label_words
from hashbench.measures.orders import Counts, Grades, ItemOrder, Order, TiedOrder

Rel = int | str

#: Database rows read together; a memory map never has more than these in memory.
DATABASE_ROWS = 1 << 18

#: Bytes that one block of queries may take for its order of items.
BLOCK_BYTES = 1 << 25


class Block(ABC):
    """The rankings of some queries.

    Attributes
    ----------
    queries : slice
        Which queries.
    """

    queries: slice

    @abstractmethod
    def counts(self, rel: Rel) -> Counts:
        """Return the items of each bucket by grade, (queries, buckets, grades)."""

    @abstractmethod
    def grades(self, rel: Rel) -> Grades:
        """Return the grades in rank order, ties as the database is ordered."""

    def order(self, rel: Rel, ties: str) -> Order:
        """Return the ranking with its ties treated as asked."""
        if ties == "index":
            return ItemOrder(self.grades(rel), relevant(self.counts(rel)))
        return TiedOrder(self.counts(rel), ties)


class Ranking(ABC):
    """The database ranked for every query.

    Attributes
    ----------
    n_queries, n_database : int
    """

    n_queries: int
    n_database: int

    @abstractmethod
    def blocks(self, depth: int) -> Iterator[Block]:
        """Yield all queries in blocks, where `grades` reaches at least down to rank `depth`."""

    @abstractmethod
    def distance_counts(self, rel: Rel) -> Counts:
        """Return the items at each Hamming distance by grade, (queries, bits + 1, grades)."""


class HammingRanking(Ranking):
    """Items ranked by the Hamming distance between their codes and a query's.

    Parameters
    ----------
    query_words, database_words : (n, ceil(bits / 64)) uint64
        Codes as `hashbench.base.codes.pack` makes them; the database may be a memory map.
    n_bits : int
    query_labels, database_labels : (n, label words) uint64
        Labels as `hashbench.measures.labels.label_words` makes them.
    """

    def __init__(
        self,
        query_words: Words,
        database_words: Words,
        n_bits: int,
        query_labels: Words,
        database_labels: Words,
    ) -> None:
        check_rows(query_words, query_labels, "query", "codes")
        check_rows(database_words, database_labels, "database", "codes")
        self.n_queries, self.n_database = len(query_words), len(database_words)
        self.n_bits = n_bits
        self.query_words, self.database_words = np.array(query_words), database_words
        self.query_labels, self.database_labels = np.array(query_labels), database_labels
        self._counts: dict[Rel, Counts] = {}

    def distance_counts(self, rel: Rel) -> Counts:
        """Return the items at each distance by grade; found in one pass, then kept."""
        if rel not in self._counts:
            levels = n_grades(self.query_labels, rel)
            counts = np.zeros((self.n_queries, self.n_bits + 1, levels), np.int64)
            for words, labels in self._database():
                kernels.count_distances(
                    self.query_words, words, self.query_labels, labels, code_of(rel), counts
                )
            self._counts[rel] = counts
        return self._counts[rel]

    def blocks(self, depth: int) -> Iterator[Block]:
        """Yield the queries, all at once unless their order of items takes too much memory."""
        rows = max(1, BLOCK_BYTES // (2 * max(depth, 1)))
        for start in range(0, self.n_queries, rows):
            yield _HammingBlock(self, slice(start, start + rows), depth)

    def order_items(self, rel: Rel, queries: slice, depth: int) -> Grades:
        """Return the grades of the first `depth` ranks, tied items in database order."""
        ends = self.distance_counts(rel)[queries].sum(axis=2).cumsum(axis=1)
        cursor = np.zeros_like(ends)
        cursor[:, 1:] = ends[:, :-1]
        grades = np.zeros((len(ends), depth), np.uint16)
        for words, labels in self._database():
            kernels.order_items(
                self.query_words[queries],
                words,
                self.query_labels[queries],
                labels,
                code_of(rel),
                np.minimum(ends, depth),
                cursor,
                grades,
            )
        return grades

    def _database(self) -> Iterator[tuple[Words, Words]]:
        """Yield the database in blocks, items in columns."""
        for start in range(0, self.n_database, DATABASE_ROWS):
            rows = slice(start, start + DATABASE_ROWS)
            yield columns(self.database_words[rows]), columns(self.database_labels[rows])


class _HammingBlock(Block):
    def __init__(self, ranking: HammingRanking, queries: slice, depth: int) -> None:
        self._ranking, self.queries, self._depth = ranking, queries, depth
        self._grades: dict[Rel, Grades] = {}

    def counts(self, rel: Rel) -> Counts:
        return self._ranking.distance_counts(rel)[self.queries]

    def grades(self, rel: Rel) -> Grades:
        if rel not in self._grades:
            self._grades[rel] = self._ranking.order_items(rel, self.queries, self._depth)
        return self._grades[rel]


def hamming_ranking(
    query_codes: Any,
    database_codes: Any,
    query_labels: Any,
    database_labels: Any,
    n_bits: int | None = None,
) -> HammingRanking:
    """Return the ranking for codes and labels in any of the forms that people keep them in.

    See `hashbench.base.codes.as_codes` for codes and `hashbench.measures.labels.label_words` for
    labels.
    """
    query_words, query_bits = as_words(query_codes, n_bits, what="query codes")
    database_words, database_bits = as_words(database_codes, n_bits, what="database codes")
    if query_bits != database_bits:
        raise HashbenchError(
            f"codes: found {query_bits} bits for queries and {database_bits} for the database; "
            "must be equal; items are rows"
        )
    labels = label_words(query_labels, database_labels)
    return HammingRanking(query_words, database_words, query_bits, *labels)


def relevant(counts: Counts) -> npt.NDArray[np.int64]:
    """Return how many items of grade 1 or more each query has, (queries,)."""
    return np.asarray(counts[:, :, 1:].sum(axis=(1, 2)))


def n_grades(query_labels: Words, rel: Rel) -> int:
    """Return how many grades there are: 2, or one more than a query's labels at most."""
    if rel != "graded":
        return 2
    return int(np.bitwise_count(query_labels).sum(axis=1).max()) + 1


def code_of(rel: Rel) -> int:
    """Return the kernels' number for a relevance."""
    return kernels.GRADED if isinstance(rel, str) else rel


def columns(words: Words) -> Words:
    """Return packed rows as columns, in memory of their own (a memory map is read-only)."""
    return np.array(words.T, np.uint64, order="C")


def check_rows(items: npt.NDArray[Any], labels: Words, part: str, kind: str) -> None:
    """Refuse labels that do not belong to the items."""
    if len(items) != len(labels):
        raise HashbenchError(
            f"{part}: found {len(items)} rows of {kind} and {len(labels)} of labels; must be equal"
        )
