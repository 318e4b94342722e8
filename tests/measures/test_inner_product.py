"""Rankings by inner product."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from hashbench.core.errors import HashbenchError
from hashbench.measures import (
    evaluate,
    evaluate_ranking,
    inner_product,
    score_ranking,
)

NAMES = (
    "AP",
    "AP(norm=retrieved)@7",
    "AP(norm=all)@7",
    "AP(ties=index)",
    "AP(norm=min,ties=index)@7",
    "AP(cut=hits)@3",
    "AP(ties=pessimistic)",
    "AP(norm=retrieved,ties=optimistic)@9",
    "P@7",
    "R(ties=index)@7",
    "nDCG@7",
    "nDCG(ties=index)",
    "AP(rel=2)",
    "F1@7",
    "RR",
    "RR(ties=index)",
    "Success@2",
    "Success(ties=index)@2",
    "Rprec",
    "Rprec(ties=index)",
    "ACG@7",
    "ACG(ties=index)@7",
    "WAP@7",
    "WAP(ties=index)",
    "nDCG(gain=exp)@7",
    "nDCG(gain=exp,ties=index)@7",
    "R(relevant=pair)@7",
    "R(relevant=pair,ties=index)@7",
    "Success(relevant=pair)@7",
    "RR(relevant=pair)",
)
PAIRS = np.arange(7) * 8


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_inner_products_of_signs_rank_as_hamming_distances(make_case, seed):
    query, database, *labels = make_case(seed)
    signs = [np.where(codes, 1.0, -1.0) for codes in (query, database)]
    options = {"per_query": True, "bounds": True, "chance": True}
    codes = evaluate(query, database, *labels, [*NAMES, "PR"], pairs=PAIRS, **options)
    vectors = evaluate_ranking(score_ranking(*signs, *labels, PAIRS), [*NAMES, "PR"], **options)
    for name, score in codes.scores.items():
        other = vectors.scores[name]
        np.testing.assert_allclose(other.per_query, score.per_query, atol=1e-12, err_msg=name)
        assert other.bounds == pytest.approx(score.bounds, abs=1e-12)
        assert other.chance == pytest.approx(score.chance, abs=1e-12)
        assert (other.n_empty, other.n_counted) == (score.n_empty, score.n_counted)
    np.testing.assert_allclose(
        vectors.curves["PR"].per_query, codes.curves["PR"].per_query, atol=1e-12
    )


@settings(max_examples=50, deadline=None)
@given(
    npst.arrays(
        np.float32,
        st.tuples(st.integers(1, 3), st.integers(1, 40)),
        elements=st.floats(-4, 4, width=32) | st.sampled_from([0.0, -0.0, 1.5, -1.5]),
    )
)
def test_sorting_is_that_of_a_stable_sort(values):
    keys, items = inner_product.sort_items(values)
    assert np.array_equal(items, np.argsort(-values, axis=1, kind="stable"))
    ranked = np.take_along_axis(values, items, axis=1)
    assert np.array_equal(np.diff(ranked) == 0, np.diff(keys.astype(np.int64)) == 0)


def test_blocks_of_queries_change_nothing(make_case, monkeypatch):
    query, database, *labels = make_case(1)
    case = (*(np.where(codes, 1.0, -1.0) for codes in (query, database)), *labels, PAIRS)
    whole = evaluate_ranking(score_ranking(*case), NAMES, per_query=True)
    monkeypatch.setattr(inner_product, "BLOCK_BYTES", 1)
    single = evaluate_ranking(score_ranking(*case), NAMES, per_query=True)
    for name in whole:
        np.testing.assert_array_equal(whole.scores[name].per_query, single.scores[name].per_query)


@pytest.mark.parametrize("name", ["P(radius=2)", "F1(radius=2)", "PRarea", "PR(by=radius)"])
def test_a_radius_is_refused(make_case, name):
    query, database, *labels = make_case(1)
    with pytest.raises(HashbenchError, match=rf"'{re.escape(name)}'.*radius.*inner product.*AP"):
        evaluate_ranking(score_ranking(query, database, *labels), name)


def test_bad_vectors_are_refused(make_case):
    query, database, *labels = make_case(1)
    with pytest.raises(HashbenchError, match=r"vectors.*5 dimensions.*4"):
        score_ranking(query, database[:, :4], *labels)
    with pytest.raises(HashbenchError, match=r"query vectors.*nan"):
        score_ranking(np.where(query, np.nan, 0), database, *labels)
    with pytest.raises(HashbenchError, match=r"database vectors.*\(60,\)"):
        score_ranking(query, database[:, 0], *labels)
    with pytest.raises(HashbenchError, match=r"query.*6 rows of vectors.*7 of labels"):
        score_ranking(query[:6], database, *labels)


def test_equal_items_are_tied_whatever_a_product_rounds():
    generator = np.random.default_rng(0)
    items = generator.standard_normal((5, 33)).astype(np.float32)
    for n_queries, n_database in ((1, 1001), (1, 4097), (3, 100)):
        which = generator.integers(0, 5, n_database)
        query = generator.standard_normal((n_queries, 33)).astype(np.float32)
        ranking = score_ranking(query, items[which], np.zeros(n_queries), which % 2)
        for block in ranking.blocks({1: 0}):
            assert ((block[1].counts.sum(axis=2) > 0).sum(axis=1) == 5).all()
