import numpy as np

from hashbench.linalg.regression import relative_ridge


def test_the_penalty_is_relative_to_the_mean_eigenvalue():
    rng = np.random.default_rng(0)
    X, T = rng.standard_normal((30, 4)) + 3, rng.standard_normal((30, 2))
    mean = X.mean(axis=0)
    C = (X - mean).T @ (X - mean)
    penalty = 0.2 * np.linalg.eigvalsh(C).mean()
    direct = np.linalg.solve(C + penalty * np.eye(4), (X - mean).T @ T)
    np.testing.assert_allclose(relative_ridge(X, 0.2, mean).solve(T), direct)


def test_scaled_features_and_repeated_rows_give_the_same_predictions():
    rng = np.random.default_rng(0)
    X, T = rng.standard_normal((30, 4)), rng.standard_normal((30, 2))
    mean = X.mean(axis=0)
    W = relative_ridge(X, 0.2, mean).solve(T)
    np.testing.assert_allclose(relative_ridge(X * 50, 0.2, mean * 50).solve(T) * 50, W)
    twice = relative_ridge(np.vstack([X, X]), 0.2, mean).solve(np.vstack([T, T]))
    np.testing.assert_allclose(twice, W)


def test_constant_features_predict_nothing():
    assert not relative_ridge(np.ones((5, 3)), 0.1, np.ones(3)).solve(np.eye(5)).any()
