import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from hashbench.checks.methods import toy
from hashbench.linalg import signs
from hashbench.methods import dlfh
from hashbench.methods.dlfh import DLFH
from hashbench.methods.kdlfh import KDLFH


def direct_update(B, other, S, steepness):
    """Every bit with the whole of T rebuilt for it."""
    m, k = other.shape
    B, scale = B.copy(), steepness / k
    for j in range(k):
        A = 1 / (1 + np.exp(-scale * B @ other.T))
        p = scale * (S - A) @ other[:, j] + m * scale**2 / 4 * B[:, j]
        B[:, j] = np.where(p >= 0, 1, -1)
    return B


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_others", [1, 2])
def test_update_equals_the_one_that_rebuilds_the_model_for_every_bit(monkeypatch, dtype, n_others):
    rng = np.random.default_rng(0)
    n, m, k = 50, 9, 12
    B = signs(rng.standard_normal((n, k))).astype(dtype)
    others = [signs(rng.standard_normal((m, k))).astype(dtype) for _ in range(n_others)]
    S = (rng.random((n, m)) < 0.3).astype(dtype)
    expected = direct_update(
        B.astype(np.float64), np.vstack(others), np.hstack([S] * n_others), 8.0
    )
    monkeypatch.setattr(dlfh, "ROWS", 16)
    dlfh._update_codes(B, others, S, 8.0)
    assert np.array_equal(B, expected)


def test_a_bit_never_lowers_the_likelihood_of_the_columns_it_sees():
    rng = np.random.default_rng(1)
    n, m, k = 40, 8, 6
    B, other = (signs(rng.standard_normal((rows, k))) for rows in (n, m))
    S = (rng.random((n, m)) < 0.4).astype(float)

    def likelihood():
        T = 8.0 / k * B @ other.T
        return (S * T - np.logaddexp(0, T)).sum(axis=1)

    for _ in range(3):
        before = likelihood()
        dlfh._update_codes(B, [other], S, 8.0)
        assert (likelihood() >= before - 1e-9).all()


@pytest.mark.parametrize("multilabel", [False, True])
def test_objective_is_the_mean_loss_of_all_pairs(multilabel):
    views, labels = toy(multilabel=multilabel)
    method = DLFH(n_bits=8, iterations=15, random_state=0).fit(views, labels)
    U, V = (np.where(codes, 1.0, -1.0) for codes in method.codes_)
    S = labels.astype(int) @ labels.T > 0
    T = 8.0 / 8 * U @ V.T
    assert method.objective_[-1] == pytest.approx((np.logaddexp(0, T) - S * T).mean())
    assert method.objective_[-1] < 0.6 * method.objective_[0]


@pytest.mark.parametrize("centred", [False, True])
def test_hash_functions_are_the_least_squares_of_each_views_codes(centred):
    views, labels = toy()
    method = DLFH(n_bits=8, ridge=0.1, centred=centred, random_state=0).fit(views, labels)
    assert not np.array_equal(*method.codes_)
    for m, X in enumerate(views):
        Z = X - X.mean(axis=0) if centred else X
        B = np.where(method.codes_[m], 1.0, -1.0)
        W = np.linalg.solve(Z.T @ Z + 0.1 * np.eye(Z.shape[1]), Z.T @ B)
        np.testing.assert_allclose(method.projections_[m], W, rtol=1e-8)
        assert np.array_equal(method.encode(X, m), Z @ W >= 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernel_form_ends_at_the_optimum_of_its_regressions(dtype):
    views, labels = toy(dtype=dtype)
    method = KDLFH(n_bits=8, anchors=20, random_state=0).fit(views, labels)
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
        assert np.isin(points.round(4), X.round(4)).all()


def test_samples_beyond_the_rows_are_cut():
    views, labels = toy(n=10)
    cut, whole = (DLFH(n_bits=4, samples=m, random_state=0).fit(views, labels) for m in (1000, 10))
    np.testing.assert_array_equal(cut.codes_, whole.codes_)
    assert cut.objective_ == whole.objective_


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("threads", [1, 2])
def test_compiled_updates_are_the_same(monkeypatch, dtype, threads):
    rng = np.random.default_rng(0)
    views = [rng.standard_normal((20_000, d)).astype(dtype) for d in (6, 4)]
    labels = np.eye(5)[rng.integers(0, 5, 20_000)]
    fits = []
    for large in (2**60, 0):
        monkeypatch.setattr(dlfh, "LARGE", large)
        with threadpool_limits(threads, "blas"):
            fits.append(DLFH(12, iterations=3, random_state=0).fit(views, labels))
    for one, other in zip(fits[0].codes_, fits[1].codes_, strict=True):
        assert 0.1 < one.mean() < 0.9
        assert np.array_equal(one, other)
