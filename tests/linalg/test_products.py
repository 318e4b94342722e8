import numpy as np
import pytest

from hashbench.core.validation import BLOCK_ROWS
from hashbench.linalg import column_means, cross_product, gram, project, row_blocks, squared_norm

RNG = np.random.default_rng(0)


def test_blocks_do_not_change_sums():
    X, T = RNG.standard_normal((20_000, 3)) + 100, RNG.standard_normal((20_000, 2))
    mean, shift = X.mean(axis=0), T.mean(axis=0)
    np.testing.assert_allclose(gram(X, mean), (X - mean).T @ (X - mean), rtol=1e-10)
    np.testing.assert_allclose(cross_product(X, T, mean), (X - mean).T @ T, rtol=1e-8)
    direct = (X - mean).T @ (T - shift)
    np.testing.assert_allclose(cross_product(X, T, mean, shift), direct, rtol=1e-8)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_gram_matrix_is_symmetric_and_the_whole_product(order, dtype):
    X = np.array(RNG.standard_normal((50, 7)), dtype, order=order)
    G = gram(X)
    assert G.dtype == np.float64
    np.testing.assert_array_equal(G, G.T)
    np.testing.assert_allclose(G, X.T.astype(float) @ X, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("more", [-1, 0, 1, BLOCK_ROWS // 2, BLOCK_ROWS + 1])
def test_products_of_many_rows_are_summed_once(more):
    X = RNG.standard_normal((BLOCK_ROWS + more, 3)).astype(np.float32)
    np.testing.assert_allclose(gram(X), X.T.astype(float) @ X, rtol=1e-4, atol=0.1)
    T = X[:, :2].astype(float)
    np.testing.assert_allclose(cross_product(X, T), X.T @ T, rtol=1e-4, atol=0.1)


def test_products_can_be_in_double_precision():
    X = (1e4 + RNG.standard_normal((300, 4))).astype(np.float32)
    mean = X.mean(axis=0, dtype=np.float64)
    direct = (X.astype(float) - mean).T @ (X.astype(float) - mean)
    np.testing.assert_allclose(gram(X, mean, np.float64), direct, rtol=1e-12)
    np.testing.assert_allclose(cross_product(X, X, mean, mean, np.float64), direct, rtol=1e-9)


def test_projections_keep_the_precision_of_the_features():
    X, W, mean = RNG.random((40, 6)).astype(np.float32), RNG.random((6, 3)), RNG.random(6)
    assert project(X, W).dtype == project(X, W, mean).dtype == np.float32
    np.testing.assert_allclose(project(X, W), X @ W, atol=1e-5)
    np.testing.assert_allclose(project(X, W, mean), (X - mean) @ W, atol=1e-5)


def test_sums_over_rows_end_in_double_precision():
    many = np.full((70_000, 1), 0.1, np.float32)
    assert column_means([many])[0][0] == pytest.approx(np.float32(0.1), rel=1e-12)
    assert squared_norm(many) == pytest.approx(700, rel=1e-6)


def test_blocks_of_rows_are_all_rows_once():
    assert list(row_blocks(10, 4)) == [slice(0, 4), slice(4, 8), slice(8, 10)]
    assert list(row_blocks(0)) == []
