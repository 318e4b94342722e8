"""Canonical correlation analysis through whitening and one singular value decomposition."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from hashbench.core.validation import Matrix
from hashbench.linalg.pca import principal
from hashbench.linalg.products import cross_product, gram
from hashbench.linalg.ridge import add_to_diagonal
from hashbench.linalg.spectral import eigen, singular, turns

#: Views with at least this many columns and full rank are whitened by a Cholesky factor.
WIDE = 256


class CanonicalPairs(NamedTuple):
    """Canonical directions of two views, strongest first.

    Attributes
    ----------
    left, right : (d1, k), (d2, k)
        Directions a, b with a'(C11 + ridge I) a = 1 and the same for b. Columns beyond the rank
        of the cross-covariance are zero: they would only be rounding errors.
    correlations : (k,)
    """

    left: Matrix
    right: Matrix
    correlations: Matrix


def whitening(C: Matrix, rtol: float = 1e-12, ridge: float = 0.0) -> Matrix:
    """Return M, (d, r), with M'(C + ridge I) M = I for a positive semi-definite C of rank r.

    Directions in the null space of C are left out: with a small ridge, whitening would only amplify
    their rounding errors.
    """
    return _whitened(*eigen(C), rtol, ridge)


def _whitened(values: Matrix, vectors: Matrix, rtol: float, ridge: float) -> Matrix:
    keep = values > values.max(initial=0.0) * rtol
    return np.asarray(vectors[:, keep] / np.sqrt(values[keep] + ridge))


def scatter_precision(X: Matrix) -> float:
    """Return the size of rounding errors in X'X, relative to its largest eigenvalue.

    Rounding errors of a sum of n products grow like sqrt(n); a bound linear in n would discard most
    directions of a float32 view with many rows.
    """
    return float(np.finfo(X.dtype).eps * np.sqrt(max(X.shape)))


def scatter_whitening(
    X: Matrix,
    mean: Matrix | None,
    ridge: float,
    C: Matrix | None = None,
    relative: bool = False,
) -> Matrix:
    """Return a whitening of X - 1 mean' under a ridge, in one pass over X.

    Unlike that of :func:`whitening`, its columns need not be eigenvectors.

    Parameters
    ----------
    X : (n, d)
    mean : (d,), or None for zero
    ridge : float
    C : (d, d), optional
        The scatter matrix of X - 1 mean', if it is known: it saves the pass over X. Ignored if X
        has fewer rows than columns.
    relative : bool
        The ridge is in units of the mean eigenvalue of the scatter matrix: scaling the features or
        repeating the rows changes nothing.
    """
    n, d = X.shape
    precision = scatter_precision(X)
    if d > n:
        values, vectors = principal(X, mean)
        ridge *= float(values.sum()) / d if relative else 1.0
        return _whitened(values, vectors, precision, ridge)
    scatter = gram(X, mean) if C is None else C
    ridge *= float(np.trace(scatter)) / d if relative else 1.0
    triangle = _triangular_whitening(scatter, precision, ridge) if d >= WIDE else None
    return whitening(scatter, precision, ridge) if triangle is None else triangle


def _triangular_whitening(C: Matrix, rtol: float, ridge: float) -> Matrix | None:
    """Return a whitening like that of :func:`whitening` up to a rotation, in a tenth of the time.

    Returns None unless C has full rank; the Frobenius norm bounds the largest eigenvalue.
    """
    try:
        scipy.linalg.cholesky(add_to_diagonal(C, -rtol * float(np.linalg.norm(C))))
    except np.linalg.LinAlgError:
        return None
    lower = scipy.linalg.cholesky(add_to_diagonal(C, ridge), lower=True)
    inverse, _ = scipy.linalg.lapack.dtrtri(lower, lower=True, overwrite_c=True)
    return np.asarray(inverse.T)


def cca(
    X: Matrix,
    Y: Matrix,
    k: int,
    ridge: float = 1e-4,
    means: tuple[Matrix | None, Matrix | None] = (None, None),
    whiteners: tuple[Matrix, Matrix] | None = None,
) -> CanonicalPairs:
    """Return the k leading canonical pairs of X and Y, with a ridge on the scatter matrices.

    Parameters
    ----------
    X, Y : (n, d1), (n, d2)
    k : int
        Padded with zero columns beyond the number of meaningful directions.
    ridge : float
        Added to the diagonals of X'X and Y'Y (sums over rows, not means).
    means : pair of (d,)
        Subtracted from the rows without copying them.
    whiteners : pair of (d, r), optional
        Whitenings of both views under this ridge, see :func:`scatter_whitening`, if known.
    """
    Mx, My = whiteners or (
        scatter_whitening(X, means[0], ridge),
        scatter_whitening(Y, means[1], ridge),
    )
    left, correlations, right = singular(Mx.T @ cross_product(X, Y, *means) @ My)
    precision = max(np.finfo(X.dtype).eps, np.finfo(Y.dtype).eps) * max(*X.shape, *Y.shape)
    rank = min(k, int((correlations > correlations.max(initial=0.0) * precision).sum()))
    A, B = np.zeros((X.shape[1], k)), np.zeros((Y.shape[1], k))
    A[:, :rank], B[:, :rank] = Mx @ left[:, :rank], My @ right[:rank].T
    turn = turns(A)  # the signs of the directions in the feature space, not of the whitened ones
    A, B = A * turn, B * turn
    padded = np.zeros(k)
    padded[:rank] = correlations[:rank]
    return CanonicalPairs(A, B, padded)
