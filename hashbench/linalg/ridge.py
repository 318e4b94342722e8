"""Ridge regression whose factorisation is made once and used for every right-hand side.

Alternating methods solve the same normal equations at every iteration with other targets; the
Gram matrix and its Cholesky factor depend on the features alone.
"""

from __future__ import annotations

from contextlib import nullcontext
from functools import cached_property

import numpy as np
import scipy

from hashbench.base.validation import BLOCK_ROWS, Matrix
from hashbench.linalg.products import blocks, cross, cross_products, gram, outer_gram
from hashbench.linalg.threads import one_thread

#: Multiplications of X'X from which on double precision takes a second more.
LARGE = 2e10
#: Rows and columns of right-hand sides that one thread solves for.
MANY_ROWS, FEW_COLUMNS = 1024, 32
#: Solutions after which the weakest direction of a system shows.
INVERSIONS = 6


class Factor:
    """A symmetric positive semi-definite system, factored once.

    Parameters
    ----------
    system : (d, d) float64
        Overwritten. Where it is singular to working precision, solutions are those of least norm.
    """

    def __init__(self, system: Matrix) -> None:
        self._diagonal = np.diag(system).copy()
        try:
            # LAPACK takes columns: the lower triangle of the one is the upper of the other.
            self._factor = scipy.linalg.cho_factor(system.T, lower=True, overwrite_a=True)
            pivots = np.abs(np.diag(self._factor[0]))
            self.singular = bool(pivots.min() <= 1e-7 * pivots.max())
        except np.linalg.LinAlgError:
            self.singular = True
        self._system = system  # its other triangle is as it was

    @cached_property
    def _eigen(self) -> tuple[Matrix, Matrix]:
        """The inverses of the eigenvalues, and the vectors, where the system is singular."""
        np.fill_diagonal(self._system, self._diagonal)
        values, vectors = np.linalg.eigh(self._system)
        keep = values > values[-1] * len(values) * np.finfo(np.float64).eps
        inverse = np.zeros_like(values)
        inverse[keep] = 1 / values[keep]
        return inverse, vectors

    def solve(self, right: Matrix) -> Matrix:
        """Return the solution for right-hand sides, (d, t)."""
        if self.singular:
            inverse, vectors = self._eigen
            return np.asarray(vectors @ (inverse[:, None] * (vectors.T @ right)))
        # what is factored was looked through once; looking again takes a third of a solution
        right = np.asarray_chkfinite(right)
        # two threads take longer than one where there is little to do between their meetings
        few = len(right) >= MANY_ROWS and right.size <= FEW_COLUMNS * len(right)
        with one_thread() if few else nullcontext():
            return np.asarray(scipy.linalg.cho_solve(self._factor, right, check_finite=False))

    def exceeds(self, bound: float) -> bool:
        """Say whether all eigenvalues are surely larger: the smallest one, by what can be seen.

        Solutions for a few random right-hand sides turn towards the weakest direction. They show
        it a little stronger than it is; with half of what they show it is not overrated.
        """
        if self.singular:
            return False
        vectors: Matrix = np.random.default_rng(0).standard_normal((len(self._system), 4))
        for _ in range(INVERSIONS):
            vectors = self.solve(np.linalg.qr(vectors)[0])
        return bool(0.5 / np.linalg.norm(vectors, 2) > bound)


class Ridge:
    """min_W ||T - (X - 1 mean') W||^2 + penalty ||W||^2, for any number of targets T.

    Picks the smaller of the two systems: (X'X + penalty I) of size d, or (X X' + penalty I) of
    size n, which give the same W. One pass over X to factor, one a call of :meth:`solve`.

    Parameters
    ----------
    X : (n, d)
    penalty : float
        Not negative. A system that is singular to working precision is solved in the least-norm
        sense instead of failing.
    mean : (d,), optional
        Subtracted from the rows of X without copying them.
    relative : bool
        The penalty is meant in units of the mean eigenvalue of X'X, so that scaling the features
        or repeating the rows changes nothing.
    """

    def __init__(
        self, X: Matrix, penalty: float, mean: Matrix | None = None, relative: bool = False
    ) -> None:
        self.X, self.mean = X, mean
        n, d = X.shape
        self.primal = d <= n
        if self.primal:
            self.gram, self.exact, self.penalty, self._factor = _system(X, penalty, mean, relative)
        else:
            self.exact = drowns(X, penalty / d if relative else penalty, relative)
            self.gram = outer_gram(X, mean)
            self.penalty = absolute(penalty, self.gram, d) if relative else float(penalty)
            self._factor = Factor(with_diagonal(self.gram, self.penalty))

    def with_penalty(self, penalty: float) -> Ridge:
        """Return the same regression under another penalty, sharing the Gram matrix."""
        other = object.__new__(Ridge)
        other.X, other.penalty, other.mean = self.X, float(penalty), self.mean
        other.primal, other.gram, other.exact = self.primal, self.gram, self.exact
        other._factor = Factor(with_diagonal(other.gram, other.penalty))
        return other

    def scatter(self) -> Matrix | None:
        """Return (X - 1 mean')'(X - 1 mean'), (d, d), where it is at hand: if d <= n."""
        return self.gram if self.primal else None

    def quadratic(self, W: Matrix) -> float:
        """Return ||(X - 1 mean') W||^2 for W, (d, t); no pass over X if d <= n."""
        if self.primal:
            return float(np.sum(W * (self.gram @ W)))
        return float(np.square(self._centred @ W).sum())

    def products(self, T: Matrix) -> Matrix:
        """Return (X - 1 mean')' T, (d, t) in float64."""
        if not self.exact:
            return cross(self.X, T, self.mean)
        if not self.primal:
            return np.ascontiguousarray((T.T @ self._centred).T)  # reads X as it lies
        return cross_products(self.X, T, self.mean, None, BLOCK_ROWS, np.dtype(np.float64))

    def solve(self, T: Matrix) -> Matrix:
        """Return W, (d, t) in float64, for targets T, (n, t)."""
        if self.primal:
            return self._factor.solve(self.products(T))
        return self.products(self._factor.solve(np.asarray(T, np.float64)))

    def solve_products(self, S: Matrix, T: Matrix | None = None) -> Matrix:
        """Return W for S = (X - 1 mean')' T, (d, t), where those products are at hand.

        Needs no pass over X if d <= n. Otherwise one where T is at hand, too, and else two, by the
        identity (X'X + p I)^-1 S = (S - X'(X X' + p I)^-1 X S) / p.
        """
        if self.primal:
            return self._factor.solve(np.asarray(S, np.float64))
        if T is not None:
            return self.solve(T)
        X = self._centred
        inverse = self._factor.solve(X @ S)
        if self.penalty == 0:  # S lies in the row space of X: (X'X)^+ S = X'(X X')^+2 X S
            return np.asarray((self._factor.solve(inverse).T @ X).T)
        return np.asarray((S - (inverse.T @ X).T) / self.penalty)

    @cached_property
    def _centred(self) -> Matrix:
        """X - 1 mean' in float64, for few rows: what is left of a difference needs its digits."""
        wide = self.X.astype(np.float64)
        return wide if self.mean is None else wide - self.mean


def regress(
    X: Matrix, T: Matrix, penalty: float, mean: Matrix | None = None, relative: bool = False
) -> Matrix:
    """Return what ``Ridge(X, penalty, mean, relative).solve(T)`` does, in one pass over X.

    For targets that are known beforehand, and once.
    """
    n, d = X.shape
    if d > n:
        return Ridge(X, penalty, mean, relative).solve(T)
    _, exact, _, factor = _system(X, penalty, mean, relative)
    S = cross_products(X, T, mean, None, BLOCK_ROWS, np.dtype(np.float64) if exact else None)
    return factor.solve(S)


def absolute(strength: float, gram: Matrix, d: int) -> float:
    """Return the penalty that is ``strength`` times the mean of the d eigenvalues of X'X.

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


def drowns(X: Matrix, penalty: float, relative: bool = False) -> bool:
    """Say whether a penalty is less than what rounding in the precision of X leaves of X'X.

    Then the weak directions of the solution would be those of rounding errors, and scores another
    library's or processor's: X'X has to be summed in double precision.

    Parameters
    ----------
    X : (n, d)
    penalty : float
    relative : bool
        The penalty is in units of the trace of X'X.
    """
    if X.dtype == np.float64:
        return False
    squares = (float(np.einsum("ij,ij->", block, block)) for _, block in blocks(X))
    trace = 1.0 if relative else sum(squares)
    return bool(penalty < np.finfo(X.dtype).eps * trace)


def _system(
    X: Matrix, penalty: float, mean: Matrix | None, relative: bool
) -> tuple[Matrix, bool, float, Factor]:
    """Return X'X in a precision that a penalty can stand, for d <= n, and the system factored.

    Double precision takes twice as long. Where that is seconds, single precision comes first, and
    serves if no direction of the system is as weak as its rounding: then there is nothing to drown.

    Returns
    -------
    (d, d) float64; whether it was summed in double precision; the penalty on its diagonal; factor
    """
    n, d = X.shape
    small = X.dtype == np.float64 or n * d * d < LARGE
    exact = small and drowns(X, penalty / d if relative else penalty, relative)
    while True:
        G = gram(X, mean, exact)
        added = absolute(penalty, G, d) if relative else float(penalty)
        factor, rounding = Factor(with_diagonal(G, added)), np.finfo(X.dtype).eps * G.trace()
        if small or exact or added >= rounding or factor.exceeds(rounding):
            return G, exact, added, factor
        exact = True


def definite(A: Matrix, shift: float) -> bool:
    """Say whether all eigenvalues of A + shift I, (d, d), are positive."""
    try:
        scipy.linalg.cholesky(
            with_diagonal(A, shift).T, lower=True, overwrite_a=True, check_finite=False
        )
    except np.linalg.LinAlgError:
        return False
    return True


def with_diagonal(A: Matrix, shift: float) -> Matrix:
    """Return A + shift I, (d, d), of which nothing but a copy of A takes memory."""
    shifted = A.copy()
    shifted[np.diag_indices(len(A))] += shift
    return shifted
