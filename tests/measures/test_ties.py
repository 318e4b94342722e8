"""Expectations and bounds over tied items against all orders, one by one."""

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hashbench.measures import parse
from hashbench.measures.ranked_items import RankedItems, of_ranks
from hashbench.measures.ties import ratio_sum, reciprocals

TIES = ("expected", "optimistic", "pessimistic")
NORMS = ("retrieved", "all", "min")


def bucket(grades):
    # six items at most: their 720 orders are gone through one by one
    return st.tuples(*[st.integers(0, 6 // grades)] * grades)


binary = st.lists(bucket(2), min_size=1, max_size=3).filter(lambda c: sum(b[1] for b in c) > 0)
graded = st.lists(bucket(3), min_size=1, max_size=2).filter(
    lambda c: sum(bucket[1] + bucket[2] for bucket in c) > 0
)


def ranked(counts, ties):
    return RankedItems(np.array([counts], np.int64), ties=ties)


def relevant_only(counts):
    return [(bucket[0], sum(bucket[1:])) for bucket in counts]


@settings(max_examples=150, deadline=None)
@given(graded, st.integers(1, 15))
def test_every_measure_against_all_orders(plain, counts, cutoff):
    values = [plain.measures(order, cutoff) for order in plain.orders(counts)]
    for name in values[0]:
        measure = parse(name)
        graded_measure = measure.relevance == "graded"
        each = [value[name] for value in values]
        expected = {
            "expected": math.fsum(each) / len(each),
            "pessimistic": min(each),
            "optimistic": max(each),
        }
        for ties, value in expected.items():
            items = ranked(counts if graded_measure else relevant_only(counts), ties)
            assert of_ranks(measure, items)[0] == pytest.approx(value, abs=1e-12), (name, ties)


@settings(max_examples=300, deadline=None)
@given(binary, st.integers(1, 20), st.sampled_from(NORMS))
def test_average_precision(plain, counts, cutoff, norm):
    measure = partial(plain.average_precision, cutoff=cutoff, norm=norm)
    for ties, value in plain.over_orders(counts, measure).items():
        found = ranked(counts, ties).average_precision(cutoff, norm)[0]
        assert found == pytest.approx(value, abs=1e-12), ties


@settings(max_examples=200, deadline=None)
@given(binary, st.lists(st.integers(1, 20), min_size=1, max_size=5, unique=True))
def test_hits(plain, counts, ranks):
    ranks = sorted(ranks)
    for point, rank in enumerate(ranks):
        for ties, value in plain.over_orders(counts, partial(plain.hits, cutoff=rank)).items():
            found = ranked(counts, ties).hits(np.array(ranks))[0, point]
            assert found == pytest.approx(value, abs=1e-12), ties


def test_more_relevant_items_can_lower_the_mean_of_precisions():
    # rank 1 is a hit, ranks 2..101 are not, rank 102 is one of ten items with one hit
    counts = [(0, 1), (100, 0), (9, 1)]
    assert ranked(counts, "optimistic").average_precision(102, "retrieved")[0] == 1
    low = ranked(counts, "pessimistic").average_precision(102, "retrieved")[0]
    assert low == pytest.approx((1 + 2 / 102) / 2)


@pytest.mark.parametrize("before", [0, 3, 47, 48, 1000, 10**6])
@pytest.mark.parametrize("count", [0, 1, 48, 49, 200, 3000])
def test_sums_of_ratios_keep_their_digits(before, count):
    terms = [Fraction(1, before + i) for i in range(1, count + 1)]
    assert reciprocals(before, count) == pytest.approx(float(sum(terms)), rel=1e-14)
    exact = sum((5 + Fraction(i, 3)) * term for i, term in enumerate(terms))
    assert ratio_sum(5, 1 / 3, before, count) == pytest.approx(float(exact), rel=1e-12)


def large_counts(seed):
    generator = np.random.default_rng(seed)
    relevant = generator.integers(0, 400, 9)
    return np.stack([generator.integers(1, 4000, 9), relevant], axis=1)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("cutoff", [1, 100, 5000])
def test_large_buckets_agree_with_the_sum_over_places(seed, cutoff):
    counts = large_counts(seed)
    total, hits_before, before = 0.0, 0, 0
    for miss, r in counts:
        n = miss + r
        place = np.arange(n, dtype=np.longdouble)
        terms = (hits_before + 1 + place * (r - 1) / (n - 1)) / (before + 1 + place) * r / n
        total += terms[: max(0, cutoff - before)].sum()
        hits_before, before = hits_before + r, before + n
    found = ranked(counts, "expected").average_precision(cutoff, "all")[0]
    assert found == pytest.approx(float(total / hits_before), rel=1e-12)


@pytest.mark.parametrize(("n", "r", "m"), [(5000, 40, 100), (200000, 60000, 3000), (9, 4, 5)])
def test_a_split_bucket_agrees_with_hypergeometric_weights(n, r, m):
    hits_before, before = 3, 7
    j = np.arange(m + 1)
    weights = stats.hypergeom(n, r, m).pmf(j)
    places = 1 / (before + 1 + np.arange(m))
    inside = (
        j / m * ((hits_before + 1) * places.sum() + (j - 1) / (m - 1) * (places @ np.arange(m)))
    )
    first = sum(h / h for h in range(1, hits_before + 1))
    expected = weights @ ((first + inside) / (hits_before + j))
    counts = [(0, hits_before), (before - hits_before, 0), (n - r, r)]
    found = ranked(counts, "expected").average_precision(before + m, "retrieved")[0]
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("n", "r", "m"), [(5000, 40, 100), (200000, 3, 3000), (9, 4, 5), (9, 4, 6)]
)
def test_success_in_a_split_bucket_agrees_with_hypergeometric_weights(n, r, m):
    found = ranked([(7, 0), (n - r, r)], "expected").success(7 + m)[0]
    assert found == pytest.approx(1 - stats.hypergeom(n, r, m).pmf(0), rel=1e-9)


def test_first_hits_in_a_large_bucket_agree_with_waiting_times():
    n, r, t, hits_before, before = 3000, 90, 40, 2, 5
    total = 0.0
    for j in range(1, t + 1):
        # misses before the j-th hit: negative hypergeometric
        misses = np.arange(n - r + 1)
        weights = stats.nhypergeom(n, n - r, j).pmf(misses)
        total += (hits_before + j) * (weights @ (1 / (before + misses + j)))
    counts = [(0, hits_before), (before - hits_before, 0), (n - r, r)]
    found = ranked(counts, "expected").first_hits_precision(hits_before + t)[0]
    assert found == pytest.approx((hits_before + total) / (hits_before + t), rel=1e-9)


def test_nothing_overflows_at_the_size_of_large_databases():
    counts = np.array([[2_000_000, 900_000], [3_000_000, 100_000]])
    for norm in NORMS:
        for cutoff in (1000, 2_000_000, 10**9):
            low, value, high = (
                ranked(counts, ties).average_precision(cutoff, norm)[0]
                for ties in ("pessimistic", "expected", "optimistic")
            )
            assert 0 <= low <= value <= high <= 1
    assert 0 < ranked(counts, "expected").first_hits_precision(500_000)[0] < 1


def test_a_query_without_relevant_items_has_no_average_precision():
    for ties in TIES:
        assert np.isnan(ranked([(3, 0)], ties).average_precision(5, "all")[0])
        assert np.isnan(ranked([(3, 0)], ties).first_hits_precision(5)[0])
