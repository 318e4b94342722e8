"""Products with the features, in blocks of rows.

Features may be float32. Blocks are multiplied by BLAS in the precision of the features; their
products are added in float64, so that rounding errors do not grow with the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from hashbench.core.validation import BLOCK_ROWS, Matrix


def row_blocks(n: int, size: int = BLOCK_ROWS) -> Iterator[slice]:
    """Yield slices of at most `size` rows that make up range(n)."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def centred_blocks(
    X: Matrix, mean: Matrix | None = None, dtype: npt.DTypeLike | None = None
) -> Iterator[tuple[slice, Matrix]]:
    """Yield slices of the rows and X - 1 mean' there, in the precision of X or in `dtype`.

    Gram matrices need rows that are centred before they are multiplied: if the rank-one term
    n mean mean' is subtracted afterwards, small eigenvalues of X'X are lost in its rounding errors.
    All blocks share their memory.
    """
    n, d = X.shape
    dtype = X.dtype if dtype is None else np.dtype(dtype)
    if mean is None and dtype == X.dtype:
        for rows in row_blocks(n):
            yield rows, X[rows]
        return
    shift = np.zeros(d, dtype) if mean is None else mean.astype(dtype)
    centred = np.empty((min(n, BLOCK_ROWS), d), dtype)
    for rows in row_blocks(n):
        yield rows, np.subtract(X[rows], shift, out=centred[: rows.stop - rows.start])


def gram(X: Matrix, mean: Matrix | None = None, dtype: npt.DTypeLike | None = None) -> Matrix:
    """Return (X - 1 mean')'(X - 1 mean'), (d, d) in float64.

    Parameters
    ----------
    X : (n, d)
    mean : (d,), optional
    dtype : precision of the products, that of X by default
    """
    d = X.shape[1]
    total = np.zeros((d, d), order="F")
    for _, block in centred_blocks(X, mean, dtype):
        product: Any = scipy.linalg.get_blas_funcs("syrk", dtype=block.dtype)
        total += product(1.0, block.T)  # the upper triangle; the other one is zero
    total = total + total.T
    total[np.diag_indices(d)] /= 2
    return total


def outer_gram(X: Matrix, mean: Matrix | None = None) -> Matrix:
    """Return (X - 1 mean')(X - 1 mean')', (n, n) in float64, for few rows."""
    centred = X.astype(np.float64) - (0 if mean is None else mean)
    return np.asarray(centred @ centred.T)


def cross_product(
    X: Matrix,
    T: Any,
    mean: Matrix | None = None,
    target_mean: Matrix | None = None,
    dtype: npt.DTypeLike | None = None,
) -> Matrix:
    """Return (X - 1 mean')'(T - 1 target_mean'), (d, t) in float64.

    Parameters
    ----------
    X, T : (n, d), (n, t)
    mean, target_mean : (d,), (t,), optional
    dtype : precision of the products, that of X by default
    """
    total = np.zeros((X.shape[1], T.shape[1]))
    for rows, block in centred_blocks(X, mean, dtype):
        target = np.asarray(T[rows], block.dtype)
        total += block.T @ (
            target if target_mean is None else target - target_mean.astype(target.dtype)
        )
    return total


def project(X: Matrix, W: Matrix, mean: Matrix | None = None) -> Matrix:
    """Return (X - 1 mean') W in the precision of X, without a centred copy of X."""
    values = X @ W.astype(X.dtype, copy=False)
    if mean is not None:
        values -= (mean @ W).astype(X.dtype)
    return np.asarray(values)


def column_means(views: Sequence[Matrix]) -> list[Matrix]:
    """Return the column means of every view, (d_m,) in float64."""
    return [X.mean(axis=0, dtype=np.float64) for X in views]


def squared_norm(M: Matrix) -> float:
    """Return the sum of the squares of all entries."""
    return float(np.square(M).sum(dtype=np.float64))
