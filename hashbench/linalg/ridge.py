"""Ridge regression whose factorisation is made once and used for every right-hand side.

Alternating methods solve the same normal equations at every iteration with other targets; the
Gram matrix and its Cholesky factor depend on the features alone.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy

from hashbench.base.validation import Matrix
from hashbench.linalg.products import cross_product, gram, outer_gram


class Factor:
    """A symmetric positive semi-definite system, factored once.

    Parameters
    ----------
    system : (d, d) float64
        Where it is singular to working precision, solutions are those of least norm.
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
        """The inverses of the eigenvalues, and the vectors, where the system is singular."""
        values, vectors = np.linalg.eigh(self.system)
        keep = values > values[-1] * len(values) * np.finfo(np.float64).eps
        return np.where(keep, 1 / np.where(keep, values, 1), 0), vectors

    def solve(self, right: Matrix) -> Matrix:
        """Return the solution for right-hand sides, (d, t)."""
        if self.singular:
            inverse, vectors = self._eigen
            return np.asarray(vectors @ (inverse[:, None] * (vectors.T @ right)))
        return np.asarray(scipy.linalg.cho_solve(self._cholesky, right))

    def smallest_eigenvalue(self) -> float:
        """Return a lower estimate of the smallest eigenvalue, from the factor (LAPACK's pocon)."""
        if self.singular:
            return 0.0
        norm = float(np.linalg.norm(self.system, 1))
        condition: Any = scipy.linalg.lapack.dpocon
        return norm * float(condition(self._cholesky[0], norm, uplo="L")[0])


class Ridge:
    """min_W ||T - (X - 1 mean') W||^2 + penalty ||W||^2, for any number of targets T.

    Picks the smaller of the two systems: (X'X + penalty I) of size d, or (X X' + penalty I) of
    size n, which give the same W. One pass over X to factor, one for each call of :meth:`solve`.

    X'X is computed in the precision of X. If the system then has eigenvalues as small as its
    rounding errors, it is computed again in float64: otherwise the weak directions of the solution
    would be those of rounding errors.

    Parameters
    ----------
    X : (n, d)
    penalty : float
        Not negative. A system that is singular to working precision is solved in the least-norm
        sense instead of failing.
    mean : (d,), optional
        Subtracted from the rows of X without copying them.
    relative : bool
        The penalty is in units of the mean eigenvalue of X'X, so that scaling the features or
        repeating the rows changes nothing.

    Attributes
    ----------
    gram : (d, d), or (n, n) if d > n
        X'X or X X' of the centred features, without the penalty.
    penalty : float
        What was added to its diagonal.
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
        rounding = np.finfo(X.dtype).eps * float(np.trace(self.gram))
        weak = self._factor.smallest_eigenvalue() < rounding
        if self.primal and weak and X.dtype != np.float64:
            self.dtype = np.dtype(np.float64)
            self.gram = gram(X, mean, self.dtype)
            self._factorise(penalty, relative)

    def _factorise(self, penalty: float, relative: bool) -> None:
        self.penalty = absolute(penalty, self.gram, self.X.shape[1]) if relative else float(penalty)
        self._factor = Factor(add_to_diagonal(self.gram, self.penalty))

    def with_penalty(self, penalty: float) -> Ridge:
        """Return the same regression under another penalty, sharing the Gram matrix."""
        other = object.__new__(Ridge)
        other.__dict__.update(self.__dict__)
        other._factorise(penalty, relative=False)
        return other

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
        return cross_product(self.X, T, self.mean, dtype=self.dtype)

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
    # Rows that are all equal have no size to be relative to; they predict nothing anyway.
    return strength * (eigenvalue if eigenvalue > 0 else 1.0)


def add_to_diagonal(A: Matrix, shift: float) -> Matrix:
    """Return A + shift I, (d, d)."""
    shifted = A.copy()
    shifted[np.diag_indices(len(A))] += shift
    return shifted
