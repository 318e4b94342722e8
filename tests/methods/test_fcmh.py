import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.linalg import multiview_kmeans
from hashbench.methods import fcmh as module
from hashbench.methods.fcmh import FCMH
from tests.methods.restated import fcmh


def test_objective_equals_that_of_the_restatement():
    views, Y = toy(120, multilabel=True)
    method = FCMH(n_bits=3, iterations=3, random_state=6).fit(views, Y)
    values = []
    codes, _ = fcmh.restate(views, Y.astype(float), 3, 6, iterations=3, record=values.append)
    assert np.array_equal(method.codes_, codes)
    np.testing.assert_allclose(method.objective_, values, rtol=1e-9)


@pytest.mark.parametrize("n_bits", [3, 10])
def test_objective_never_rises(n_bits):
    views, Y = toy(200, multilabel=True)
    objective = FCMH(n_bits=n_bits, random_state=0).fit(views, Y).objective_
    assert (np.diff(objective) <= 1e-6 * objective[0]).all()
    assert objective[-1] < objective[0]


def test_more_bits_than_items_of_a_group():
    views, Y = toy(30)
    codes = FCMH(n_bits=64, random_state=0).fit(views, Y).codes_
    assert (codes.any(axis=0) & ~codes.all(axis=0)).mean() > 0.9


def test_many_rows_are_reduced_before_they_are_clustered(monkeypatch):
    clustered = []

    def spy(views, clusters, rng):
        clustered.append([X.shape for X in views])
        return multiview_kmeans(views, clusters, rng)

    monkeypatch.setattr(module, "multiview_kmeans", spy)
    monkeypatch.setattr(module, "CLUSTERED_ROWS", 50)
    monkeypatch.setattr(module, "CLUSTERED_COLUMNS", 5)
    views, Y = toy(60)
    FCMH(random_state=0).fit(views, Y)
    FCMH(random_state=0).fit([X[:50] for X in views], Y[:50])
    assert clustered == [[(60, 5), (60, 5)], [(50, 12), (50, 8)]]
