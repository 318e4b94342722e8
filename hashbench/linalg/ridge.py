"""Ridge regression that factors its system once, for any number of right-hand sides.

Alternating methods solve the same normal equations in every iteration with other targets. The
Gram matrix and its Cholesky factor depend only on the features.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy

from hashbench.core.validation import Matrix
from hashbench.linalg.products import cross_product, gram, outer_gram


class Factor:
    """A symmetric positive semi-definite system, factored once.

    Parameters
    ----------
    system : (d, d) float64
        If it is singular to working precision, solutions have the least norm.
    """

    def __init__(self, system: Matrix) -> None:
        self.system = system
        try:
            self._cholesky = scipy.linalg.cho_factor(system, lower=True)
            pivots = np.diag(self._cholesky[0])
            self.singular = bool(pivots.min() <= 1e-7 * pivots.max())
        except np.linalg.LinAlgError:
            self.singular = True

    @cached_property
    def _eigen(self) -> tuple[Matrix, Matrix]:
        """Return the inverses of the eigenvalues (zero for zero), and the eigenvectors."""
        values, vectors = np.linalg.eigh(self.system)
        keep = values > values[-1] * len(values) * np.finfo(np.float64).eps
        return np.where(keep, 1 / np.where(keep, values, 1), 0), vectors

    def solve(self, right: Matrix) -> Matrix:
        """Return the solution for right-hand sides, (d, t)."""
        if self.singular:
            inverse, vectors = self._eigen
            return np.asarray(vectors @ (inverse[:, None] * (vectors.T @ right)))
        return np.asarray(scipy.linalg.cho_solve(self._cholesky, right, check_finite=False))

    def smallest_eigenvalue(self) -> float:
        """Return a lower estimate of the smallest eigenvalue, from the factor (LAPACK's pocon)."""
        if self.singular:
            return 0.0
        norm = float(scipy.linalg.norm(self.system, 1))
        condition: Any = scipy.linalg.lapack.dpocon
        return norm * float(condition(self._cholesky[0], norm, uplo="L")[0])


class Ridge:
    """min_W ||T - (X - 1 mean') W||^2 + penalty ||W||^2, for any number of targets T.

    Picks the smaller of the two systems: (X'X + penalty I) of size d, or (X X' + penalty I) of
    size n, which give the same W. One pass over X to factor, one for each call of :meth:`solve`.

    X'X and X'T are computed in the precision of X. If the system has eigenvalues as small as the
    rounding errors of products with X (not centred), they are computed in float64 instead:
    otherwise rounding errors would decide about the weak directions of the solution.

    Parameters
    ----------
    X : (n, d)
    penalty : float
        Not negative. A system that is singular to working precision is solved in the least-norm
        sense.
    mean : (d,), optional
        Subtracted from the rows of X without copying them.
    relative : bool
        The penalty is in units of the mean eigenvalue of X'X: scaling the features or repeating
        the rows changes nothing.

    Attributes
    ----------
    gram : (d, d), or (n, n) if d > n
        X'X or X X' of the centred features, without the penalty.
    penalty : float
        The value that is added to its diagonal.
    """

    def __init__(
        self, X: Matrix, penalty: float, mean: Matrix | None = None, relative: bool = False
    ) -> None:
        self.X, self.mean = X, mean
        n, d = X.shape
        self.primal = d <= n
        self.dtype = X.dtype
        self.gram = gram(X, mean) if self.primal else outer_gram(X, mean)
        self._factorise(penalty, relative)
        shift = 0.0 if mean is None else n * float(mean @ mean)
        rounding = np.finfo(X.dtype).eps * (float(np.trace(self.gram)) + shift)
        weak = self._factor.smallest_eigenvalue() < rounding
        if self.primal and weak and X.dtype != np.float64:
            self.dtype = np.dtype(np.float64)
            self.gram = gram(X, mean, self.dtype)
            self._factorise(penalty, relative)

    def _factorise(self, penalty: float, relative: bool) -> None:
        self.penalty = absolute(penalty, self.gram, self.X.shape[1]) if relative else float(penalty)
        self._factor = Factor(add_to_diagonal(self.gram, self.penalty))

    def scatter(self) -> Matrix | None:
        """Return (X - 1 mean')'(X - 1 mean'), (d, d), if it was computed: if d <= n."""
        return self.gram if self.primal else None

    def quadratic(self, W: Matrix) -> float:
        """Return ||(X - 1 mean') W||^2 for W, (d, t); no pass over X if d <= n."""
        if self.primal:
            return float(np.sum(W * (self.gram @ W)))
        return float(np.square(self._centred @ W).sum())

    def products(self, T: Matrix) -> Matrix:
        """Return (X - 1 mean')' T, (d, t) in float64."""
        if not self.primal:
            return np.asarray(self._centred.T @ T)
        # X'T - mean (1'T): no centred copy of X.
        S = cross_product(self.X, T, dtype=self.dtype)
        return S if self.mean is None else S - np.outer(self.mean, T.sum(axis=0, dtype=np.float64))

    def solve(self, T: Matrix) -> Matrix:
        """Return W, (d, t) in float64, for targets T, (n, t)."""
        if self.primal:
            return self._factor.solve(self.products(T))
        return self.products(self._factor.solve(np.asarray(T, np.float64)))

    def solve_products(self, S: Matrix, T: Matrix | None = None) -> Matrix:
        """Return W for S = (X - 1 mean')' T, (d, t): without a pass over X if d <= n.

        Otherwise from the targets T if they are given, and else by
        (X'X + p I)^-1 S = (S - X'(X X' + p I)^-1 X S) / p.
        """
        if self.primal:
            return self._factor.solve(np.asarray(S, np.float64))
        if T is not None:
            return self.solve(T)
        X = self._centred
        inverse = self._factor.solve(X @ S)
        if self.penalty == 0:  # S lies in the row space of X: (X'X)^+ S = X'(X X')^+2 X S
            return np.asarray(X.T @ self._factor.solve(inverse))
        return np.asarray((S - X.T @ inverse) / self.penalty)

    @cached_property
    def _centred(self) -> Matrix:
        """X - 1 mean' in float64, for few rows."""
        wide = self.X.astype(np.float64)
        return wide if self.mean is None else wide - self.mean


def absolute(strength: float, gram: Matrix, d: int) -> float:
    """Return the penalty that is `strength` times the mean of the d eigenvalues of X'X.

    Parameters
    ----------
    strength : float
    gram : X'X or X X', which have the same trace
    d : int
        Columns of X.
    """
    eigenvalue = float(np.trace(gram)) / d
    # The trace is zero if all rows are equal; such features predict nothing under any penalty.
    return strength * (eigenvalue if eigenvalue > 0 else 1.0)


def add_to_diagonal(A: Matrix, shift: float) -> Matrix:
    """Return A + shift I, (d, d)."""
    shifted = A.copy()
    shifted[np.diag_indices(len(A))] += shift
    return shifted
