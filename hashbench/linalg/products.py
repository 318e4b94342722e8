"""Products of centred features, block by block: Gram matrices and cross products.

Most fits wait for these; studies make each of them once for all cells (see ``base.shelf``).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from hashbench.base import shelf
from hashbench.base.validation import BLOCK_ROWS, Matrix
from hashbench.linalg.sweep import THIN_COLUMNS, Sweep, is_large
from hashbench.linalg.threads import CACHED_ROWS, add_up, row_blocks, share_out

#: Columns of a Gram matrix that are computed at a time, by one thread.
PANEL_COLUMNS = 512
#: Rows that are multiplied at a time: what is centred of 4096 columns takes 64 MB, and compiled
#: loops hold the next ones as well.
PRODUCT_ROWS = BLOCK_ROWS // 2


def gram(X: Matrix, mean: Matrix | None = None, exact: bool = False) -> Matrix:
    """Return (X - 1 mean')'(X - 1 mean'), (d, d) in float64, block by block; shared by fits.

    Products are those of the precision of X, or ``exact``: of double precision.
    """

    make = partial(_scatter, X, mean, np.dtype(np.float64) if exact else X.dtype)
    return shelf.fetch("gram64" if exact else "gram", [X], [mean], lambda: (make(),))[0]


def outer_gram(X: Matrix, mean: Matrix | None = None) -> Matrix:
    """Return (X - 1 mean')(X - 1 mean')', (n, n) in float64, for few rows; shared by fits."""

    def make() -> tuple[Matrix]:
        centred = X.astype(np.float64) - (0 if mean is None else mean)
        return (centred @ centred.T,)

    return shelf.fetch("outer gram", [X], [mean], make)[0]


def _scatter(X: Matrix, mean: Matrix | None, dtype: np.dtype[Any]) -> Matrix:
    """Sum products of blocks: one triangle of each, in parts that threads take; then mirror it."""
    d = X.shape[1]
    shift = np.zeros(d, X.dtype) if mean is None else mean.astype(X.dtype)
    total = np.zeros((d, d))
    if dtype == np.float32 and is_large(X) and _has_wide_registers():
        from hashbench.linalg.gram_kernels import add_triangle  # faster than the library then

        add_triangle(total, X, shift, PRODUCT_ROWS)
    else:
        _add_triangle(total, X, shift, dtype)
    for panel in row_blocks(d, PANEL_COLUMNS):
        total[panel.stop :, panel] = total[panel, panel.stop :].T
        square = total[panel, panel]
        square[:] = np.triu(square) + np.triu(square, 1).T
    return total


def _has_wide_registers() -> bool:
    from hashbench.linalg.registers import WIDE  # imports numba: a second

    return WIDE


def _add_triangle(total: Matrix, X: Matrix, shift: Matrix, dtype: np.dtype[Any]) -> None:
    n, d = X.shape
    centred = np.empty((min(n, PRODUCT_ROWS), d), dtype)
    for rows in row_blocks(n, PRODUCT_ROWS):
        share_out(partial(_write_centred, X, shift, rows.start, centred), row_blocks(rows))
        panels = row_blocks(d, PANEL_COLUMNS)
        share_out(partial(_add_panel, centred[: rows.stop - rows.start], total), panels)


def _write_centred(X: Matrix, shift: Matrix, first: int, out: Matrix, rows: slice) -> None:
    np.subtract(X[rows], shift, out=out[rows.start - first : rows.stop - first])


def _add_panel(X: Matrix, total: Matrix, panel: slice) -> None:
    rest = slice(panel.stop, None)
    total[panel, panel] += X.T[panel] @ X[:, panel]  # numpy computes one triangle of A'A alone
    total[panel, rest] += X.T[panel] @ X[:, rest]


def normal_equations(
    X: Matrix, T: Matrix, mean: Matrix | None = None, exact: bool = False
) -> tuple[Matrix, Matrix]:
    """Return ``gram(X, mean)`` and (X - 1 mean')'T."""
    dtype = np.dtype(np.float64) if exact else None
    return gram(X, mean, exact), cross_products(X, T, mean, None, BLOCK_ROWS, dtype)


def cross(
    X: Matrix, T: Any, mean: Matrix | None = None, target_mean: Matrix | None = None
) -> Matrix:
    """Return (X - 1 mean')'(T - 1 target_mean'), (d, t) in float64; shared by fits if T is a view.

    Products of two views are the second largest part of many a fit.
    """
    size = CACHED_ROWS if T.shape[1] <= THIN_COLUMNS else BLOCK_ROWS
    if not isinstance(T, np.ndarray):
        return cross_products(X, T, mean, target_mean, size)
    make = partial(cross_products, X, T, mean, target_mean, size)
    return shelf.fetch("cross", [X, T], [mean, target_mean], lambda: (make(),))[0]


def cross_products(
    X: Matrix,
    T: Any,
    mean: Matrix | None,
    target_mean: Matrix | None,
    size: int,
    dtype: np.dtype[Any] | None = None,
) -> Matrix:
    """Return what ``cross`` does, shared by nobody: blocks of so many rows, in a precision."""

    def part(rows: slice) -> tuple[Matrix]:
        sums = Sweep(X, T.shape[1], dtype)
        for block, features in blocks(X, mean, size, rows):
            target = T[block] if target_mean is None else T[block] - target_mean.astype(T.dtype)
            if dtype is not None:
                features, target = (m.astype(dtype, copy=False) for m in (features, target))
            sums.add(features, target)
        return (sums.products,)

    return np.ascontiguousarray(add_up(part, X.shape[0])[0])


def blocks(
    X: Matrix, mean: Matrix | None = None, size: int = BLOCK_ROWS, within: slice | None = None
) -> Iterator[tuple[slice, Matrix]]:
    """Yield slices of the rows, or of those within, and X - 1 mean' there, in the precision of X.

    All blocks share their memory: each is gone when the next one comes. Rows are centred before
    they are multiplied: subtracting the rank-one term afterwards would cancel digits that the
    small eigenvalues of a Gram matrix consist of.
    """
    n, d = X.shape
    shift = None if mean is None else mean.astype(X.dtype)
    centred = np.empty((0 if shift is None else min(size, n), d), X.dtype)
    for rows in row_blocks(within or slice(0, n), size):
        if shift is None:
            yield rows, X[rows]
        else:
            yield rows, np.subtract(X[rows], shift, out=centred[: rows.stop - rows.start])
