"""Eigenvectors and singular vectors with a defined order and defined signs.

Eigenvectors are unique up to their signs, and LAPACK's choice changes with its version, its threads
and the processor. Methods take all eigenvectors from here: largest eigenvalue first, and the
largest entry of each vector is positive.
"""

from __future__ import annotations

from typing import cast

import numpy as np
import numpy.typing as npt
import scipy

from hashbench.core.validation import Matrix

#: Entries whose relative difference is below this count as equally large.
EQUAL = 1e-6


def eigen(A: Matrix, count: int | None = None) -> tuple[Matrix, Matrix]:
    """Return the eigenvalues of a symmetric A, largest first, and their vectors as columns.

    Parameters
    ----------
    A : (d, d)
        Only its lower triangle is read.
    count : int, optional
        Number of eigenvalues, the largest; all by default.
    """
    d = len(A)
    if count is None or count >= d:
        values, vectors = np.linalg.eigh(A)
    else:
        values, vectors = scipy.linalg.eigh(A, subset_by_index=(d - count, d - 1))
    return np.ascontiguousarray(values[::-1]), upright(vectors[:, ::-1])


def singular(A: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """Return the thin singular value decomposition: left, values and right, A = left values right.

    The largest entry of each left vector is positive.
    """
    left, values, right = np.linalg.svd(A, full_matrices=False)
    turn = turns(left)
    return left * turn, values, right * turn[:, None]


def upright(vectors: Matrix) -> Matrix:
    """Return the columns with signs that make the largest entry of each positive."""
    return np.ascontiguousarray(vectors * turns(vectors))


def turns(vectors: Matrix) -> npt.NDArray[np.float64]:
    """Return -1 for every column whose largest entry is negative, and +1 for the others.

    Of entries that are equally large up to rounding, such as those of (1, -1), the first counts.
    """
    if not vectors.size:
        return np.ones(vectors.shape[1])
    size = np.abs(vectors)
    first = (size >= (1 - EQUAL) * size.max(axis=0)).argmax(axis=0)
    largest = np.take_along_axis(vectors, first[None], axis=0)[0]
    return cast("npt.NDArray[np.float64]", np.where(largest < 0, -1.0, 1.0))
