"""LCMFH: matrix factorisation in which items with the same labels have the same factor.

Minimises over class factors Z, bases U_m and hash functions P_m

    sum_m lambda_m ||X_m - G Z U_m'||^2 + mu sum_m ||G Z - X_m P_m||^2
    + gamma ( sum_m ||U_m||^2 + ||P_m||^2 + ||G Z||^2 ).

X_m (n, d_m): centred features; G (n, c): labels, rows of unit norm; Z (c, k); U_m, P_m (d_m, k).
The codes of training rows are the signs of G Z minus its column means.

Cost: G'G, X_m'G, the Cholesky factor of X_m'X_m and its solution for X_m'G hold all that the
iterations need of the items: two passes over the features in all, and iterations, objective
included, whose cost does not depend on n.

Deviations
----------
- The released code centres queries, and thresholds their values, by the mean of the query batch,
  so that a code depends on the other queries. Here the training means serve;
  ``batch_thresholds=True`` gives the released behaviour.
- The released code stops early by a monitored sum of norms that are not squared, which is not the
  function it minimises; here the number of iterations is fixed.
- G'G is singular when a class never occurs: its pseudo-inverse is used.
- With more than two views, those after the first share the weight 1 - lambda equally.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from hashbench import COUNT, FRACTION, POSITIVE, Linear, LinearMethod, Log, Paper
from hashbench.linalg import (
    Ridge,
    column_means,
    gram,
    squared_norm,
    unit_rows,
)


class LCMFH(LinearMethod):
    """Label consistent matrix factorization hashing.

    Parameters
    ----------
    n_bits : int
    lam : float
        lambda, the weight of reconstructing the first view, between 0 and 1.
    mu : float
        Weight of predicting the factors from each view.
    gamma : float
        Ridge: added to the diagonals of the factors' scatter and, divided by mu, of X_m'X_m (sums
        over rows, so that it weighs less with more or longer rows). The original's value and scale.
    iterations : int
    batch_thresholds : bool
        Threshold values by the mean of the rows that are encoded together, as the released code.
    random_state : int, Generator or None
    """

    name = "lcmfh"
    title = "LCMFH"
    space: ClassVar = {"lam": Linear(0.1, 0.9), "mu": Log(1e-1, 1e3), "gamma": Log(1e-5, 1e1)}
    allowed: ClassVar = {
        "lam": FRACTION, "mu": POSITIVE, "gamma": POSITIVE, "iterations": COUNT,
    }  # fmt: skip
    supervised = True
    paper = Paper(
        "D. Wang, X. Gao, X. Wang, L. He",
        "Label consistent matrix factorization hashing for large-scale cross-modal similarity "
        "search",
        "IEEE Transactions on Pattern Analysis and Machine Intelligence",
        2019,
        fidelity="consistent",
    )

    def __init__(
        self,
        n_bits: int = 16,
        lam: float = 0.5,
        mu: float = 10.0,
        gamma: float = 0.001,
        iterations: int = 20,
        batch_thresholds: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.lam = lam
        self.mu = mu
        self.gamma = gamma
        self.iterations = iterations
        self.batch_thresholds = batch_thresholds
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Learn codes and hash functions."""
        data = self.begin_fit(views, labels)
        views, Y, rng = data.views, data.labels, data.rng
        k, mu, gamma, eye = self.n_bits, self.mu, self.gamma, np.eye(self.n_bits)
        weights = [self.lam] + [(1 - self.lam) / (len(views) - 1)] * (len(views) - 1)
        G = unit_rows(Y)

        # All that the iterations see of the items.
        means = column_means(views)
        solvers = [Ridge(X, gamma / mu, mean) for X, mean in zip(views, means, strict=True)]
        GG = gram(G)
        inverse = np.linalg.pinv(GG, hermitian=True)
        C = [solver.products(G) for solver in solvers]  # X_m'G
        R = [solver.solve_products(s) for solver, s in zip(solvers, C, strict=True)]

        Z = rng.random((Y.shape[1], k))
        P = [rng.random((X.shape[1], k)) for X in views]
        for _ in range(self.iterations):
            ZGZ = Z.T @ GG @ Z
            U = [
                # A view of weight zero has no basis to find.
                np.linalg.solve(w * ZGZ + gamma * eye, w * (c @ Z).T).T
                for w, c in zip(weights, C, strict=True)
            ]
            right = sum(c.T @ (w * u + mu * p) for w, c, u, p in zip(weights, C, U, P, strict=True))
            system = sum(w * u.T @ u for w, u in zip(weights, U, strict=True))
            system = system + (len(views) * mu + gamma) * eye
            Z = np.linalg.solve(system, (inverse @ right).T).T
            P = [r @ Z for r in R]
            self.record_objective(lambda: self._objective(weights, solvers, GG, C, Z, U, P))

        values = G @ Z
        self.codes_ = values >= values.mean(axis=0)
        self.means_ = means
        self.projections_ = P
        return self

    def _objective(self, weights, solvers, GG, C, Z, U, P):
        ZGZ = Z.T @ GG @ Z
        total = self.gamma * np.trace(ZGZ)
        for weight, solver, c, u, p in zip(weights, solvers, C, U, P, strict=True):
            cz, norm = c @ Z, np.trace(solver.gram)
            total += weight * (norm - 2 * np.sum(u * cz) + np.sum((u.T @ u) * ZGZ))
            total += self.mu * (np.trace(ZGZ) - 2 * np.sum(p * cz) + solver.quadratic(p))
            total += self.gamma * (squared_norm(u) + squared_norm(p))
        return total

    def project(self, X: Any, view: int) -> Any:
        """Return the (n, n_bits) real values whose signs are the codes."""
        values = super().project(X, view)
        # Centring the rows first would change nothing: the values are linear in them.
        return values - values.mean(axis=0) if self.batch_thresholds else values
