"""A pass over the features, for products with a column a bit on either side.

Most iterations of most methods are X M, something with the codes, and X'T. Each block of rows is
read once for both. Where that takes seconds, compiled loops of our own take over from the library,
whose products are made for larger matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hashbench.base.validation import Matrix
from hashbench.linalg.discrete import signs
from hashbench.linalg.threads import add_up, row_blocks

#: Columns up to which a product with the features costs little more than reading them.
THIN_COLUMNS = 128
#: Columns of T up to which the compiled X'T is the faster one.
COMPILED_COLUMNS = 32
#: Columns of X from which on it is wide beside a thin matrix: for the library, for our loops.
WIDE_COLUMNS, COMPILED_WIDTH = 2048, 512
#: Entries of X from which on loading compiled loops, a second, comes back in a fit.
LARGE = 2**24
#: Rows that the compiled loops multiply together (their ROWS at most); fewer they do not take.
LEAST_ROWS = 8


def is_large(X: Any) -> bool:
    """Say whether compiled loops pay off for features, (n, d), as far as their shape tells."""
    n, d = X.shape
    return bool(d >= COMPILED_WIDTH and n * d >= LARGE)


def load_loops() -> None:
    """Have the loops for large features compiled or loaded, before a fit whose time counts."""
    from hashbench.linalg.gram_kernels import add_triangle
    from hashbench.linalg.registers import WIDE
    from hashbench.linalg.thin_kernels import add_pass, add_products, add_sides, panels, values

    X = np.zeros((LEAST_ROWS, LEAST_ROWS), np.float32)
    add_pass(X.copy(), [X], panels(X), False)
    values(X, panels(X))
    add_products(np.zeros(X.shape), X, X)
    add_sides(X, X[0], X[0, 0], np.zeros(len(X)), np.zeros(len(X)))
    if WIDE:
        add_triangle(np.zeros(X.shape), X, X[0], len(X))


class Sweep:
    """Products of the rows of X, block by block, with few columns.

    Parameters
    ----------
    X : (n, d)
        All rows, of which blocks will come; read for their shape and precision alone.
    columns : int
        t, those of M or T.
    dtype : precision of the blocks, if it is not that of X

    Attributes
    ----------
    products : (d, t) float64
        The sum of X'T over all blocks that were added.
    compiled : bool
        Whether X is so large that compiled loops take over.
    """

    def __init__(self, X: Any, columns: int, dtype: np.dtype[Any] | None = None) -> None:
        d = X.shape[1]
        thin, single = 1 < columns <= THIN_COLUMNS, (dtype or X.dtype) == np.float32
        large = is_large(X)
        self.compiled = bool(thin and single and large)
        self._adds = self.compiled and columns <= COMPILED_COLUMNS
        # T'X reads X as it lies, and takes three quarters of the time of X'T
        self._turned = thin and not self._adds and (d >= WIDE_COLUMNS or large)
        self.products = np.zeros((columns, d)).T if self._turned else np.zeros((d, columns))
        self._of: Matrix | None = None
        self._panels: Matrix = np.empty(0)

    def values(self, X: Matrix, M: Matrix) -> Matrix:
        """Return X M for a block of rows, X (b, d) and M (d, columns), in the precision of X."""
        if not (self.compiled and _plain(X)):
            return np.asarray(X @ M.astype(X.dtype, copy=False))
        from hashbench.linalg.thin_kernels import panels, values  # imports numba: a second

        if self._of is not M:  # one matrix for all blocks: in order once
            self._of, self._panels = M, panels(M)
        return values(X, self._panels)[:, : M.shape[1]]

    def add(self, X: Matrix, T: Matrix) -> None:
        """Add X'T of a block of rows, X (b, d) and T (b, columns)."""
        if self._turned:
            self.products += (T.T @ X).T
        elif self._adds and _plain(X):
            from hashbench.linalg.thin_kernels import add_products

            add_products(self.products, X, T)
        else:
            self.products += X.T @ T


def swept(
    V: Matrix, views: Sequence[Matrix], M: Sequence[Matrix] = (), signed: bool = False
) -> list[Matrix]:
    """Add X_m M_m of all views to V, take its signs if `signed`, and return every X_m'V.

    One pass over the features: a block of V depends on its own rows of X alone, so that X_m'V is
    summed while they are in cache.

    Parameters
    ----------
    V : (n, t), written to
    views : (n, d_m) each
    M : (d_m, t) each, or none

    Returns
    -------
    (d_m, t) in float64 for every view
    """
    thin = V.shape[1]
    compiled = any(Sweep(X, thin).compiled for X in views) and all(map(_plain, [V, *views]))
    if compiled:
        from hashbench.linalg.thin_kernels import add_pass, panels

        stacked = panels(np.vstack(M) if len(M) else np.empty((0, thin)))

    def part(rows: slice) -> list[Matrix]:
        if compiled and rows.stop - rows.start >= LEAST_ROWS:
            return add_pass(V[rows], [X[rows] for X in views], stacked, signed)
        sweeps = [Sweep(X, thin) for X in views]
        for block in row_blocks(rows):
            for sweep, X, m in zip(sweeps, views, M, strict=False):
                V[block] += sweep.values(X[block], m)
            if signed:
                V[block] = signs(V[block])
            for sweep, X in zip(sweeps, views, strict=True):
                sweep.add(X[block], V[block])
        return [sweep.products for sweep in sweeps]

    return add_up(part, len(V))


def sides(X: Matrix, w: Matrix, shift: float) -> tuple[Matrix, Matrix]:
    """Return h = sgn(X w - shift), (n,), and X'h, (d,), both in float64, in one pass over X."""
    h, column, least = np.empty(len(X)), w.astype(X.dtype), X.dtype.type(shift)

    def part(rows: slice) -> list[Matrix]:
        products = np.zeros(X.shape[1])
        if is_large(X) and _plain(X[rows]):
            from hashbench.linalg.thin_kernels import add_sides

            add_sides(X[rows], column, least, h[rows], products)
            return [products]
        for block in row_blocks(rows):
            h[block] = bits = signs(X[block] @ column - least)
            products += X[block].T @ bits
        return [products]

    return h, add_up(part, len(X))[0]


def _plain(X: Matrix) -> bool:
    """Say whether a block is one that the compiled loops take."""
    return bool(X.dtype == np.float32 and X.flags.c_contiguous and len(X) >= LEAST_ROWS)
