"""Exact nearest-neighbour graphs of the rows of a view, as sparse matrices.

Distances are computed block by block: memory grows linearly with the rows, time with their square.
scikit-learn's NearestNeighbors does not say which of several rows at equal distance it takes. In
text features every second row has duplicates, so codes would depend on the library's version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy

from hashbench.core.validation import Matrix
from hashbench.linalg.features import squared_distances
from hashbench.linalg.products import row_blocks

if TYPE_CHECKING:
    Sparse = scipy.sparse.csr_array[Any]

#: Distances held at once: 64 MB in float32.
BLOCK_DISTANCES = 1 << 24


def nearest_rows(X: Matrix, count: int) -> npt.NDArray[np.intp]:
    """Return the nearest other rows of every row, by Euclidean distance.

    Of rows at equal distance those with the lowest index are taken. A row is never its own
    neighbour, its duplicates may be.

    Parameters
    ----------
    X : (n, d)
    count : int
        Number of neighbours; at most n - 1 are returned.

    Returns
    -------
    (n, min(count, n - 1)) array of int
        The indices of each row ascend; they are not ordered by distance.
    """
    n = X.shape[0]
    count = min(count, n - 1)
    neighbours = np.empty((n, max(count, 0)), np.intp)
    if count < 1:
        return neighbours
    # Centring does not change distances, but it reduces their rounding errors. Counts are shifted
    # by whole numbers, so that their distances, and ties between them, stay exact.
    mean = X.mean(axis=0, dtype=np.float64).astype(X.dtype)
    whole = all(bool((X[rows] == np.rint(X[rows])).all()) for rows in row_blocks(n))
    Z = X - (np.rint(mean) if whole else mean)
    for rows in row_blocks(n, max(1, BLOCK_DISTANCES // n)):
        D = squared_distances(Z[rows], Z)
        D[np.arange(len(D)), np.arange(rows.start, rows.stop)] = np.inf
        farthest = np.partition(D, count - 1, axis=1)[:, count - 1, None]
        nearer, equal = farthest > D, farthest == D
        missing = count - nearer.sum(axis=1, keepdims=True)
        chosen = nearer | (equal & (equal.cumsum(axis=1) <= missing))
        neighbours[rows] = np.nonzero(chosen)[1].reshape(-1, count)
    return neighbours


def neighbour_graph(X: Matrix, count: int) -> Sparse:
    """Return G, (n, n) sparse with G_ij = 1 if row j is among the nearest rows of row i.

    Not symmetric: ``G.maximum(G.T)`` connects rows if either is a neighbour of the other.
    """
    neighbours = nearest_rows(X, count)
    n, found = neighbours.shape
    ends = np.arange(n + 1) * found
    return scipy.sparse.csr_array((np.ones(n * found), neighbours.ravel(), ends), shape=(n, n))
