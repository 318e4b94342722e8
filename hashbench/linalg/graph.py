"""Exact nearest-neighbour graphs of the rows of a view, as sparse matrices.

The distances are looked at a block of rows at a time: memory grows with the rows, time with
their square, which is what exactness costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy

from hashbench.base.validation import BLOCK_ROWS, Matrix

if TYPE_CHECKING:
    Sparse = scipy.sparse.csr_array[Any]

#: Distances held at once: 64 MB in float32.
BLOCK_DISTANCES = 1 << 24


def nearest_rows(X: Matrix, count: int) -> npt.NDArray[np.intp]:
    """Return the ``count`` nearest other rows of every row, by Euclidean distance.

    Of rows at equal distance the one with the lower index is taken, so that the answer does not
    depend on a library's sorting. A row is never its own neighbour, its duplicates may be.

    Parameters
    ----------
    X : (n, d)
    count : int
        Cut to n - 1, the rows there are.

    Returns
    -------
    (n, min(count, n - 1)) array of int
        In each row the indices ascend; they are not ordered by distance.
    """
    n = X.shape[0]
    count = min(count, n - 1)
    neighbours = np.empty((n, count), np.intp)
    if count < 1:
        return neighbours
    # Distances do not change when the mean is taken off, but far fewer digits cancel in them. From
    # counts a whole number is taken off: their distances are then exact, and so are the many ties.
    mean = X.mean(axis=0, dtype=np.float64).astype(X.dtype)
    if _whole(X):
        mean = np.rint(mean)
    size = max(1, BLOCK_DISTANCES // n)
    for start in range(0, n, size):
        D = _distances(X, slice(start, min(start + size, n)), mean)
        neighbours[start : start + size] = _smallest(D, count)
    return neighbours


def _whole(X: Matrix) -> bool:
    """Tell whether all entries are whole numbers."""
    blocks = (X[start : start + BLOCK_ROWS] for start in range(0, X.shape[0], BLOCK_ROWS))
    return all(bool((block == np.rint(block)).all()) for block in blocks)


def _distances(X: Matrix, rows: slice, mean: Matrix) -> Matrix:
    """Squared distances of a block of rows to all rows, less a constant a row; inf to itself."""
    block = -2 * (X[rows] - mean)
    D = np.empty((block.shape[0], X.shape[0]), X.dtype)
    for start in range(0, X.shape[0], BLOCK_ROWS):
        others = X[start : start + BLOCK_ROWS] - mean
        columns = D[:, start : start + BLOCK_ROWS]
        np.matmul(block, others.T, out=columns)
        columns += np.einsum("ij,ij->i", others, others)
    D[np.arange(len(D)), np.arange(rows.start, rows.stop)] = np.inf
    return D


def _smallest(D: Matrix, count: int) -> npt.NDArray[np.intp]:
    """Return the columns of the ``count`` smallest entries of every row, first come first."""
    # At least count entries of a row are no larger than the count-th smallest of the minima of
    # runs of columns, and few more: much sooner found than the count-th smallest entry itself.
    n = D.shape[1]
    minima = np.minimum.reduceat(D, np.arange(0, n, max(1, min(64, n // (4 * count)))), axis=1)
    bound = np.partition(minima, count - 1, axis=1)[:, count - 1, None]
    rows, columns = np.divmod(np.flatnonzero(bound >= D), n)
    found = np.bincount(rows, minlength=len(D))
    chosen = np.empty((len(D), count), np.intp)
    ends = np.cumsum(found)
    for row, (begin, end) in enumerate(zip(ends - found, ends, strict=True)):
        candidates = columns[begin:end]  # ascending
        if len(candidates) > count:
            values = D[row, candidates]
            limit = np.partition(values, count - 1)[count - 1]
            nearer = values < limit
            room = np.cumsum(values == limit) <= count - nearer.sum()
            candidates = candidates[nearer | ((values == limit) & room)]
        chosen[row] = candidates
    return chosen


def neighbour_graph(X: Matrix, count: int) -> Sparse:
    """Return G, (n, n) sparse with G_ij = 1 if row j is among the nearest rows of row i.

    Not symmetric; see :func:`either_way`. ``(G + G.T) / 2`` is the other symmetric form in use.
    """
    neighbours = nearest_rows(X, count)
    n, found = neighbours.shape
    ends = np.arange(n + 1) * found
    return scipy.sparse.csr_array((np.ones(n * found), neighbours.ravel(), ends), shape=(n, n))


def either_way(graph: Sparse) -> Sparse:
    """Return the symmetric 0/1 graph that joins i and j if either is a neighbour of the other."""
    return scipy.sparse.csr_array(graph.maximum(graph.T))
