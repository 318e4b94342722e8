"""Ridge regression whose factorisation is made once and used for every right-hand side.

Alternating methods solve the same normal equations at every iteration with other targets; the
Gram matrix and its Cholesky factor depend on the features alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from hashbench.validation import BLOCK_ROWS, Matrix


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
    """

    def __init__(self, X: Matrix, penalty: float, mean: Matrix | None = None) -> None:
        self.X, self.penalty, self.mean = X, float(penalty), mean
        n, d = X.shape
        self.primal = d <= n
        if self.primal:
            self.gram = gram(X, mean)
        else:
            centred = X.astype(np.float64) - (0 if mean is None else mean)
            self.gram = centred @ centred.T
        self._factorise()

    def _factorise(self) -> None:
        system = self.gram + self.penalty * np.eye(len(self.gram))
        self._eigen: tuple[Matrix, Matrix] | None = None
        try:
            self._factor = scipy.linalg.cho_factor(system, lower=True)
            pivots = np.abs(np.diag(self._factor[0]))
            if pivots.min() <= 1e-7 * pivots.max():
                raise np.linalg.LinAlgError
        except np.linalg.LinAlgError:
            values, vectors = np.linalg.eigh(system)
            keep = values > values[-1] * len(values) * np.finfo(np.float64).eps
            inverse = np.zeros_like(values)
            inverse[keep] = 1 / values[keep]
            self._eigen = (inverse, vectors)

    def with_penalty(self, penalty: float) -> Ridge:
        """Return the same regression under another penalty, sharing the Gram matrix."""
        other = object.__new__(Ridge)
        other.X, other.penalty, other.mean = self.X, float(penalty), self.mean
        other.primal, other.gram = self.primal, self.gram
        other._factorise()
        return other

    def _inverse(self, right: Matrix) -> Matrix:
        if self._eigen is not None:
            inverse, vectors = self._eigen
            return np.asarray(vectors @ (inverse[:, None] * (vectors.T @ right)))
        return np.asarray(scipy.linalg.cho_solve(self._factor, right))

    def quadratic(self, W: Matrix) -> float:
        """Return ||(X - 1 mean') W||^2 for W, (d, t); no pass over X if d <= n."""
        if self.primal:
            return float(np.sum(W * (self.gram @ W)))
        return float(np.square(self._project(W)).sum())

    def products(self, T: Matrix) -> Matrix:
        """Return (X - 1 mean')' T, (d, t) in float64."""
        return cross(self.X, T, self.mean)

    def solve(self, T: Matrix) -> Matrix:
        """Return W, (d, t) in float64, for targets T, (n, t)."""
        if self.primal:
            return self._inverse(self.products(T))
        return self.products(self._inverse(np.asarray(T, np.float64)))

    def solve_products(self, S: Matrix) -> Matrix:
        """Return W for S = (X - 1 mean')' T, (d, t), where those products are at hand.

        Needs no pass over X if d <= n; otherwise one, by the identity
        (X'X + p I)^-1 S = (S - X'(X X' + p I)^-1 X S) / p.
        """
        if self.primal:
            return self._inverse(np.asarray(S, np.float64))
        inverse = self._inverse(self._project(S))
        if self.penalty == 0:  # S lies in the row space of X: (X'X)^+ S = X'(X X')^+2 X S
            return self.products(self._inverse(inverse))
        return np.asarray((S - self.products(inverse)) / self.penalty)

    def _project(self, W: Matrix) -> Matrix:
        return np.asarray(self.X @ W if self.mean is None else self.X @ W - self.mean @ W)


def gram(X: Matrix, mean: Matrix | None = None) -> Matrix:
    """Return (X - 1 mean')'(X - 1 mean'), (d, d) in float64, block by block."""
    return cross(X, X, mean, mean)


def cross(
    X: Matrix, T: Any, mean: Matrix | None = None, target_mean: Matrix | None = None
) -> Matrix:
    """Return (X - 1 mean')'(T - 1 target_mean'), (d, t) in float64.

    Blocks are centred before they are multiplied: subtracting the rank-one term afterwards would
    cancel digits that the small eigenvalues of a Gram matrix consist of.
    """
    total = np.zeros((X.shape[1], T.shape[1]))
    same = T is X and target_mean is mean
    for start in range(0, X.shape[0], BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        block = X[rows] if mean is None else X[rows] - mean.astype(X.dtype)
        if same:
            target = block
        else:
            target = T[rows] if target_mean is None else T[rows] - target_mean.astype(T.dtype)
        total += block.T @ target
    return total
