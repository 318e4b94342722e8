import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.methods import dlfh as module
from hashbench.methods.dlfh import DLFH
from hashbench.methods.kdlfh import KDLFH
from tests.methods.restated import dlfh


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dims", [(12, 8), (12, 8, 5)])
def test_codes_and_objective_equal_those_of_the_restatement(monkeypatch, dtype, dims):
    monkeypatch.setattr(module, "ROWS", 16)  # several blocks of rows
    views, Y = toy(dims=dims, multilabel=True, dtype=dtype)
    method = DLFH(n_bits=8, iterations=10, random_state=0).fit(views, Y)
    values = []
    codes, _ = dlfh.restate(views, Y.astype(float), 8, 0, iterations=10, record=values.append)
    for ours, theirs in zip(method.codes_, codes, strict=True):
        assert np.array_equal(ours, theirs)
    assert method.objective_ == pytest.approx(values)


def test_objective_never_rises_when_epochs_see_all_columns():
    views, Y = toy(multilabel=True)
    objective = DLFH(n_bits=8, samples=60, random_state=0).fit(views, Y).objective_
    assert (np.diff(objective) <= 1e-12).all()
    assert objective[-1] < 0.8 * objective[0]


@pytest.mark.parametrize("centred", [False, True])
def test_hash_functions_are_the_least_squares_of_each_views_codes(centred):
    views, Y = toy()
    method = DLFH(n_bits=8, ridge_scatter=0.1, centred=centred, random_state=0).fit(views, Y)
    assert not np.array_equal(*method.codes_)
    for m, X in enumerate(views):
        Z = X - X.mean(axis=0) if centred else X
        B = np.where(method.codes_[m], 1.0, -1.0)
        W = np.linalg.solve(Z.T @ Z + 0.1 * np.eye(Z.shape[1]), Z.T @ B)
        np.testing.assert_allclose(method.projections_[m], W, rtol=1e-8)
        assert np.array_equal(method.encode(X, m), Z @ W >= 0)


def test_kernel_form_reaches_the_optimum_in_single_precision():
    views, Y = toy(dtype=np.float32)
    method = KDLFH(n_bits=8, anchors=20, random_state=0).fit(views, Y)
    for m, X in enumerate(views):
        X = X.astype(np.float64)
        points = method.maps_[m].anchors + X.mean(axis=0)
        width = np.square(X[:, None] - X[None]).sum(axis=2).mean()
        K, K0 = (
            np.exp(-np.square(rows[:, None] - points[None]).sum(axis=2) / width)
            for rows in (X, points)
        )
        T, W = np.where(method.codes_[m], 1.0, -1.0), method.projections_[m]
        gradient = -K.T @ (T / (1 + np.exp(T * (K @ W)))) + 2 * 0.01 * K0 @ W
        assert np.abs(gradient).max() < 1e-2 * np.abs(K.T @ T).max()
        assert (method.encode(views[m], m) == (K @ W >= 0)).mean() > 0.99


def test_samples_beyond_the_rows_are_cut():
    views, Y = toy(n=10)
    cut, whole = (DLFH(n_bits=4, samples=m, random_state=0).fit(views, Y) for m in (1000, 10))
    np.testing.assert_array_equal(cut.codes_, whole.codes_)
    assert cut.objective_ == whole.objective_
