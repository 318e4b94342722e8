"""Rankings by inner product, for methods whose queries and items are vectors, not codes.

The measures and their names are the same: tied items are those with exactly equal scores. A matrix
product rounds one and the same sum differently in different places of the result, so that equal
items would not be tied; therefore the product is taken with distinct items only. Scores are
computed for one block of queries at a time, never for all. Measures by Hamming radius are not
defined here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from hashbench.core.codes import Words
from hashbench.core.errors import HashbenchError
from hashbench.core.threads import parallel_ranges
from hashbench.measures import kernels
from hashbench.measures.grammar import Value
from hashbench.measures.labels import label_words
from hashbench.measures.ranked_items import RankedItems
from hashbench.measures.rankings import Ranking, check_rows, in_columns, kernel_code

Vectors = npt.NDArray[np.float32]

#: Bytes that one block of queries may take for scores, orders and counts.
BLOCK_BYTES = 1 << 27


class ScoreRanking(Ranking):
    """Items ranked by their inner product with a query, highest first.

    Parameters
    ----------
    query_vectors, database_vectors : (n, d) float32
    query_labels, database_labels, pairs
        As in `hashbench.measures.rankings.Ranking`.
    """

    def __init__(
        self,
        query_vectors: Vectors,
        database_vectors: Vectors,
        query_labels: Words,
        database_labels: Words,
        pairs: Any = None,
    ) -> None:
        check_rows(query_vectors, query_labels, "query", "vectors")
        check_rows(database_vectors, database_labels, "database", "vectors")
        super().__init__(
            len(query_vectors), len(database_vectors), query_labels, database_labels, pairs
        )
        self.query_vectors, self.database_vectors = query_vectors, database_vectors
        self.width = query_vectors.shape[1]
        self._distinct, self._which = _distinct(database_vectors)

    def shuffled(
        self, queries: npt.NDArray[np.intp], times: int, generator: np.random.Generator
    ) -> Self:
        """Return the ranking for some queries so many times, with permuted and flipped columns."""
        vectors, columns = self.query_vectors[queries], self.width
        shuffles = [
            vectors[:, generator.permutation(columns)] * generator.choice((-1, 1), columns)
            for _ in range(times)
        ]
        labels = np.tile(self.query_labels[queries], (times, 1))
        pairs = None if self.pairs is None else np.tile(self.pairs[queries], (times, 1))
        return type(self)(
            np.concatenate(shuffles).astype(np.float32),
            self.database_vectors,
            labels,
            self.database_labels,
            pairs,
        )

    def blocks(self, depths: Mapping[Value, int]) -> Iterator[Mapping[Value, RankedItems]]:
        """Yield as many queries at once as memory for their scores and counts allows."""
        levels = sum(self.n_grades(relevance) for relevance in depths)
        rows = max(1, BLOCK_BYTES // (self.n_database * (24 + 8 * levels)))
        for start in range(0, self.n_queries, rows):
            queries = slice(start, start + rows)
            keys, items = sort_items(self.scores(queries))
            yield {each: self._ranked(each, queries, keys, items) for each in depths}

    def scores(self, queries: slice) -> Vectors:
        """Return the inner products of some queries with all items, (queries, n)."""
        scores = self.query_vectors[queries] @ self._distinct.T
        return scores if self._which is None else scores[:, self._which]

    def _ranked(
        self,
        relevance: Value,
        queries: slice,
        keys: npt.NDArray[np.uint32],
        items: npt.NDArray[np.intp],
    ) -> RankedItems:
        grades = np.empty(items.shape, np.uint32)
        for group, own, labels in self.labels_of(relevance, queries):
            rows = slice(group.start - queries.start, group.stop - queries.start)
            kernels.grade_items(own, in_columns(labels), kernel_code(relevance), grades[rows])
        ordered = np.take_along_axis(grades, items, axis=1).astype(np.uint16)
        counts = np.zeros((*items.shape, self.n_grades(relevance)), np.int64)
        kernels.count_runs(keys, ordered, counts)
        return RankedItems(counts, ordered)


def sort_items(scores: Vectors) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.intp]]:
    """Return keys and items in rank order: highest score first, ties in database order.

    Key and item are packed into one 64-bit number, so that numpy's fastest sort keeps the order of
    tied items: its stable argsort takes two to seven times as long.
    """
    keys = descending_keys(scores).astype(np.uint64)
    packed = np.ascontiguousarray(keys << np.uint64(32) | np.arange(keys.shape[1], dtype=np.uint64))
    parallel_ranges(lambda begin, end: packed[begin:end].sort(axis=1), len(packed))
    items = (packed & np.uint64(0xFFFFFFFF)).astype(np.intp)
    return (packed >> np.uint64(32)).astype(np.uint32), items


def _distinct(vectors: Vectors) -> tuple[Vectors, npt.NDArray[np.intp] | None]:
    """Return the distinct rows, and the index of each row in them; None if no row is repeated."""
    rows = np.ascontiguousarray(vectors + np.float32(0))  # the bytes of -0 and 0 differ
    whole = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1])))
    _, first, which = np.unique(whole, return_index=True, return_inverse=True)
    if len(first) == len(vectors):
        return vectors, None
    return np.ascontiguousarray(vectors[first]), which.reshape(-1)


def descending_keys(scores: Vectors) -> npt.NDArray[np.uint32]:
    """Return integers that are equal where scores are, and smaller where scores are larger.

    The bits of positive floats are ordered as the numbers are, those of negative ones in reverse;
    adding 0 turns -0 into 0.
    """
    bits = (scores + np.float32(0)).view(np.uint32)
    return np.where(bits >> 31, bits, ~bits & np.uint32(0x7FFFFFFF))


def score_ranking(
    query_vectors: Any,
    database_vectors: Any,
    query_labels: Any,
    database_labels: Any,
    pairs: Any = None,
) -> ScoreRanking:
    """Check the input and return the ranking by inner product."""
    query, database = _vectors(query_vectors, "query"), _vectors(database_vectors, "database")
    if query.shape[1] != database.shape[1]:
        raise HashbenchError(
            f"vectors: found {query.shape[1]} dimensions for queries and {database.shape[1]} for "
            "the database; must be equal"
        )
    return ScoreRanking(query, database, *label_words(query_labels, database_labels), pairs)


def _vectors(values: Any, part: str) -> Vectors:
    vectors = np.ascontiguousarray(values, dtype=np.float32)
    if vectors.ndim != 2 or 0 in vectors.shape:
        raise HashbenchError(
            f"{part} vectors: found shape {vectors.shape}; allowed: (items, dimensions)"
        )
    if not np.isfinite(vectors).all():
        raise HashbenchError(f"{part} vectors: found nan or infinity; allowed: finite numbers")
    return vectors
