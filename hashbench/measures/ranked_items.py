"""Ranked items of some queries, and the value of each measure for every query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hashbench.measures import index_order
from hashbench.measures import ties as tie_kernels
from hashbench.measures.grammar import Measure

Counts = npt.NDArray[np.int64]
Grades = npt.NDArray[np.uint16]
Values = npt.NDArray[np.float64]
Ranks = npt.NDArray[np.int64]

_NORMS = {"retrieved": tie_kernels.RETRIEVED, "all": tie_kernels.ALL, "min": tie_kernels.MIN}
_TIES = {
    "expected": tie_kernels.EXPECTED,
    "optimistic": tie_kernels.OPTIMISTIC,
    "pessimistic": tie_kernels.PESSIMISTIC,
}


@dataclass(frozen=True)
class RankedItems:
    """Items ranked for some queries.

    Attributes
    ----------
    counts : (queries, buckets, grades) int64
        Number of items of each grade in each bucket of tied items.
    grades : (queries, depth) uint16 or None
        Grades in rank order with ties in database order, as deep as needed.
    ties : "expected", "optimistic" or "pessimistic"
        How the methods below treat ties if they have no `grades`, whose order they use otherwise.
    """

    counts: Counts
    grades: Grades | None = None
    ties: str = "expected"

    @property
    def n_items(self) -> int:
        """Number of items in the database."""
        return int(self.counts[0].sum())

    @property
    def n_relevant(self) -> npt.NDArray[np.int64]:
        """Number of items of grade 1 or more in the database, (queries,)."""
        return np.asarray(self.counts[:, :, 1:].sum(axis=(1, 2)))

    def with_ties(self, ties: str) -> RankedItems:
        """Return the same items with ties treated in another way."""
        return RankedItems(self.counts, self.grades if ties == "index" else None, ties)

    def all_tied(self, ties: str = "expected") -> RankedItems:
        """Return the ranking in which all items are tied."""
        return RankedItems(self.counts.sum(axis=1, keepdims=True), ties=ties)

    def average_precision(self, cutoff: int, norm: str) -> Values:
        """Return AP over the first `cutoff` ranks, (queries,); nan without a relevant item.

        With more than two grades, return the mean of ACG at the relevant ranks (WAP).
        """
        if self.grades is not None:
            return index_order.average_precision(self.grades, self.n_relevant, cutoff, _NORMS[norm])
        return np.asarray(
            tie_kernels.average_precision(self.counts, cutoff, _NORMS[norm], _TIES[self.ties])
        )

    def first_hits_precision(self, cutoff: int) -> Values:
        """Return the mean precision at the first `cutoff` relevant items, (queries,)."""
        if self.grades is not None:
            return index_order.first_hits_precision(self.grades, cutoff)
        return np.asarray(tie_kernels.first_hits_precision(self.counts, cutoff, _TIES[self.ties]))

    def hits(self, ranks: npt.ArrayLike) -> Values:
        """Return the number of relevant items in the first k ranks.

        Parameters
        ----------
        ranks : (points,) or (queries, points) ints, ascending

        Returns
        -------
        (queries, points) float64
        """
        shape = len(self.counts), np.shape(ranks)[-1]
        each = np.array(np.broadcast_to(ranks, shape), np.int64, order="C")
        if self.grades is not None:
            return index_order.hits(self.grades, each)
        return np.asarray(tie_kernels.hits(self.counts, each, _TIES[self.ties]))

    def success(self, cutoff: int) -> Values:
        """Return 1 for queries with a relevant item in the first `cutoff` ranks, else 0."""
        if self.grades is None and self.ties == "expected":
            return np.asarray(tie_kernels.expected_success(self.counts, cutoff))
        return (self.hits([cutoff])[:, 0] > 0).astype(np.float64)

    def gain(self, cutoff: int) -> Values:
        """Return the sum of the grades in the first `cutoff` ranks, (queries,)."""
        if self.grades is not None:
            return np.asarray(self.grades[:, :cutoff].sum(axis=1), np.float64)
        cutoff = min(cutoff, self.n_items)
        return self._tied_gain(_gains(self.counts, "linear"), np.arange(cutoff + 1.0), cutoff)

    def discounted_gain(self, cutoff: int, gain: str) -> Values:
        """Return the gain of the first `cutoff` ranks over log2(rank + 1), (queries,)."""
        gains = _gains(self.counts, gain)
        if self.grades is not None:
            return index_order.discounted_gain(self.grades, gains, cutoff)
        cutoff = min(cutoff, self.n_items)
        discounts = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, cutoff + 2)))])
        return self._tied_gain(gains, discounts, cutoff)

    def _tied_gain(self, gains: Values, discounts: Values, cutoff: int) -> Values:
        return np.asarray(
            tie_kernels.discounted_gain(self.counts, gains, discounts, cutoff, _TIES[self.ties])
        )


def _gains(counts: Counts, gain: str) -> Values:
    """Return the gain of each grade."""
    grades = np.arange(counts.shape[2], dtype=np.float64)
    return np.exp2(grades) - 1 if gain == "exp" else grades


def ratio(part: Values, whole: Values) -> Values:
    """Return part / whole, and 0 for 0 / 0."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def of_ranks(measure: Measure, items: RankedItems) -> Values:
    """Return a measure of ranks for every query.

    Returns
    -------
    (queries,) float64; arbitrary where a query has no relevant item.
    """
    return _OF_RANKS[measure.family](measure, items, measure.cutoff or items.n_items)


def _average_precision(measure: Measure, items: RankedItems, cutoff: int) -> Values:
    if measure["cut"] == "hits":
        return items.first_hits_precision(cutoff)
    values = items.average_precision(cutoff, str(measure["norm"] or "retrieved"))
    if measure["no_hits"] == "skip":
        values[items.hits([cutoff])[:, 0] == 0] = np.nan
    return values


def _precision(measure: Measure, items: RankedItems, cutoff: int) -> Values:
    return items.hits([cutoff])[:, 0] / cutoff


def _recall(measure: Measure, items: RankedItems, cutoff: int) -> Values:
    return ratio(items.hits([cutoff])[:, 0], items.n_relevant.astype(np.float64))


def _f1(measure: Measure, items: RankedItems, cutoff: int) -> Values:
    return 2 * items.hits([cutoff])[:, 0] / (cutoff + items.n_relevant)


def _success(measure: Measure, items: RankedItems, cutoff: int) -> Values:
    return items.success(cutoff)


def _reciprocal_rank(measure: Measure, items: RankedItems, cutoff: int) -> Values:
    return items.first_hits_precision(1)  # at rank i it is 1 / i


def _r_precision(measure: Measure, items: RankedItems, cutoff: int) -> Values:
    n_relevant = items.n_relevant
    found = items.hits(np.maximum(n_relevant, 1)[:, None])[:, 0]
    return ratio(found, n_relevant.astype(np.float64))


def _ndcg(measure: Measure, items: RankedItems, cutoff: int) -> Values:
    gain = str(measure["gain"])
    best = items.all_tied("optimistic").discounted_gain(cutoff, gain)
    return ratio(items.discounted_gain(cutoff, gain), best)


def _mean_gain(measure: Measure, items: RankedItems, cutoff: int) -> Values:
    return items.gain(cutoff) / cutoff


def _weighted_average_precision(measure: Measure, items: RankedItems, cutoff: int) -> Values:
    return items.average_precision(cutoff, "retrieved")


_OF_RANKS: dict[str, Callable[[Measure, RankedItems, int], Values]] = {
    "AP": _average_precision,
    "P": _precision,
    "R": _recall,
    "F1": _f1,
    "Success": _success,
    "RR": _reciprocal_rank,
    "Rprec": _r_precision,
    "nDCG": _ndcg,
    "ACG": _mean_gain,
    "WAP": _weighted_average_precision,
}


def rank_curve(items: RankedItems, ranks: Ranks) -> Values:
    """Return precision and recall at ascending ranks, (queries, points, 2)."""
    hits = items.hits(ranks)
    recall = ratio(hits, items.n_relevant.astype(np.float64)[:, None])
    return np.stack([hits / ranks, recall], axis=2)


def radius_curve(counts: Counts) -> Values:
    """Return precision and recall within every Hamming radius, (queries, bits + 1, 2).

    Parameters
    ----------
    counts : (queries, bits + 1, 2) int64
        Irrelevant and relevant items at each distance. Where no item is within a radius, the
        precision is 0.
    """
    within = counts.cumsum(axis=1).astype(np.float64)
    hits = within[:, :, 1]
    return np.stack([ratio(hits, within.sum(axis=2)), ratio(hits, hits[:, -1:])], axis=2)


def of_radius(measure: Measure, counts: Counts) -> Values:
    """Return a measure by Hamming radius for every query, from counts as in `radius_curve`."""
    curve = radius_curve(counts)
    if measure.family == "PRarea":
        return _area(curve, counts)
    radius = min(int(measure["radius"] or 0), counts.shape[1] - 1)
    precision, recall = curve[:, radius, 0], curve[:, radius, 1]
    if measure.family == "F1":
        return ratio(2 * precision * recall, precision + recall)
    if measure.family == "Success":
        return (recall > 0).astype(np.float64)
    return recall if measure.family == "R" else precision


def _area(curve: Values, counts: Counts) -> Values:
    """Return the area under precision over recall by radius, (queries,).

    Neighbouring radii are joined by straight lines. Left of the first radius with an item inside
    the precision is constant.
    """
    precision, recall = curve[:, :, 0], curve[:, :, 1]
    first = (counts.sum(axis=2) > 0).argmax(axis=1)
    rows = np.arange(len(precision))
    level = recall[rows, first] * precision[rows, first]
    steps = np.diff(recall, axis=1) * (precision[:, 1:] + precision[:, :-1]) / 2
    steps[np.arange(steps.shape[1]) < first[:, None]] = 0
    return np.asarray(level + steps.sum(axis=1))
