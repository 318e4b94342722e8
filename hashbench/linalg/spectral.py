"""Eigen- and singular vectors with order and signs of their own, not those of a library.

A symmetric problem gives each eigenvector up to its sign, and LAPACK's choice changes with its
version, its threads and the processor. All eigenvectors used by methods come from here: strongest
first, with the largest entry of each positive.
"""

from __future__ import annotations

from typing import cast

import numpy as np
import numpy.typing as npt
import scipy

from hashbench.base.validation import Matrix

#: Entries within this part of the largest count as large as it is, and the first of them decides.
EQUAL = 1e-6


def eigen(A: Matrix, count: int | None = None) -> tuple[Matrix, Matrix]:
    """Return the eigenvalues of a symmetric A, largest first, and their vectors as columns.

    Parameters
    ----------
    A : (d, d)
        Its lower triangle is read alone.
    count : int, optional
        How many of the largest; all by default.
    """
    d = len(A)
    if count is None or count >= d:
        values, vectors = np.linalg.eigh(A)
    else:
        values, vectors = scipy.linalg.eigh(A, subset_by_index=(d - count, d - 1))
    return np.ascontiguousarray(values[::-1]), upright(vectors[:, ::-1])


def singular(A: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """Return the thin singular value decomposition: left, values and right, A = left values right.

    The left vectors are upright, and the right ones follow them.
    """
    left, values, right = np.linalg.svd(A, full_matrices=False)
    turn = turns(left)
    return left * turn, values, right * turn[:, None]


def upright(vectors: Matrix) -> Matrix:
    """Return the columns with signs that make the largest entry of each positive."""
    return np.ascontiguousarray(vectors * turns(vectors))


def turns(vectors: Matrix) -> npt.NDArray[np.float64]:
    """Return -1 for every column whose largest entry is negative, and +1 for the others.

    Of entries that rounding alone tells apart, such as those of (1, -1), the first counts.
    """
    if not vectors.size:
        return np.ones(vectors.shape[1])
    size = np.abs(vectors)
    first = (size >= (1 - EQUAL) * size.max(axis=0)).argmax(axis=0)
    largest = np.take_along_axis(vectors, first[None], axis=0)[0]
    return cast("npt.NDArray[np.float64]", np.where(largest < 0, -1.0, 1.0))
