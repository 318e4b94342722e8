import numpy as np
import pytest

from hashbench.linalg import Ridge
from hashbench.linalg.ridge import cross, gram


@pytest.mark.parametrize("shape", [(50, 7), (7, 50), (9, 9)])
@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_agrees_with_the_normal_equations(shape, centred, dtype):
    rng = np.random.default_rng(0)
    X = (rng.standard_normal(shape) + 3).astype(dtype)
    T = rng.standard_normal((shape[0], 4)).astype(dtype)
    mean = X.mean(axis=0, dtype=np.float64) if centred else None
    A = X.astype(float) - (0 if mean is None else mean)
    expected = np.linalg.solve(A.T @ A + 0.3 * np.eye(shape[1]), A.T @ T)
    ridge = Ridge(X, 0.3, mean)
    tolerance = 1e-10 if dtype is np.float64 else 1e-3
    assert ridge.primal == (shape[1] <= shape[0])
    np.testing.assert_allclose(ridge.solve(T), expected, atol=tolerance)
    np.testing.assert_allclose(ridge.solve_products(A.T @ T), expected, atol=tolerance)
    np.testing.assert_allclose(
        ridge.quadratic(expected), np.square(A @ expected).sum(), rtol=100 * tolerance
    )


def test_another_penalty_reuses_the_gram_matrix():
    X = np.random.default_rng(1).standard_normal((30, 5))
    T = X[:, :2]
    first = Ridge(X, 1.0)
    second = first.with_penalty(2.0)
    assert second.gram is first.gram
    np.testing.assert_allclose(second.solve(T), Ridge(X, 2.0).solve(T))


def test_a_singular_system_gives_the_least_norm_solution():
    X = np.random.default_rng(2).standard_normal((20, 4))
    X = np.hstack([X, X[:, :2]])
    T = X @ np.ones((6, 1))
    np.testing.assert_allclose(Ridge(X, 0.0).solve(T), np.linalg.pinv(X) @ T, atol=1e-8)


def test_blocks_do_not_change_sums():
    rng = np.random.default_rng(3)
    X, T = rng.standard_normal((20_000, 3)) + 100, rng.standard_normal((20_000, 2))
    mean = X.mean(axis=0)
    np.testing.assert_allclose(gram(X, mean), (X - mean).T @ (X - mean), rtol=1e-10)
    np.testing.assert_allclose(cross(X, T, mean), (X - mean).T @ T, rtol=1e-8)


def test_products_alone_suffice_without_a_penalty():
    rng = np.random.default_rng(4)
    X, T = rng.standard_normal((5, 12)), rng.standard_normal((5, 2))
    X[4] = X[3]
    np.testing.assert_allclose(
        Ridge(X, 0.0).solve_products(X.T @ T), np.linalg.pinv(X) @ T, atol=1e-8
    )
