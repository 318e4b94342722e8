"""Rankings by inner product, for methods whose queries and items are vectors, not codes.

The same measures under the same names: tied items are those with exactly equal scores. A matrix
product rounds one and the same sum differently in different places of the result, so that equal
items would not be tied; therefore the product is taken with different items only. Scores are
computed for a block of queries at a time, never for all. What speaks of a Hamming radius is not
defined here.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from hashbench.base.codes import Words
from hashbench.base.errors import HashbenchError
from hashbench.measures import kernels, order_kernels
from hashbench.measures.labels import label_words
from hashbench.measures.orders import Counts, Grades
from hashbench.measures.rankings import (
    Block,
    Ranking,
    Rel,
    check_rows,
    code_of,
    columns,
    n_grades,
)

Vectors = npt.NDArray[np.float32]

#: Bytes that one block of queries may take for scores, orders and counts.
BLOCK_BYTES = 1 << 27


class ScoreRanking(Ranking):
    """Items ranked by their inner product with a query, highest first.

    Parameters
    ----------
    query_vectors, database_vectors : (n, d) float32
    query_labels, database_labels : (n, label words) uint64
        Labels as `hashbench.measures.labels.label_words` makes them.
    """

    def __init__(
        self,
        query_vectors: Vectors,
        database_vectors: Vectors,
        query_labels: Words,
        database_labels: Words,
    ) -> None:
        check_rows(query_vectors, query_labels, "query", "vectors")
        check_rows(database_vectors, database_labels, "database", "vectors")
        self.n_queries, self.n_database = len(query_vectors), len(database_vectors)
        self.query_vectors = query_vectors
        self._different, self._which = _distinct(database_vectors)
        self.query_labels, self.database_labels = np.array(query_labels), columns(database_labels)

    def blocks(self, depth: int) -> Iterator[Block]:
        """Yield as many queries at once as their scores and counts leave room for."""
        levels = n_grades(self.query_labels, "graded")
        rows = max(1, BLOCK_BYTES // (self.n_database * (24 + 8 * levels)))
        for start in range(0, self.n_queries, rows):
            yield _ScoreBlock(self, slice(start, start + rows))

    def scores(self, queries: slice) -> Vectors:
        """Return the inner products of some queries with all items, (queries, n)."""
        scores = self.query_vectors[queries] @ self._different.T
        return scores if self._which is None else scores[:, self._which]

    def distance_counts(self, rel: Rel) -> NoReturn:
        """Refuse: inner products have no Hamming radius."""
        raise HashbenchError(
            "measures by Hamming radius (lookup, PRarea, PR(by=radius)) are not defined for items "
            "ranked by inner product; allowed: AP, P, R, nDCG, PR"
        )


class _ScoreBlock(Block):
    def __init__(self, ranking: ScoreRanking, queries: slice) -> None:
        self._ranking, self.queries = ranking, queries
        self._graded: dict[Rel, Grades] = {}
        self._counted: dict[Rel, Counts] = {}

    @cached_property
    def _ranked(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint32]]:
        """The items in rank order, ties in database order, and their keys."""
        # where items repeat, numpy lays scores out by items: another kernel to compile
        keys = np.ascontiguousarray(descending_keys(self._ranking.scores(self.queries)))
        items = np.empty(keys.shape, np.int32)
        order_kernels.sort_items(keys, items)
        return items, keys

    def grades(self, rel: Rel) -> Grades:
        if rel not in self._graded:
            labels = self._ranking.query_labels[self.queries]
            grades = np.empty((len(labels), self._ranking.n_database), np.uint32)
            kernels.grade_items(labels, self._ranking.database_labels, code_of(rel), grades)
            ordered = np.take_along_axis(grades, self._ranked[0], axis=1)
            self._graded[rel] = ordered.astype(np.uint16)
        return self._graded[rel]

    def counts(self, rel: Rel) -> Counts:
        if rel not in self._counted:
            levels = n_grades(self._ranking.query_labels, rel)
            grades = self.grades(rel)
            counts = np.zeros((*grades.shape, levels), np.int64)
            order_kernels.count_runs(self._ranked[1], grades, counts)
            self._counted[rel] = counts
        return self._counted[rel]


def _distinct(vectors: Vectors) -> tuple[Vectors, npt.NDArray[np.intp] | None]:
    """Return the different rows, and which of them each row is; None if no row occurs twice."""
    rows = np.ascontiguousarray(vectors + np.float32(0))  # bytes tell -0 from 0
    whole = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1])))
    _, first, which = np.unique(whole, return_index=True, return_inverse=True)
    if len(first) == len(vectors):
        return vectors, None
    return np.ascontiguousarray(vectors[first]), which.reshape(-1)


def descending_keys(scores: Vectors) -> npt.NDArray[np.uint32]:
    """Return whole numbers that are equal where scores are, and smaller where they are larger.

    The bits of positive floats are ordered as the numbers are, those of negative ones the other
    way round; adding 0 turns -0 into 0.
    """
    bits = (scores + np.float32(0)).view(np.uint32)
    return np.where(bits >> 31, bits, ~bits & np.uint32(0x7FFFFFFF))


def score_ranking(
    query_vectors: Any, database_vectors: Any, query_labels: Any, database_labels: Any
) -> ScoreRanking:
    """Return the ranking by inner product, after looking at what came in."""
    query, database = _vectors(query_vectors, "query"), _vectors(database_vectors, "database")
    if query.shape[1] != database.shape[1]:
        raise HashbenchError(
            f"vectors: found {query.shape[1]} dimensions for queries and {database.shape[1]} for "
            "the database; must be equal"
        )
    return ScoreRanking(query, database, *label_words(query_labels, database_labels))


def _vectors(values: Any, part: str) -> Vectors:
    vectors = np.ascontiguousarray(values, dtype=np.float32)
    if vectors.ndim != 2 or 0 in vectors.shape:
        raise HashbenchError(
            f"{part} vectors: found shape {vectors.shape}; allowed: (items, dimensions)"
        )
    if not np.isfinite(vectors).all():
        raise HashbenchError(f"{part} vectors: found nan or infinity; allowed: finite numbers")
    return vectors
