import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.methods.int8 import Int8
from hashbench.methods.opq import OPQ
from hashbench.methods.pq import PQ
from hashbench.methods.real_valued import RealValued


@pytest.mark.parametrize(
    ("n_bits", "words"),
    [(1, [2]), (8, [256]), (12, [64, 64]), (16, [256, 256]), (17, [64, 64, 32]), (64, [256] * 5)],
)
def test_bits_are_spread_over_codebooks_and_an_item_takes_those_it_needs(n_bits, words):
    views, Y = toy(n=400, classes=5, multilabel=True)
    method = PQ(n_bits=n_bits, random_state=0).fit(views, Y)
    for books in method.codebooks_:
        assert [len(C) for C in books] == words
        assert sum(C.shape[1] for C in books) == 5
    assert method.item_bytes == np.log2(words).sum() / 8


def test_queries_are_real_and_database_rows_are_words_nearest_to_them():
    views, Y = toy(n=400, classes=5, multilabel=True)
    method = PQ(n_bits=8, random_state=0).fit(views, Y)
    Z = RealValued().fit(views, Y).vectors(views[1], 1, "query")
    V = method.vectors(views[1], 1, "database")
    assert np.array_equal(method.vectors(views[1], 1, "query"), Z)
    (C,) = method.codebooks_[1]
    distances = np.square(Z[:, None] - C).sum(axis=2)
    np.testing.assert_allclose(np.square(Z - V).sum(axis=1), distances.min(axis=1), atol=1e-5)


def test_equal_rows_give_no_word_twice():
    views, Y = toy(n=20)
    views, Y = [np.repeat(X, 20, axis=0) for X in views], np.repeat(Y, 20, axis=0)
    method = PQ(n_bits=8, random_state=0).fit(views, Y)
    for (C,) in method.codebooks_:
        assert len(C) == len(np.unique(C.round(5), axis=0)) <= 20


def test_the_rotation_starts_at_pq_and_only_lowers_the_error():
    views, Y = toy(n=400, classes=9, multilabel=True)
    method = OPQ(n_bits=16, random_state=0, iterations=8).fit(views, Y)
    plain = PQ(n_bits=16, random_state=0).fit(views, Y)
    errors = [
        np.square(plain.vectors(X, m, "query") - plain.vectors(X, m, "database")).sum()
        for m, X in enumerate(views)
    ]
    assert method.objective_[0] == pytest.approx(sum(errors), rel=1e-5)
    assert (np.diff(method.objective_) <= 1e-9).all()
    assert method.objective_[-1] < method.objective_[0]
    q = method.vectors(views[0], 0, "query")
    np.testing.assert_allclose(q @ q.T, (z := plain.vectors(views[0], 0, "query")) @ z.T, atol=1e-5)


def test_int8_takes_a_byte_per_label():
    views, Y = toy(n=100, classes=5, multilabel=True)
    method = Int8().fit(views, Y)
    Z = RealValued().fit(views, Y).vectors(views[0], 0, "database")
    V = method.vectors(views[0], 0, "database")
    np.testing.assert_allclose(127 * V, np.rint(127 * V), atol=1e-4)
    assert 0 < np.abs(V - Z).max() <= 0.5 / 127 + 1e-6
    assert method.item_bytes == 5
