import numpy as np
import pytest

from hashbench.linalg import logistic
from hashbench.linalg.logistic import kernel_logistic, lbfgs_logistic


def objective(K, K0, T, W, penalty):
    return np.logaddexp(0, -T * (K @ W)).sum(axis=0) + penalty * np.sum(W * (K0 @ W), axis=0)


def gradient(K, K0, T, W, penalty):
    return -K.T @ (T / (1 + np.exp(T * (K @ W)))) + 2 * penalty * K0 @ W


def newton(K, K0, t, penalty):
    """One bit by undamped Newton steps with the Hessian written out, from zero."""
    w = np.zeros(K.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(t * (K @ w)))
        H = (K.T * (p * (1 - p))) @ K + 2 * penalty * K0
        w -= np.linalg.solve(H, gradient(K, K0, t, w, penalty))
    return w


def problem(n=200, m=15, bits=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    K = np.exp(-np.square(X[:, None] - X[None, :m]).sum(axis=2) / 6)
    T = np.where(X @ rng.standard_normal((3, bits)) + rng.standard_normal((n, bits)) > 0, 1.0, -1.0)
    return K, K[:m], T


def test_equals_newton_with_the_hessian_written_out():
    K, K0, T = problem()
    W = kernel_logistic(K, K0, T, 0.05, tolerance=1e-14)
    for j in range(T.shape[1]):
        np.testing.assert_allclose(W[:, j], newton(K, K0, T[:, j], 0.05), rtol=1e-5, atol=1e-6)


def test_promised_accuracy_is_kept_and_bits_do_not_depend_on_each_other():
    K, K0, T = problem()
    best = objective(K, K0, T, kernel_logistic(K, K0, T, 0.01, tolerance=1e-14), 0.01)
    found = objective(K, K0, T, kernel_logistic(K, K0, T, 0.01), 0.01)
    assert (found <= best * (1 + 1e-5)).all()
    alone = kernel_logistic(K, K0, T[:, 1:2], 0.01, tolerance=1e-14)
    np.testing.assert_allclose(objective(K, K0, T[:, 1:2], alone, 0.01), best[1:2], rtol=1e-12)


def test_lbfgs_approaches_the_optimum_with_every_step():
    K, K0, T = problem()
    best = objective(K, K0, T, kernel_logistic(K, K0, T, 0.01, tolerance=1e-14), 0.01)
    few, more, many = (
        objective(K, K0, T, lbfgs_logistic(K, K0, T, 0.01, steps), 0.01) for steps in (3, 15, 1000)
    )
    assert (few > more).all()
    assert (more > best * (1 + 1e-6)).all()
    np.testing.assert_allclose(many, best, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_and_precision_do_not_change_the_answer(monkeypatch, dtype):
    K, K0, T = problem()
    K = K.astype(dtype)
    whole = kernel_logistic(K, K0, T, 0.05, tolerance=1e-12)
    monkeypatch.setattr(logistic, "ROWS", 7)
    blocks = kernel_logistic(K, K0, T.astype(dtype), 0.05, tolerance=1e-12)
    assert whole.dtype == blocks.dtype == np.float64
    np.testing.assert_allclose(blocks, whole, rtol=1e-4, atol=1e-5)


def test_separable_targets_end_at_the_penalised_optimum():
    K, K0, _ = problem()
    T = np.where(K @ np.linspace(-1, 1, 15)[:, None] > 0, 1.0, -1.0)
    T = np.hstack([T, np.ones_like(T)])
    W = kernel_logistic(K, K0, T, 1e-4, tolerance=1e-10)
    scale = np.abs(K.T @ T).max()
    assert np.abs(gradient(K, K0, T, W, 1e-4)).max() < 1e-3 * scale
    assert ((K @ W > 0) == (T > 0)).all()


def test_kernel_of_the_points_in_float32_has_negative_eigenvalues_and_does_no_harm():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 2))  # two dimensions: the spectrum falls fast
    K = np.exp(-np.square(X[:, None] - X[None, :100]).sum(axis=2) / 8)
    T = np.where(X[:, :1] * X[:, 1:] > 0, 1.0, -1.0)
    narrow = K[:100].astype(np.float32)
    assert np.linalg.eigvalsh(narrow.astype(np.float64))[0] < 0
    exact = kernel_logistic(K, K[:100], T, 0.01)
    found = kernel_logistic(K.astype(np.float32), narrow, T, 0.01)
    assert ((K @ found > 0) == (K @ exact > 0)).mean() > 0.99


def test_singular_kernels_give_finite_weights():
    K, K0, T = problem()
    twice = np.hstack([K, K])  # every kernel point twice
    W = kernel_logistic(twice, np.tile(K0, (2, 2)), T, 0.05, tolerance=1e-12)
    once = kernel_logistic(K, K0, T, 0.05, tolerance=1e-12)
    np.testing.assert_allclose(twice @ W, K @ once, atol=1e-4)
    assert not kernel_logistic(np.zeros((5, 2)), np.zeros((2, 2)), T[:5], 0.05).any()
    assert np.isfinite(kernel_logistic(np.ones((1, 1)), np.ones((1, 1)), T[:1], 0.01)).all()
