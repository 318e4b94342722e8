"""The two things a ranking can be: buckets of tied items, or one order of the items.

The measures ask the same four questions of both and do not know which one answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from hashbench.measures import order_kernels, tie_kernels

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


class Order(Protocol):
    """What a measure may ask of the ranking of a block of queries."""

    def average_precision(self, cutoff: int, norm: str) -> Values:
        """Return AP over the first `cutoff` ranks, (queries,); nan without a relevant item."""

    def first_hits_precision(self, cutoff: int) -> Values:
        """Return the mean precision at the first `cutoff` relevant items, (queries,)."""

    def hits(self, ranks: Ranks) -> Values:
        """Return the relevant items in the first k ranks, (queries, points), k ascending."""

    def discounted_gain(self, cutoff: int) -> Values:
        """Return the gain of the first `cutoff` ranks over log2(rank + 1), (queries,)."""


@dataclass(frozen=True)
class TiedOrder:
    """Buckets of tied items, with the mean or a bound over all orders.

    Attributes
    ----------
    counts : (queries, buckets, grades) int64
    ties : "expected", "optimistic" or "pessimistic"
    """

    counts: Counts
    ties: str

    def average_precision(self, cutoff: int, norm: str) -> Values:
        """Return AP; see `Order`."""
        return _floats(
            tie_kernels.average_precision(self.counts, cutoff, _NORMS[norm], _TIES[self.ties])
        )

    def first_hits_precision(self, cutoff: int) -> Values:
        """Return the precision at the first hits; see `Order`."""
        return _floats(tie_kernels.first_hits_precision(self.counts, cutoff, _TIES[self.ties]))

    def hits(self, ranks: Ranks) -> Values:
        """Return the hits; see `Order`."""
        return _floats(tie_kernels.hits(self.counts, ranks, _TIES[self.ties]))

    def discounted_gain(self, cutoff: int) -> Values:
        """Return the discounted gain; see `Order`."""
        n_items = int(self.counts[0].sum())
        cutoff = min(cutoff, n_items)
        discounts = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, cutoff + 2)))])
        return _floats(
            tie_kernels.discounted_gain(self.counts, discounts, cutoff, _TIES[self.ties])
        )


@dataclass(frozen=True)
class ItemOrder:
    """Items in one order, as deep as the measures need it.

    Attributes
    ----------
    grades : (queries, depth) uint16
    relevant : (queries,) int64
        Relevant items in the whole database.
    """

    grades: Grades
    relevant: npt.NDArray[np.int64]

    def average_precision(self, cutoff: int, norm: str) -> Values:
        """Return AP; see `Order`."""
        return _floats(
            order_kernels.average_precision(self.grades, self.relevant, cutoff, _NORMS[norm])
        )

    def first_hits_precision(self, cutoff: int) -> Values:
        """Return the precision at the first hits; see `Order`."""
        return _floats(order_kernels.first_hits_precision(self.grades, cutoff))

    def hits(self, ranks: Ranks) -> Values:
        """Return the hits; see `Order`."""
        return _floats(order_kernels.hits(self.grades, ranks))

    def discounted_gain(self, cutoff: int) -> Values:
        """Return the discounted gain; see `Order`."""
        return _floats(order_kernels.discounted_gain(self.grades, cutoff))


def _floats(values: object) -> Values:
    return np.asarray(values, np.float64)
