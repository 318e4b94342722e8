import numpy as np
import pytest

from hashbench.linalg import Factor, Ridge


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
    np.testing.assert_allclose(ridge.solve_products(A.T @ T, T), expected, atol=tolerance)
    np.testing.assert_allclose(
        ridge.quadratic(expected), np.square(A @ expected).sum(), rtol=100 * tolerance
    )


def test_a_singular_system_gives_the_least_norm_solution():
    X = np.random.default_rng(2).standard_normal((20, 4))
    X = np.hstack([X, X[:, :2]])
    T = X @ np.ones((6, 1))
    np.testing.assert_allclose(Ridge(X, 0.0).solve(T), np.linalg.pinv(X) @ T, atol=1e-8)


def test_products_alone_suffice_without_a_penalty():
    rng = np.random.default_rng(4)
    X, T = rng.standard_normal((5, 12)), rng.standard_normal((5, 2))
    X[4] = X[3]
    np.testing.assert_allclose(
        Ridge(X, 0.0).solve_products(X.T @ T), np.linalg.pinv(X) @ T, atol=1e-8
    )


@pytest.mark.parametrize("shape", [(30, 4), (4, 30)])
def test_a_relative_penalty_is_in_units_of_the_mean_eigenvalue(shape):
    rng = np.random.default_rng(0)
    X, T = rng.standard_normal(shape) + 3, rng.standard_normal((shape[0], 2))
    mean = X.mean(axis=0)
    C = (X - mean).T @ (X - mean)
    penalty = 0.2 * np.linalg.eigvalsh(C).mean()
    direct = np.linalg.solve(C + penalty * np.eye(shape[1]), (X - mean).T @ T)
    np.testing.assert_allclose(Ridge(X, 0.2, mean, relative=True).solve(T), direct, atol=1e-10)
    np.testing.assert_allclose(Ridge(X, penalty, mean).solve(T), direct, atol=1e-10)


def test_under_a_relative_penalty_scale_and_repetition_change_nothing():
    rng = np.random.default_rng(0)
    X, T = rng.standard_normal((30, 4)), rng.standard_normal((30, 2))
    mean = X.mean(axis=0)
    W = Ridge(X, 0.2, mean, relative=True).solve(T)
    np.testing.assert_allclose(Ridge(X * 50, 0.2, mean * 50, relative=True).solve(T) * 50, W)
    twice = Ridge(np.vstack([X, X]), 0.2, mean, relative=True).solve(np.vstack([T, T]))
    np.testing.assert_allclose(twice, W)


def test_constant_features_predict_nothing():
    assert not Ridge(np.ones((5, 3)), 0.1, np.ones(3), relative=True).solve(np.eye(5)).any()


@pytest.mark.parametrize("relative", [False, True])
def test_a_small_penalty_is_not_lost_in_the_rounding_of_float32(relative):
    """Two roundings of one regression: X'X in float32 alone would tell them apart."""
    rng = np.random.default_rng(0)
    low = rng.standard_normal((400, 5)) @ rng.standard_normal((5, 60))
    X = (low + 1e-4 * rng.standard_normal((400, 60))).astype(np.float32)
    T = np.where(rng.standard_normal((400, 3)) > 0, 1, -1).astype(np.float32)
    penalty = 1e-9 if relative else 1e-6
    exact = Ridge(X.astype(np.float64), penalty, relative=relative).solve(T)
    W = Ridge(X, penalty, relative=relative).solve(T)
    assert np.abs(X @ (W - exact)).max() < 1e-3


def _weak(n, d, weakest):
    """Rows whose X'X has eigenvalues from n down to n times `weakest`."""
    rng = np.random.default_rng(5)
    Q, _ = np.linalg.qr(rng.standard_normal((n, d)))
    R, _ = np.linalg.qr(rng.standard_normal((d, d)))
    return (np.sqrt(n) * Q * np.geomspace(1, np.sqrt(weakest), d) @ R).astype(np.float32)


@pytest.mark.parametrize(("weakest", "dtype"), [(1e-3, np.float32), (1e-9, np.float64)])
@pytest.mark.parametrize("relative", [False, True])
def test_systems_with_a_weak_direction_are_computed_in_double_precision(weakest, dtype, relative):
    X = _weak(400, 30, weakest)
    T = np.where(X[:, :3] > 0, 1, -1).astype(np.float32)
    ridge = Ridge(X, 1e-9, relative=relative)
    assert ridge.dtype == dtype
    assert Ridge(X, 1e3, relative=relative).dtype == np.float32
    double = Ridge(X.astype(np.float64), 1e-9, relative=relative).solve(T)
    assert np.abs(X @ (ridge.solve(T) - double)).max() < 1e-3


@pytest.mark.parametrize("d", [3, 50, 300])
@pytest.mark.parametrize("flat", [False, True])
def test_the_smallest_eigenvalue_is_estimated_from_below(d, flat):
    rng = np.random.default_rng(0)
    values = np.geomspace(1, 1e-6, d)
    if flat:
        values[d // 2 :] = np.linspace(1, 2, d - d // 2) * 1e-6
    Q, _ = np.linalg.qr(rng.standard_normal((d, d)))
    factor = Factor((Q * values) @ Q.T)
    assert 1e-6 / d < factor.smallest_eigenvalue() < 1.1e-6
    assert Factor(np.outer(Q[0], Q[0])).smallest_eigenvalue() == 0


@pytest.mark.parametrize("penalty", [1e-6, 1e-2])
def test_few_rows_less_their_mean_are_solved_to_the_last_digits(penalty):
    """X X' has nothing in the direction of their mean, where a rounded mean would leave noise."""
    rng = np.random.default_rng(5)
    X, T = (10 + rng.standard_normal((60, 300))).astype(np.float32), rng.standard_normal((60, 2))
    mean = X.mean(axis=0, dtype=np.float64)
    Z = X - mean
    expected = Z.T @ np.linalg.solve(Z @ Z.T + penalty * np.eye(60), T)
    ridge = Ridge(X, penalty, mean)
    size = np.abs(expected).max()
    np.testing.assert_allclose(ridge.solve(T), expected, atol=1e-4 * size)
    np.testing.assert_allclose(ridge.solve_products(ridge.products(T)), expected, atol=1e-4 * size)


@pytest.mark.parametrize("offset", [0, 10, 10000])
def test_large_means_do_not_cost_precision(offset):
    rng = np.random.default_rng(0)
    X = (offset + rng.standard_normal((2000, 20))).astype(np.float32)
    T = np.where(rng.standard_normal((2000, 3)) > 0, 1, -1).astype(np.float32)
    mean = X.mean(axis=0, dtype=np.float64)
    Z = X - mean
    W = Ridge(X, 1e-3, mean).solve(T)
    exact = np.linalg.solve(Z.T @ Z + 1e-3 * np.eye(20), Z.T @ T)
    assert np.abs(Z @ (W - exact)).max() < 1e-4
