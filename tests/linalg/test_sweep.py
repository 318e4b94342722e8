import os
import subprocess
import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from hashbench.base.validation import BLOCK_ROWS
from hashbench.linalg import Sweep, column_means, cross, gram, sides, signs, sweep, swept, times
from hashbench.linalg.registers import WIDE


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
    """Blocks that are a multiple of eight rows, that are not, and that are too short to compile."""
    X, T = _random(64 + 101 + 8 + 3, d), _random(64 + 101 + 8 + 3, t)
    single = X.astype(np.float32), T.astype(np.float32)
    passed = Sweep(single[0], t)
    for start, stop in ((0, 64), (64, 165), (165, 173), (173, 176)):
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


@pytest.mark.usefixtures("everything_is_large")
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("t", [3, 16, 40])
@pytest.mark.parametrize("rows", [7, 8, 16, 23, 24, 2051])
def test_a_pass_over_two_views_is_both_its_products(rows, t, signed):
    """With every number of rows and columns that is left over."""
    views = [_random(rows, d, dtype=np.float32) for d in (sweep.COMPILED_WIDTH + 5, 11)]
    M = [_random(X.shape[1], t, dtype=np.float32) for X in views]
    start = _random(rows, t, dtype=np.float32)
    V = start.copy()
    found = swept(V, views, M, signed)
    values = start + sum(X.astype(float) @ m for X, m in zip(views, M, strict=True))
    expected = signs(values) if signed else values
    np.testing.assert_allclose(V, expected, rtol=1e-4, atol=2e-4)
    for X, products in zip(views, found, strict=True):
        np.testing.assert_allclose(products, X.T @ expected, rtol=1e-3, atol=2e-2)


@pytest.mark.usefixtures("everything_is_large")
def test_a_pass_may_add_nothing():
    X, V = _random(40, sweep.COMPILED_WIDTH, dtype=np.float32), _random(40, 16, dtype=np.float32)
    kept = V.copy()
    (products,) = swept(V, [X])
    assert np.array_equal(V, kept)
    np.testing.assert_allclose(products, X.T @ V, rtol=1e-4, atol=2e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_pass_over_small_views_is_the_same(dtype):
    views = [_random(50, d, dtype=dtype) for d in (9, 4)]
    M = [_random(d, 3, dtype=dtype) for d in (9, 4)]
    V = np.zeros((50, 3), dtype)
    found = swept(V, views, M)
    np.testing.assert_allclose(V, views[0] @ M[0] + views[1] @ M[1], rtol=1e-4, atol=1e-5)
    for X, products in zip(views, found, strict=True):
        np.testing.assert_allclose(products, X.T @ V, rtol=1e-4, atol=1e-4)


@pytest.mark.usefixtures("everything_is_large")
@pytest.mark.parametrize("rows", [3, 9, 10, 11, 12, 4100])
def test_sides_of_a_plane_are_those_of_its_values(rows):
    """Too few rows to compile, every number that is left over, and several sums."""
    X, w = _random(rows, sweep.COMPILED_WIDTH + 1, dtype=np.float32), _random(513)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            h, products = sides(X, w, 0.25)
            found.append((h, products))
    expected = np.where(X.astype(float) @ w >= 0.25, 1, -1)
    np.testing.assert_array_equal(h, expected)
    np.testing.assert_allclose(products, X.T.astype(float) @ expected, atol=1e-2)
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.usefixtures("everything_is_large")
def test_means_of_large_features_are_those_of_small_ones():
    X = 100 + _random(3000, sweep.COMPILED_WIDTH, dtype=np.float32)
    np.testing.assert_allclose(column_means([X])[0], X.mean(axis=0, dtype=float), rtol=1e-6)


def test_loops_that_were_loaded_are_not_compiled_for_features_again():
    """Mapped ones are read-only, others are not."""
    from hashbench.linalg import gram_kernels, thin_kernels

    sweep.load_loops()
    kernels = [
        each
        for module in (gram_kernels, thin_kernels)
        for each in vars(module).values()
        if hasattr(each, "signatures")
    ]
    before = {each: len(each.signatures) for each in kernels}
    mapped, M = _random(50, 600, dtype=np.float32), _random(600, 16)
    mapped.flags.writeable = False
    for X in (mapped, mapped.copy()):
        thin_kernels.values(X, thin_kernels.panels(M))
        thin_kernels.add_products(np.zeros((600, 50)), X, X[:, :50].copy())
        V = np.zeros((50, 16), np.float32)
        thin_kernels.add_pass(V, [X], thin_kernels.panels(M), False)
        thin_kernels.add_sides(X, X[0], X[0, 0], np.zeros(50), np.zeros(600))
        gram_kernels.add_triangle(np.zeros((600, 600)), X, X.mean(axis=0), 50)
    assert len(kernels) >= 7
    assert {each: len(each.signatures) for each in kernels} == before


PASS = """
import sys
import numpy as np
from hashbench.linalg.registers import WIDE
from hashbench.linalg.thin_kernels import add_pass, panels
rng = np.random.default_rng(0)
X, M = rng.standard_normal((99, 601)).astype(np.float32), rng.standard_normal((601, 20))
V = np.zeros((99, 20), np.float32)
(S,) = add_pass(V, [X], panels(M), False)
np.savez(sys.argv[1], V=V, S=S, wide=WIDE)
"""


@pytest.mark.skipif(not WIDE, reason="this processor has one kind of registers")
def test_a_pass_is_the_same_bytes_with_registers_of_either_width(tmp_path):
    found = []
    for name, features in (("wide", {}), ("narrow", {"NUMBA_CPU_FEATURES": "+avx2,+fma"})):
        kept = {"HASHBENCH_CACHE": str(tmp_path / name)}
        command = [sys.executable, "-c", PASS, str(tmp_path / f"{name}.npz")]
        subprocess.run(command, check=True, env={**os.environ, **features, **kept})
        found.append(np.load(tmp_path / f"{name}.npz"))
    wide, narrow = found
    assert wide["wide"]
    assert not narrow["wide"]
    for each in "VS":
        assert np.array_equal(wide[each], narrow[each])
