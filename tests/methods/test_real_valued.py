import numpy as np

from hashbench.checks.methods import toy
from hashbench.methods.real_valued import RealValued
from tests.methods.restated import real_valued


def test_vectors_have_one_float32_per_label_whatever_the_bits():
    views, Y = toy(n=100, classes=5, multilabel=True)
    method = RealValued(n_bits=64).fit(views, Y)
    for role in ("query", "database"):
        vectors = method.vectors(views[1], 1, role)
        assert vectors.shape == (100, 5)
        assert vectors.dtype == np.float32
    assert method.item_bytes == 20


def test_views_are_centred():
    views, Y = toy(n=100, classes=5, multilabel=True)
    views = [X + 10 for X in views]
    method = RealValued(ridge=0.1).fit(views, Y)
    _, vectors = real_valued.restate(views, Y, n_bits=16, seed=0, ridge=0.1)
    for view, X in enumerate(views):
        expected = vectors(X, view, "query")
        np.testing.assert_allclose(method.vectors(X, view, "query"), expected, atol=1e-6)
