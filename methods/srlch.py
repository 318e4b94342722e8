"""SRLCH: codes regressed from the labels and from the views at once.

Minimises over codes B, class codes W, hash functions P_m and, in ``fdch`` alone, a drift t

    ||B - Y W - 1 t'||^2 + lambda ||W||^2
    + sum_m mu_m ( ||B - K_m P_m||^2 + ridge_m ||P_m||^2 ).

Y (n, c): labels; K_m (n, a): RBF features of random anchors; B (n, k) in {-1, +1}; W (c, k);
P_m (a, k); t (k,). Every step is in closed form, the one for B too, since no matrix stands
between B and what it is close to: B = sgn(Y W + 1 t' + sum_m mu_m K_m P_m).

Cost: one factorisation of K_m'K_m per view and of Y'Y; then two products of size n x a x k per
view and iteration, K_m P_m and K_m'B. Memory: K_m and B.

With small mu_m, Y W is nearly the class mean of the current codes, so that the class codes are a
vote over random initial signs: expect short codes to vary with the seed.

Deviations
----------
- Rows are centred before they are brought to unit norm; without centring the scores on Wiki agree
  with the reference figures about as well.
- The two views have weights of their own; further views get those of the second.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from hashbench import COUNT, NON_NEGATIVE, POSITIVE, LinearMethod, Log, Paper
from hashbench.core.validation import BLOCK_ROWS
from hashbench.linalg import (
    RBF,
    Ridge,
    anchor_rows,
    project,
    random_codes,
    row_blocks,
    signs,
    squared_norm,
    unit_rows,
)


class LabelRegression(LinearMethod):
    """What SRLCH and FDCH have in common; they differ in features, weights and drift."""

    supervised = True
    discrete = True
    kernel = True

    lam: float
    iterations: int
    drift = False
    relative_ridge = False  # to the mean eigenvalue of K_m'K_m

    @abstractmethod
    def _features(self, views, rng):
        """Return one feature map per view and the training features."""

    @abstractmethod
    def _weights(self, views):
        """Return mu_m and ridge_m, one of each per view."""

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Learn codes and hash functions."""
        data = self.begin_fit(views, labels)
        views, Y, rng = data.views, data.labels, data.rng
        n, k, dtype = data.n, self.n_bits, data.dtype
        self.maps_, K = self._features(views, rng)
        mu, ridges = self._weights(views)
        solvers = [
            Ridge(X, ridge, relative=self.relative_ridge)
            for X, ridge in zip(K, ridges, strict=True)
        ]
        classes = Ridge(Y, self.lam)

        B = random_codes(rng, n, k)
        t = np.zeros(k, dtype)
        S = [solver.products(B) for solver in solvers]  # S_m = K_m'B
        for _ in range(self.iterations):
            P = [solver.solve_products(s) for solver, s in zip(solvers, S, strict=True)]
            W = classes.solve(B - t)
            target = Y @ W
            if self.drift:
                t = (B - target).mean(axis=0)
            target += t
            values = target.copy()
            for weight, features, p in zip(mu, K, P, strict=True):
                values += project(features, weight * p)
            B = signs(values)
            S = [solver.products(B) for solver in solvers]
            self.record_objective(lambda: self._objective(mu, solvers, B, target, W, P, S))

        self.codes_ = B > 0
        self.projections_ = [solver.solve_products(s) for solver, s in zip(solvers, S, strict=True)]
        return self

    def _objective(self, mu, solvers, B, target, W, P, S):
        total = squared_norm(B - target) + self.lam * squared_norm(W)
        for weight, solver, p, s in zip(mu, solvers, P, S, strict=True):
            residual = B.size - 2 * np.sum(p * s) + solver.quadratic(p)
            total += weight * (residual + solver.penalty * squared_norm(p))
        return total


class SRLCH(LabelRegression):
    """Subspace relation learning for cross-modal hashing.

    Features are RBF values of a fixed width on rows that are centred and brought to unit norm,
    and a column of ones.

    Parameters
    ----------
    n_bits : int
    lam : float
        lambda, the ridge of the class codes.
    mu, mu_others : float
        mu of the first and of every other view.
    ridge_scatter, ridge_scatter_others : float
        Ridge of the hash functions of the first and of every other view, added to the diagonal of
        K_m'K_m (a sum over rows); RBF features have a scale of their own. The original's values.
    width : float
        Standard deviation of the RBF.
    anchors : int
        Random training rows behind the RBF features of each view.
    iterations : int
    random_state : int, Generator or None
    """

    name = "srlch"
    title = "SRLCH"
    space: ClassVar = {
        "lam": Log(1e-3, 1e2),
        "mu": Log(1e-6, 1),
        "mu_others": Log(1e-6, 1),
        "width": Log(1e-1, 1e1),
    }
    allowed: ClassVar = {
        "lam": NON_NEGATIVE, "mu": NON_NEGATIVE, "mu_others": NON_NEGATIVE,
        "ridge_scatter": NON_NEGATIVE, "ridge_scatter_others": NON_NEGATIVE, "width": POSITIVE,
        "anchors": COUNT, "iterations": COUNT,
    }  # fmt: skip
    paper = Paper(
        "L. Liu, Y. Yang, M. Hu, X. Xu, F. Shen et al.",
        "Index and retrieve multimedia data: cross-modal hashing by learning subspace relation",
        "Database Systems for Advanced Applications",
        2018,
        fidelity="consistent",
    )

    def __init__(
        self,
        n_bits: int = 16,
        lam: float = 0.1,
        mu: float = 0.1,
        mu_others: float = 1e-5,
        ridge_scatter: float = 0.01,
        ridge_scatter_others: float = 0.1,
        width: float = 0.6,
        anchors: int = 500,
        iterations: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.lam = lam
        self.mu = mu
        self.mu_others = mu_others
        self.ridge_scatter = ridge_scatter
        self.ridge_scatter_others = ridge_scatter_others
        self.width = width
        self.anchors = anchors
        self.iterations = iterations
        self.random_state = random_state

    def _features(self, views, rng):
        maps = [UnitRBF(X, self.anchors, 2 * self.width**2, rng) for X in views]
        return maps, [phi.transform(X) for phi, X in zip(maps, views, strict=True)]

    def _weights(self, views):
        others = len(views) - 1
        mu = [self.mu] + [self.mu_others] * others
        return mu, [self.ridge_scatter] + [self.ridge_scatter_others] * others


class UnitRBF:
    """Feature map: uncentred RBF values of centred rows of unit norm, and a column of ones."""

    def __init__(self, X, anchors, width, rng):
        self.mean = X.mean(axis=0, dtype=np.float64).astype(X.dtype)
        rows = X[np.sort(anchor_rows(len(X), anchors, rng))]
        self.rbf = RBF(unit_rows(rows - self.mean), width, centred=False)

    def transform(self, X):
        """Map (n, d) rows to (n, anchors + 1) features."""
        K = np.ones((len(X), len(self.rbf.anchors) + 1), X.dtype)
        for rows in row_blocks(len(X), BLOCK_ROWS):
            K[rows, :-1] = self.rbf.transform(unit_rows(X[rows] - self.mean))
        return K
