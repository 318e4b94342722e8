import numpy as np
import pytest
from sklearn.svm import LinearSVC

from hashbench.linalg import Ridge, row_blocks
from hashbench.linalg.svm import linear_svms


def problem(n, d, k=3, seed=0, dtype=float):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * rng.uniform(0.2, 3, size=d) + 1
    B = np.where(
        (X - X.mean(axis=0)) @ rng.standard_normal((d, k)) + rng.normal(size=(n, k)) > 0, 1, -1
    )
    return X.astype(dtype), B.astype(dtype)


def objective(X, B, W, cost):
    values = (X - X.mean(axis=0)) @ W
    return np.square(W).sum(axis=0) / 2 + cost * np.square(np.maximum(0, 1 - B * values)).sum(
        axis=0
    )


@pytest.mark.parametrize(("n", "d"), [(200, 10), (40, 60)])
@pytest.mark.parametrize("cost", [0.05, 1.0])
def test_finds_what_liblinear_finds(n, d, cost):
    X, B = problem(n, d)
    mean = X.mean(axis=0)
    ridge = Ridge(X, 1 / (2 * cost), mean)
    W, Z = linear_svms(ridge, B, np.zeros((d, 3)), tolerance=1e-15, steps=20000)
    np.testing.assert_allclose(Z, (X - mean) @ W, atol=1e-9)
    for w, b in zip(W.T, B.T, strict=True):
        machine = LinearSVC(C=cost, fit_intercept=False, tol=1e-10, max_iter=200000)
        expected = machine.fit(X - mean, b).coef_[0]
        np.testing.assert_allclose(w, expected, atol=1e-5 * np.abs(expected).max())


def test_few_steps_are_nearly_enough_and_starting_near_is_cheap():
    X, B = problem(300, 20)
    ridge = Ridge(X, 0.5, X.mean(axis=0))
    best, _ = linear_svms(ridge, B, np.zeros((20, 3)), tolerance=1e-15, steps=5000)
    usual, _ = linear_svms(ridge, B, np.zeros((20, 3)))
    lowest = objective(X, B, best, 1.0)
    assert (objective(X, B, usual, 1.0) <= lowest * 1.002).all()
    again, Z = linear_svms(ridge, B, best)
    np.testing.assert_array_equal(again, best)
    np.testing.assert_allclose(Z, (X - X.mean(axis=0)) @ best)


@pytest.mark.parametrize("steps", range(1, 8))
def test_no_step_goes_uphill(steps):
    X, B = problem(100, 20, seed=steps)
    start = np.random.default_rng(steps).standard_normal((20, 3))
    ridge = Ridge(X, 0.01, X.mean(axis=0))
    values = [
        objective(X, B, linear_svms(ridge, B, start, tolerance=0, steps=n)[0], 50.0)
        for n in (steps - 1, steps)
    ]
    assert (values[1] < values[0]).all()


def test_single_precision_and_blocks(monkeypatch):
    X, B = problem(300, 20)
    double, _ = linear_svms(Ridge(X, 0.5, X.mean(axis=0)), B, np.zeros((20, 3)), 1e-8)
    monkeypatch.setattr("hashbench.linalg.svm.row_blocks", lambda n, *_: row_blocks(n, 7))
    X, B = problem(300, 20, dtype=np.float32)
    mean = X.mean(axis=0, dtype=np.float64)
    single, values = linear_svms(Ridge(X, 0.5, mean), B, np.zeros((20, 3)), 1e-8)
    assert values.dtype == np.float32
    np.testing.assert_allclose(single, double, atol=1e-3 * np.abs(double).max())


def test_values_at_hand_need_not_be_computed():
    X, B = problem(300, 20)
    ridge = Ridge(X, 0.5, X.mean(axis=0))
    start, values = linear_svms(ridge, B, np.zeros((20, 3)), steps=2)
    for found, expected in zip(
        linear_svms(ridge, -B, start, Z=values), linear_svms(ridge, -B, start), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


def test_labels_that_are_all_alike():
    X, B = problem(50, 4)
    W, _ = linear_svms(Ridge(X, 0.5, X.mean(axis=0)), np.ones_like(B), np.zeros((4, 3)))
    np.testing.assert_allclose(W, 0, atol=1e-9)
