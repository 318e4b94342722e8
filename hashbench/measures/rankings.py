"""Rankings of the database by Hamming distance.

A ranking is made once from codes and labels; any number of measures is derived from it. For every
query it holds the number of items at each distance, by grade: queries x (bits + 1) numbers, found
in one pass over the database. Measures that need the items in order (``ties=index``) take a second
pass, for one block of queries at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from hashbench.core.codes import Words, as_array, as_words, pack, unpack
from hashbench.core.errors import HashbenchError
from hashbench.measures import kernels
from hashbench.measures.grammar import Value
from hashbench.measures.labels import label_words
from hashbench.measures.ranked_items import Counts, Grades, RankedItems

#: Database rows read together; a memory map never has more than these in memory.
DATABASE_ROWS = 1 << 18

#: Bytes that one block of queries may take for its order of items.
BLOCK_BYTES = 1 << 25


class Ranking(ABC):
    """The database ranked for every query.

    Parameters
    ----------
    n_queries, n_database : int
    query_labels, database_labels : (n, label words) uint64
        Labels as `hashbench.measures.labels.label_words` makes them.
    pairs : (queries,) or (queries, partners) ints, optional
        Positions of each query's partners in the database; -1 where there is none.

    Attributes
    ----------
    width : int
        Number of bits, or of dimensions.
    """

    width: int

    def __init__(
        self,
        n_queries: int,
        n_database: int,
        query_labels: Words,
        database_labels: Words,
        pairs: Any = None,
    ) -> None:
        self.n_queries, self.n_database = n_queries, n_database
        self.query_labels, self.database_labels = np.array(query_labels), database_labels
        self.pairs = None if pairs is None else check_pairs(pairs, n_queries, n_database)

    @abstractmethod
    def blocks(self, depths: Mapping[Value, int]) -> Iterator[Mapping[Value, RankedItems]]:
        """Yield the ranked items of all queries in blocks, by relevance.

        Parameters
        ----------
        depths : relevance -> down to which rank the items are needed in database order
        """

    @abstractmethod
    def shuffled(
        self, queries: npt.NDArray[np.intp], times: int, generator: np.random.Generator
    ) -> Self:
        """Return the ranking for some queries so many times, one time after the other.

        Each time the bits or dimensions of all queries are permuted and flipped alike.
        """

    def labels_of(self, relevance: Value, queries: slice) -> Iterator[tuple[slice, Words, Words]]:
        """Yield groups of queries, their labels and those of the database, packed.

        If only the query's partner is relevant, each of up to 64 queries is a class of its own.
        """
        start, stop, _ = queries.indices(self.n_queries)
        if relevance != "pair":
            yield slice(start, stop), self.query_labels[start:stop], self.database_labels
            return
        assert self.pairs is not None
        for begin in range(start, stop, 64):
            group = slice(begin, min(begin + 64, stop))
            pairs = self.pairs[group]
            classes = np.uint64(1) << np.arange(len(pairs), dtype=np.uint64)
            labels = np.zeros((self.n_database, 1), np.uint64)
            rows, columns = np.nonzero(pairs >= 0)
            np.bitwise_or.at(labels[:, 0], pairs[rows, columns], classes[rows])
            yield group, classes[:, None], labels

    def n_grades(self, relevance: Value) -> int:
        """Return the number of grades: 2, or one more than the most labels of a query."""
        if relevance != "graded":
            return 2
        return int(np.bitwise_count(self.query_labels).sum(axis=1).max()) + 1


class HammingRanking(Ranking):
    """Items ranked by the Hamming distance between their codes and a query's.

    Parameters
    ----------
    query_words, database_words : (n, ceil(bits / 64)) uint64
        Codes as `hashbench.core.codes.pack` makes them; the database may be a memory map.
    n_bits : int
    query_labels, database_labels, pairs
        As in `Ranking`.
    """

    def __init__(
        self,
        query_words: Words,
        database_words: Words,
        n_bits: int,
        query_labels: Words,
        database_labels: Words,
        pairs: Any = None,
    ) -> None:
        check_rows(query_words, query_labels, "query", "codes")
        check_rows(database_words, database_labels, "database", "codes")
        super().__init__(
            len(query_words), len(database_words), query_labels, database_labels, pairs
        )
        self.n_bits = self.width = n_bits
        self.query_words, self.database_words = np.array(query_words), database_words
        self._counts: dict[Value, Counts] = {}

    def shuffled(
        self, queries: npt.NDArray[np.intp], times: int, generator: np.random.Generator
    ) -> Self:
        """Return the ranking for some queries so many times, with permuted and flipped bits."""
        bits = unpack(self.query_words[queries], self.n_bits)
        words = [
            pack(
                bits[:, generator.permutation(self.n_bits)] ^ (generator.random(self.n_bits) < 0.5)
            )
            for _ in range(times)
        ]
        labels = np.tile(self.query_labels[queries], (times, 1))
        pairs = None if self.pairs is None else np.tile(self.pairs[queries], (times, 1))
        return type(self)(
            np.concatenate(words),
            self.database_words,
            self.n_bits,
            labels,
            self.database_labels,
            pairs,
        )

    def distance_counts(self, relevance: Value) -> Counts:
        """Return the items at each distance by grade, (queries, bits + 1, grades).

        They are found in one pass over the database, then kept.
        """
        if relevance not in self._counts:
            shape = self.n_queries, self.n_bits + 1, self.n_grades(relevance)
            counts = np.zeros(shape, np.int64)
            rel = kernel_code(relevance)
            for group, own, labels in self.labels_of(relevance, slice(None)):
                for words, label_rows in self._database(labels):
                    kernels.count_distances(
                        self.query_words[group], words, own, label_rows, rel, counts[group]
                    )
            self._counts[relevance] = counts
        return self._counts[relevance]

    def blocks(self, depths: Mapping[Value, int]) -> Iterator[Mapping[Value, RankedItems]]:
        """Yield the queries, all at once unless their order of items takes too much memory."""
        rows = max(1, BLOCK_BYTES // (2 * max(1, *depths.values())))
        for start in range(0, self.n_queries, rows):
            queries = slice(start, start + rows)
            yield {
                relevance: RankedItems(
                    self.distance_counts(relevance)[queries],
                    self.rank_grades(relevance, queries, depth) if depth else None,
                )
                for relevance, depth in depths.items()
            }

    def rank_grades(self, relevance: Value, queries: slice, depth: int) -> Grades:
        """Return the grades of the first `depth` ranks, tied items in database order."""
        ends = self.distance_counts(relevance)[queries].sum(axis=2).cumsum(axis=1)
        next_rank = np.zeros_like(ends)
        next_rank[:, 1:] = ends[:, :-1]
        stops = np.minimum(ends, depth)
        grades = np.zeros((len(ends), depth), np.uint16)
        rel, first = kernel_code(relevance), queries.indices(self.n_queries)[0]
        for group, own, labels in self.labels_of(relevance, queries):
            rows = slice(group.start - first, group.stop - first)
            for words, label_rows in self._database(labels):
                kernels.rank_grades(
                    self.query_words[group],
                    words,
                    own,
                    label_rows,
                    rel,
                    stops[rows],
                    next_rank[rows],
                    grades[rows],
                )
        return grades

    def _database(self, labels: Words) -> Iterator[tuple[Words, Words]]:
        """Yield codes and labels of the database in blocks, items in columns."""
        for start in range(0, self.n_database, DATABASE_ROWS):
            rows = slice(start, start + DATABASE_ROWS)
            yield in_columns(self.database_words[rows]), in_columns(labels[rows])


def hamming_ranking(
    query_codes: Any,
    database_codes: Any,
    query_labels: Any,
    database_labels: Any,
    n_bits: int | None = None,
    pairs: Any = None,
) -> HammingRanking:
    """Return the ranking for codes and labels in any of the forms that people keep them in.

    See `hashbench.core.codes.as_codes` for codes and `hashbench.measures.labels.label_words` for
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
    return HammingRanking(query_words, database_words, query_bits, *labels, pairs)


def kernel_code(relevance: Value) -> int:
    """Return the kernels' number for a relevance."""
    if isinstance(relevance, int):
        return relevance
    return kernels.GRADED if relevance == "graded" else 1


def in_columns(words: Words) -> Words:
    """Return packed rows as columns, in memory of their own (a memory map is read-only)."""
    return np.array(words.T, np.uint64, order="C")


def check_rows(items: npt.NDArray[Any], labels: Words, part: str, kind: str) -> None:
    """Refuse labels that do not belong to the items."""
    if len(items) != len(labels):
        raise HashbenchError(
            f"{part}: found {len(items)} rows of {kind} and {len(labels)} of labels; must be equal"
        )


def check_pairs(pairs: Any, n_queries: int, n_database: int) -> npt.NDArray[np.int64]:
    """Return positions of partners as (queries, partners) int64."""
    array = as_array(pairs, "pairs")
    if array.ndim not in (1, 2) or len(array) != n_queries or array.dtype.kind not in "iu":
        raise HashbenchError(
            f"pairs: found shape {array.shape} of {array.dtype}; allowed: one position in the "
            f"database, or several, for each of {n_queries} queries"
        )
    wrong = array[(array < -1) | (array >= n_database)]
    if wrong.size:
        raise HashbenchError(
            f"pairs: found position {wrong[0]}; allowed: 0 to {n_database - 1}, and -1 for none"
        )
    return array.reshape(n_queries, -1).astype(np.int64)
