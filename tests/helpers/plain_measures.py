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
    def weighted_average_precision(grades: Grades, cutoff: int) -> float:
        gains = [
            sum(grades[:rank]) / rank for rank, grade in enumerate(grades[:cutoff], 1) if grade
        ]
        return sum(gains) / len(gains) if gains else 0.0

    @staticmethod
    def reciprocal_rank(grades: Grades) -> float:
        return 1 / next(rank for rank, grade in enumerate(grades, 1) if grade)

    @classmethod
    def r_precision(cls, grades: Grades) -> float:
        n_relevant = cls.hits(grades, len(grades))
        return cls.hits(grades, n_relevant) / n_relevant

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

    @classmethod
    def ndcg(cls, grades: Grades, cutoff: int, exponential: bool = False) -> float:
        gains = [2**grade - 1 if exponential else grade for grade in grades]
        best = sorted(gains, reverse=True)
        return cls.discounted_gain(gains, cutoff) / cls.discounted_gain(best, cutoff)

    @classmethod
    def measures(cls, grades: Grades, cutoff: int) -> dict[str, float]:
        """Return every measure of ranks by its name, for the grades of all items in rank order."""
        hit = [int(grade > 0) for grade in grades]
        hits, n_relevant = cls.hits(hit, cutoff), sum(hit)
        values = {f"AP(norm={n})@": cls.average_precision(hit, cutoff, n)
                  for n in ("retrieved", "all", "min")}  # fmt: skip
        values |= {
            "AP(cut=hits)@": cls.first_hits_precision(hit, cutoff),
            "P@": hits / cutoff,
            "R@": hits / n_relevant,
            "F1@": 2 * hits / (cutoff + n_relevant),
            "Success@": float(hits > 0),
            "nDCG@": cls.ndcg(grades, cutoff),
            "nDCG(gain=exp)@": cls.ndcg(grades, cutoff, exponential=True),
            "nDCG(rel=1)@": cls.ndcg(hit, cutoff),
            "ACG@": sum(grades[:cutoff]) / cutoff,
            "WAP@": cls.weighted_average_precision(grades, cutoff),
        }
        return {f"{name}{cutoff}": value for name, value in values.items()} | {
            "AP": cls.average_precision(hit, len(hit), "all"),
            "RR": cls.reciprocal_rank(hit),
            "Rprec": cls.r_precision(hit),
            "nDCG": cls.ndcg(grades, len(grades)),
            "WAP": cls.weighted_average_precision(grades, len(grades)),
        }

    @staticmethod
    def orders(counts: Sequence[Sequence[int]]) -> list[list[int]]:
        """Return the grades in rank order for every order of tied items, all equally likely.

        Items of one grade in one bucket are interchangeable, so that each arrangement of grades
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
