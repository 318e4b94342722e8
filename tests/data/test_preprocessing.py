"""Preprocessing: what each step does, in which order, and that no query has a say in it."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hashbench.core.errors import HashbenchError
from hashbench.data.preprocessing import SEARCHED, blocks, fit, parse, steps_by_view

TRAIN = np.array([0, 2, 3])
matrices = arrays(np.float64, (6, 4), elements=st.floats(-100, 100, width=16))
counts = arrays(np.float64, (6, 4), elements=st.integers(0, 5))
texts = (
    "none",
    "l2",
    "centre",
    "tfidf",
    "standardise",
    "l2,centre",
    "centre,l2",
    "tfidf,l2,centre",
)


@given(counts, counts, st.sampled_from(texts))
def test_only_training_rows_are_looked_at(X, other, text):
    changed = other.copy()
    changed[TRAIN] = X[TRAIN]
    expected = fit(text, X, TRAIN)(X)
    np.testing.assert_array_equal(fit(text, changed, TRAIN)(X), expected)


@given(matrices)
def test_centre_gives_training_rows_mean_zero(X):
    np.testing.assert_allclose(fit("centre", X, TRAIN)(X[TRAIN]).mean(axis=0), 0, atol=1e-12)


@given(matrices)
def test_l2_gives_rows_length_one_or_leaves_them_zero(X):
    lengths = np.linalg.norm(fit("l2", X, TRAIN)(X), axis=1)
    np.testing.assert_allclose(lengths[X.any(axis=1)], 1)
    assert (lengths[~X.any(axis=1)] == 0).all()


def test_steps_are_applied_in_order():
    X = np.random.default_rng(0).random((6, 4))
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_allclose(fit("l2,centre", X, TRAIN)(X), unit - unit[TRAIN].mean(axis=0))
    centred = X - X[TRAIN].mean(axis=0)
    expected = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    np.testing.assert_allclose(fit("centre,l2", X, TRAIN)(X), expected)


def test_tfidf_weighs_rare_words_more():
    X = np.array([[1, 1, 0], [1, 0, 0], [1, 0, 2.0]])
    weights = fit("tfidf", X, np.arange(3))(np.ones((1, 3)))[0]
    np.testing.assert_allclose(weights, 1 + np.log([4 / 4, 4 / 2, 4 / 2]))
    unseen = fit("tfidf", X, np.array([1]))(np.ones((1, 3)))[0]
    np.testing.assert_allclose(unseen, 1 + np.log([2 / 2, 2 / 1, 2 / 1]))


@pytest.mark.parametrize("text", ["none", "l2", "centre", "tfidf,l2,centre"])
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.uint8])
def test_sparse_and_dense_agree_and_come_out_floating(text, kind):
    X = np.random.default_rng(0).integers(0, 3, (6, 4)).astype(kind)
    from_dense, from_sparse = (
        fit(text, Y, TRAIN)(Y[TRAIN]) for Y in (X, scipy.sparse.csr_array(X))
    )
    np.testing.assert_array_equal(from_dense, from_sparse)
    assert from_dense.dtype == (np.float64 if kind is np.float64 else np.float32)


@pytest.mark.parametrize("block", [1, 2, 100])
def test_blocks_do_not_change_the_result(monkeypatch, block):
    X = np.random.default_rng(0).random((30, 4))
    rows = np.arange(0, 30, 2)
    expected = fit("l2,centre", X, rows)(X[rows])
    monkeypatch.setattr("hashbench.data.preprocessing.BLOCK_ROWS", block)
    in_blocks = list(blocks(fit("l2,centre", X, rows), X, rows))
    assert len(in_blocks) == -(-15 // block)
    np.testing.assert_allclose(np.concatenate(in_blocks), expected, atol=1e-15)


def test_the_view_is_left_as_it_was():
    X = np.random.default_rng(0).random((6, 4))
    before = X.copy()
    fit("l2,centre,l2", X, TRAIN)(X)
    np.testing.assert_array_equal(X, before)


def test_names_of_steps_are_parsed_and_checked():
    assert parse(" tfidf, l2+centre ") == ("tfidf", "l2", "centre")
    assert steps_by_view("l2+centre", "abc") == ("l2+centre",) * 3
    with pytest.raises(HashbenchError, match=r"'center'.*'centre'"):
        parse("l2,center")
    with pytest.raises(HashbenchError, match=r"preprocessing.*1 for 2 views"):
        steps_by_view(("l2",), "ab")
    with pytest.raises(HashbenchError, match=r"tfidf.*negative"):
        fit("tfidf", -np.ones((6, 4)), TRAIN)


@given(matrices)
def test_standardise_gives_training_columns_mean_zero_and_spread_one(X):
    found = fit("standardise", X, TRAIN)(X[TRAIN])
    spread = X[TRAIN].std(axis=0)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-6)
    varied = spread > 1e-3 * np.abs(X[TRAIN]).max(axis=0)
    np.testing.assert_allclose(found.std(axis=0)[varied], 1, atol=1e-6)
    assert (found[:, spread == 0] == 0).all()


def test_standardise_keeps_the_digits_of_columns_far_from_zero():
    X = np.random.default_rng(0).normal(1e6, 1, (500, 3))
    np.testing.assert_allclose(fit("standardise", X, np.arange(500))(X).std(axis=0), 1, rtol=1e-9)


def test_everything_a_search_tries_can_be_read():
    assert parse(SEARCHED[0]) == ()
    assert len({parse(text) for text in SEARCHED}) == len(SEARCHED) == 5
