import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from hashbench.base.validation import BLOCK_ROWS
from hashbench.linalg.gram_kernels import STRIP_COLUMNS, add_triangle
from hashbench.linalg.products import PANEL_COLUMNS, cross, gram, normal_equations
from hashbench.linalg.sweep import THIN_COLUMNS


def test_blocks_do_not_change_sums():
    rng = np.random.default_rng(3)
    X, T = rng.standard_normal((20_000, 3)) + 100, rng.standard_normal((20_000, 2))
    mean = X.mean(axis=0)
    np.testing.assert_allclose(gram(X, mean), (X - mean).T @ (X - mean), rtol=1e-10)
    np.testing.assert_allclose(cross(X, T, mean), (X - mean).T @ T, rtol=1e-8)
    wide = np.tile(T, THIN_COLUMNS)
    shift = wide.mean(axis=0)
    np.testing.assert_allclose(
        cross(X, wide, mean, shift), (X - mean).T @ (wide - shift), rtol=1e-8
    )
    G, S = normal_equations(X, T, mean)
    np.testing.assert_allclose(G, gram(X, mean), rtol=1e-10)
    np.testing.assert_allclose(S, cross(X, T, mean), rtol=1e-8)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("d", [5, PANEL_COLUMNS, 2 * PANEL_COLUMNS + 7])
def test_a_mirrored_triangle_is_the_whole_product(order, d):
    X = np.array(np.random.default_rng(0).standard_normal((50, d)), order=order)
    G = gram(X)
    np.testing.assert_array_equal(G, G.T)
    np.testing.assert_allclose(G, X.T @ X, atol=1e-10)


@pytest.mark.parametrize("more", [-1, 0, 1, BLOCK_ROWS // 2, BLOCK_ROWS + 1])
def test_products_of_many_rows_are_summed_once(more):
    X = np.random.default_rng(0).standard_normal((BLOCK_ROWS + more, 3)).astype(np.float32)
    np.testing.assert_allclose(gram(X), X.T.astype(float) @ X, rtol=1e-4, atol=0.1)


@pytest.mark.parametrize("d", [1, STRIP_COLUMNS, 2 * STRIP_COLUMNS + 7])
@pytest.mark.parametrize(("n", "size"), [(9, 300), (256, 300), (608, 300), (608, 128), (600, 300)])
def test_a_compiled_triangle_is_that_of_the_product(d, n, size):
    """With every number of rows and columns that is left over, and in several steps."""
    rng = np.random.default_rng(0)
    X = (5 + rng.standard_normal((n, d))).astype(np.float32)
    shift, total = X.mean(axis=0), np.ones((d, d))
    add_triangle(total, X, shift, size)
    centred = X.astype(float) - shift
    expected = np.triu(1 + centred.T @ centred)
    np.testing.assert_allclose(np.triu(total), expected, rtol=1e-5, atol=2e-3)


def test_a_compiled_triangle_is_the_same_bytes_with_two_threads():
    X = np.random.default_rng(0).standard_normal((700, 500)).astype(np.float32)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            total = np.zeros((500, 500))
            add_triangle(total, X, X.mean(axis=0), 256)
            found.append(np.triu(total))
    assert np.array_equal(*found)
