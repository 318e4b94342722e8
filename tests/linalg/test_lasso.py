import numpy as np
import pytest
from sklearn.linear_model import Lasso
from threadpoolctl import threadpool_limits

from hashbench.linalg import lasso
from hashbench.linalg.lasso import MARGIN


def problem(atoms=30, p=12, n=9, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((atoms, p)), rng.standard_normal((n, p)) + 0.5


def one_row(D, y, fraction, iterations):
    """The same algorithm for a single row, as its authors print it."""
    weight = fraction * np.abs(D @ y).max()
    s = last = np.zeros(len(D))
    bound, before, now = 1.0, 0.0, 1.0
    for _ in range(iterations):
        point = s + (before - 1) / now * (s - last)
        gradient = D @ (point @ D - y)
        while True:
            value = point - gradient / bound
            new = np.sign(value) * np.maximum(np.abs(value) - weight / bound, 0)
            step = new - point
            if step @ step <= 1e-20:
                break
            ratio = np.square(step @ D).sum() / (step @ step)
            if ratio <= bound * (1 - MARGIN):
                break
            bound = max(2 * bound, ratio)
        last, s = s, new
        before, now = now, (1 + np.sqrt(1 + 4 * now**2)) / 2
    return s


@pytest.mark.parametrize("iterations", [1, 2, 30])
def test_rows_together_equal_rows_alone(monkeypatch, iterations):
    monkeypatch.setitem(lasso.__globals__, "BLOCK_COEFFICIENTS", 100)  # three rows a block
    D, Y = problem()
    S = lasso(D, Y, 0.2, iterations)
    for y, s in zip(Y, S, strict=True):
        np.testing.assert_allclose(s, one_row(D, y, 0.2, iterations), atol=1e-12)


@pytest.mark.parametrize("dense", [0.0, 1.0])
def test_products_are_the_same_with_and_without_zeros(monkeypatch, dense):
    D, Y = problem(atoms=31, p=13, n=40)
    S = lasso(D, Y, 0.4)
    assert 0 < (S != 0).mean() < 0.5
    monkeypatch.setitem(lasso.__globals__, "DENSE", dense)
    np.testing.assert_allclose(lasso(D, Y, 0.4), S, atol=1e-12)


@pytest.mark.parametrize("fraction", [0.05, 0.3, 0.8])
def test_many_iterations_solve_the_problem(fraction):
    D, Y = problem()
    S = lasso(D, Y, fraction, 3000)
    assert ((S != 0).sum(axis=1) < 30).all()
    for y, s in zip(Y, S, strict=True):
        weight = fraction * np.abs(D @ y).max()
        model = Lasso(alpha=weight / len(y), fit_intercept=False, tol=1e-12, max_iter=100000)
        np.testing.assert_allclose(s, model.fit(D.T, y).coef_, atol=1e-5)


def test_scale_of_a_row_does_not_matter():
    D, Y = problem()
    np.testing.assert_allclose(lasso(D, 1e3 * Y, 0.2), 1e3 * lasso(D, Y, 0.2), rtol=1e-9)


def test_nothing_is_worth_the_largest_weight():
    D, Y = problem()
    assert not lasso(D, Y, 1.0).any()


def test_zero_rows_and_zero_dictionaries():
    D, Y = problem()
    Y[3] = 0
    assert not lasso(D, Y, 0.2)[3].any()
    assert not lasso(np.zeros_like(D), Y, 0.2).any()


def test_single_precision():
    D, Y = problem(atoms=100, n=50)
    S = lasso(D, Y.astype(np.float32), 0.2)
    assert S.dtype == np.float32
    np.testing.assert_allclose(S, lasso(D, Y, 0.2), atol=1e-4)


def test_threads_change_nothing(monkeypatch):
    monkeypatch.setitem(lasso.__globals__, "BLOCK_COEFFICIENTS", 100)
    D, Y = problem(n=40)
    with threadpool_limits(1):
        alone = lasso(D, Y, 0.2)
    with threadpool_limits(4):
        shared = lasso(D, Y, 0.2)
    np.testing.assert_array_equal(alone, shared)
