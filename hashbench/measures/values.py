"""From a ranking to the numbers of a measure, one a query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hashbench.base.errors import HashbenchError
from hashbench.measures.names import Measure
from hashbench.measures.orders import Counts, Order, Ranks, TiedOrder, Values
from hashbench.measures.rankings import relevant


@dataclass(frozen=True)
class Ball:
    """What lies within every Hamming radius, 0 up to the number of bits.

    Attributes
    ----------
    items, hits : (queries, bits + 1)
        Items, and relevant items, at most that far away.
    """

    items: Values
    hits: Values

    @classmethod
    def of(cls, counts: Counts) -> Ball:
        """Return the balls for the items at each distance, (queries, bits + 1, 2)."""
        within = counts.cumsum(axis=1).astype(np.float64)
        return cls(within.sum(axis=2), within[:, :, 1])

    def pooled(self, counted: npt.NDArray[np.bool_]) -> Ball:
        """Return the ball of the queries that count together, as if they were one."""
        items, hits = self.items[counted], self.hits[counted]
        return Ball(items.sum(axis=0, keepdims=True), hits.sum(axis=0, keepdims=True))

    @property
    def precision(self) -> Values:
        """Hits over items; an empty ball counts 0."""
        return _ratio(self.hits, self.items)

    @property
    def recall(self) -> Values:
        """Hits over all relevant items; 0 without any."""
        return _ratio(self.hits, self.hits[:, -1:])

    @property
    def curve(self) -> Values:
        """Precision and recall at every radius, (queries, bits + 1, 2)."""
        return np.stack([self.precision, self.recall], axis=2)


def _ratio(part: Values, whole: Values) -> Values:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)  # 0 / 0 counts 0


def of_order(measure: Measure, order: Order, counts: Counts) -> Values:
    """Return a measure's value for every query of a block, for one treatment of ties.

    Parameters
    ----------
    measure : Measure
        Of a family that depends on the order.
    order : Order
    counts : (queries, buckets, grades)
        The same ranking by buckets, for what does not depend on the order.

    Returns
    -------
    (queries,) float64; arbitrary where a query has no relevant item.
    """
    return _BY_ORDER[measure.family](measure, order, counts)


def _average_precision(measure: Measure, order: Order, counts: Counts) -> Values:
    cutoff = measure.cutoff or int(counts[0].sum())
    if measure["cut"] == "hits":
        return order.first_hits_precision(cutoff)
    values = order.average_precision(cutoff, str(measure["norm"]))
    if measure["missed"] == "skip":
        values[order.hits(np.array([cutoff]))[:, 0] == 0] = np.nan
    return values


def _precision(measure: Measure, order: Order, counts: Counts) -> Values:
    assert measure.cutoff is not None
    return order.hits(np.array([measure.cutoff]))[:, 0] / measure.cutoff


def _recall(measure: Measure, order: Order, counts: Counts) -> Values:
    found = order.hits(np.array([measure.cutoff]))[:, 0]
    return _ratio(found, relevant(counts).astype(np.float64))


def _discounted_gain(measure: Measure, order: Order, counts: Counts) -> Values:
    cutoff = measure.cutoff or int(counts[0].sum())
    best = TiedOrder(merged(counts), "optimistic").discounted_gain(cutoff)
    return _ratio(order.discounted_gain(cutoff), best)


_BY_ORDER: dict[str, Callable[[Measure, Order, Counts], Values]] = {
    "AP": _average_precision,
    "P": _precision,
    "R": _recall,
    "nDCG": _discounted_gain,
}


def of_ball(measure: Measure, ball: Ball) -> Values:
    """Return a measure's value for every query from what lies within each radius."""
    if measure.family == "PRarea":
        return area(ball)
    radius = min(int(measure["radius"] or 0), ball.items.shape[1] - 1)
    precision, recall = ball.precision[:, radius], ball.recall[:, radius]
    if measure["of"] == "F1":
        return _ratio(2 * precision * recall, precision + recall)
    if measure["of"] == "success":
        return (ball.hits[:, radius] > 0).astype(np.float64)
    return recall if measure["of"] == "recall" else precision


def area(ball: Ball) -> Values:
    """Return the area under precision over recall by radius, (queries,).

    Neighbouring radii are joined by straight lines. Left of the first radius whose ball holds an
    item the curve is level.
    """
    precision, recall = ball.precision, ball.recall
    first = (ball.items > 0).argmax(axis=1)
    rows = np.arange(len(precision))
    level = recall[rows, first] * precision[rows, first]
    steps = np.diff(recall, axis=1) * (precision[:, 1:] + precision[:, :-1]) / 2
    steps[np.arange(steps.shape[1]) < first[:, None]] = 0
    return np.asarray(level + steps.sum(axis=1))


def merged(counts: Counts) -> Counts:
    """Return the ranking in which all items are tied."""
    return np.ascontiguousarray(counts.sum(axis=1, keepdims=True))


def rank_curve(order: Order, ranks: Ranks, found: Values) -> Values:
    """Return precision and recall at the given ranks, (queries, points, 2).

    Parameters
    ----------
    order : Order
    ranks : (points,) int64, ascending
    found : (queries,) float64
        Relevant items in the database.
    """
    hits = order.hits(ranks)
    return np.stack([hits / ranks, _ratio(hits, found[:, None])], axis=2)


def settle_empty(measure: Measure, values: Values, found: Values) -> Values:
    """Apply what the measure says about queries without a relevant item.

    Returns
    -------
    The values, with nan for every query that is left out of the mean.
    """
    empty = found == 0
    if measure["empty"] == "error" and empty.any():
        raise HashbenchError(
            f"measure {str(measure)!r}: found {int(empty.sum())} queries without a relevant item "
            f"(the first is query {int(empty.argmax())}); empty=error allows none"
        )
    return np.where(
        empty.reshape(-1, *[1] * (values.ndim - 1)),
        0.0 if measure["empty"] == "zero" else np.nan,
        values,
    )
