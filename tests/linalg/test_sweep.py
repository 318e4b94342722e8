import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from hashbench.base.validation import BLOCK_ROWS
from hashbench.linalg import Sweep, cross, gram, sweep, times


@pytest.fixture
def everything_is_large(monkeypatch):
    monkeypatch.setattr(sweep, "LARGE", 0)


def _random(*shape, dtype=np.float64):
    return np.random.default_rng(0).standard_normal(shape).astype(dtype)


@pytest.mark.usefixtures("everything_is_large")
@pytest.mark.parametrize("t", [2, 16, 23, 128])
@pytest.mark.parametrize("rows", [64, 101])
@pytest.mark.parametrize("d", [sweep.COMPILED_WIDTH, sweep.WIDE_COLUMNS + 2])
def test_compiled_values_are_those_of_the_library(t, rows, d):
    X, M = _random(rows, d), _random(d, t)
    single = times(X.astype(np.float32), M)
    assert single.dtype == np.float32
    assert single.shape == (rows, t)
    np.testing.assert_allclose(single, X @ M, rtol=1e-5, atol=2e-4)


@pytest.mark.usefixtures("everything_is_large")
@pytest.mark.parametrize("t", [2, 16, 23, 33, 128])
@pytest.mark.parametrize("d", [sweep.COMPILED_WIDTH, 2 * sweep.WIDE_COLUMNS + 3])
def test_products_of_blocks_are_added_up(t, d):
    """Blocks that are a multiple of six rows, that are not, and that are too short to compile."""
    X, T = _random(64 + 101 + 6 + 5, d), _random(64 + 101 + 6 + 5, t)
    single = X.astype(np.float32), T.astype(np.float32)
    passed = Sweep(single[0], t)
    for start, stop in ((0, 64), (64, 165), (165, 171), (171, 176)):
        passed.add(*(each[start:stop] for each in single))
    assert passed.products.dtype == np.float64
    np.testing.assert_allclose(passed.products, X.T @ T, rtol=1e-4, atol=2e-4)


@pytest.mark.usefixtures("everything_is_large")
@pytest.mark.parametrize("rows", [2 * BLOCK_ROWS, 2 * BLOCK_ROWS + 3])
def test_the_number_of_threads_does_not_change_a_byte(rows):
    """Also not where the last part has fewer rows than are multiplied together."""
    X, M = _random(rows, sweep.COMPILED_WIDTH, dtype=np.float32), _random(sweep.COMPILED_WIDTH, 16)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            found.append([times(X, M), cross(X, X[:, :16].copy()), gram(X, X.mean(axis=0))])
    for one, two in zip(*found, strict=True):
        assert np.array_equal(one, two)
    np.testing.assert_allclose(found[0][0], X @ M, rtol=1e-4, atol=2e-4)
    np.testing.assert_allclose(found[0][1], X.T @ X[:, :16], rtol=1e-3, atol=0.5)


@pytest.mark.parametrize("large", [False, True])
def test_what_is_not_compiled_for_is_the_library_s_own(monkeypatch, large):
    X, M = _random(80, 2050), _random(2050, 3)
    if large:
        monkeypatch.setattr(sweep, "LARGE", 0)
    assert np.array_equal(times(X, M), X @ M)  # double precision
    single = X.astype(np.float32)
    blocks = [single[:5], np.asfortranarray(single), *(() if large else (single,))]
    for block in blocks:
        assert np.array_equal(times(block, M), block @ M.astype(np.float32))


def test_a_vector_is_no_matrix_of_few_columns():
    X, m = _random(80, 2050), _random(2050)
    assert np.array_equal(times(X, m), X @ m)
