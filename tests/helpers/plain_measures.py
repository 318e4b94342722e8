"""Plain definitions of the measures, for one order of a few items, and for all orders of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

Grades = Sequence[int]


class Plain:
    """The measures as their definitions say them, item by item."""

    @staticmethod
    def average_precision(grades: Grades, cutoff: int, norm: str) -> float:
        total, found = 0.0, 0
        for rank, grade in enumerate(grades[:cutoff], 1):
            if grade:
                found += 1
                total += found / rank
        n_relevant = sum(grade > 0 for grade in grades)
        divisor = {"retrieved": found, "all": n_relevant, "min": min(n_relevant, cutoff)}[norm]
        return total / divisor if divisor else 0.0

    @staticmethod
    def first_hits_precision(grades: Grades, cutoff: int) -> float:
        ranks = [rank for rank, grade in enumerate(grades, 1) if grade][:cutoff]
        return sum(hit / rank for hit, rank in enumerate(ranks, 1)) / len(ranks)

    @staticmethod
    def hits(grades: Grades, cutoff: int) -> int:
        return sum(grade > 0 for grade in grades[:cutoff])

    @staticmethod
    def discounted_gain(grades: Grades, cutoff: int) -> float:
        return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades[:cutoff], 1))

    @staticmethod
    def orders(counts: Sequence[Sequence[int]]) -> list[list[int]]:
        """Return the grades in rank order for every order of tied items, all equally likely.

        Items of one grade in one bucket cannot be told apart, so that each arrangement of grades
        stands for equally many permutations of items and is listed once.
        """
        buckets = []
        for bucket in counts:
            items = [grade for grade, count in enumerate(bucket) for _ in range(count)]
            buckets.append(sorted(set(itertools.permutations(items))))
        return [[g for part in parts for g in part] for parts in itertools.product(*buckets)]

    @classmethod
    def over_orders(
        cls, counts: Sequence[Sequence[int]], measure: Callable[[list[int]], float]
    ) -> dict[str, float]:
        """Return the mean and the bounds of a measure over all orders of tied items."""
        values = [measure(order) for order in cls.orders(counts)]
        return {
            "expected": math.fsum(values) / len(values),
            "pessimistic": min(values),
            "optimistic": max(values),
        }

    @staticmethod
    def stable_order(query, database, query_labels, database_labels):
        """Return distances and shared labels, both in the order of a stable sort by distance."""
        distances = (query[:, None] != database[None]).sum(axis=2)
        shared = query_labels.astype(int) @ database_labels.astype(int).T
        order = np.argsort(distances, axis=1, kind="stable")
        return (
            np.take_along_axis(distances, order, axis=1),
            np.take_along_axis(shared, order, axis=1),
        )


@pytest.fixture(scope="session")
def plain():
    return Plain


@pytest.fixture(scope="session")
def make_case():
    """Return a maker of random codes and labels: query, database, their labels."""

    def make(seed, n_queries=7, n_database=60, bits=5, classes=4, density=0.3):
        generator = np.random.default_rng(seed)
        codes = generator.random((n_queries + n_database, bits)) < 0.5
        labels = generator.random((n_queries + n_database, classes)) < density
        labels[[0, n_queries], :2] = True  # so that rel=2 has at least one relevant pair
        return codes[:n_queries], codes[n_queries:], labels[:n_queries], labels[n_queries:]

    return make
