"""SMFH: supervised matrix factorisation hashing.

Minimises over a shared space S, bases U_m and hash functions P_m

    sum_m [ alpha_m ||X_m - S U_m'||^2 + beta ||S - X_m P_m||^2 ] + gamma tr(S' Lap S)
    + lambda ( sum_m ||U_m||^2 + ||P_m||^2 + ||S||^2 ).

X_m (n, d_m): centred features; S (n, k); U_m, P_m (d_m, k); Lap: sum of the graph Laplacians of the
nearest neighbours in each view (0/1, symmetric) and of the labels, whose weights Y Y' count shared
ones. The paper writes items as columns; here they are rows. Codes are sgn(S - mean S), hash
functions sgn(P_m'x - mean S).

Cost: the exact neighbours take O(n^2 d) once; all else is linear in the rows. An iteration takes
two passes over the features, and the S-step, a Sylvester equation, is solved by conjugate gradients
in O(k (edges + n c)) per step: neither the Laplacian nor a factorisation of it is formed.
One factorisation of each X_m'X_m. The objective costs no pass.

Deviations
----------
- The authors' code drops the first of a row's sorted neighbours as the row itself; among duplicate
  rows that may be another. Here it is always the row itself.
- The stop at a decrease below 1 is the authors'. It depends on the scale of the features: on data
  with larger features the iteration goes on longer.
- More than two views, which the paper does not treat: ``alpha`` is the first view's weight and the
  others share the rest equally.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from hashbench import COUNT, FRACTION, NON_NEGATIVE, POSITIVE, Linear, LinearMethod, Log, Paper
from hashbench.linalg import (
    Laplacian,
    Ridge,
    column_means,
    neighbour_graph,
    project,
    sylvester,
)


class SMFH(LinearMethod):
    """Supervised matrix factorisation hashing.

    Parameters
    ----------
    n_bits : int
    alpha : float
        Weight of reconstructing the first view, between 0 and 1; the others share 1 - alpha.
    beta : float
        Weight of predicting the shared space from each view; positive.
    gamma : float
        Weight of the graphs.
    ridge_scatter : float
        lambda: added to the diagonals of S'S and, divided by beta, of X_m'X_m (sums over rows). The
        original's value and scale.
    neighbours : int
        Number of nearest rows that each row is connected to in the graph of a view.
    tolerance : float
        Stop when an iteration lowers the objective by less than this, absolutely.
    iterations : int
        Largest number of iterations.
    random_state : int, Generator or None
    """

    name = "smfh"
    title = "SMFH"
    space: ClassVar = {
        "alpha": Linear(0.1, 0.9),
        "beta": Log(1, 1e4),
        "gamma": Log(1e-2, 1e2),
        "ridge_scatter": Log(1e-4, 1e2),
    }
    allowed: ClassVar = {
        "alpha": FRACTION, "beta": POSITIVE, "gamma": NON_NEGATIVE, "ridge_scatter": NON_NEGATIVE,
        "neighbours": COUNT, "iterations": COUNT,
    }  # fmt: skip
    supervised = True
    scalable = False
    paper = Paper(
        "J. Tang, K. Wang, L. Shao",
        "Supervised matrix factorization hashing for cross-modal retrieval",
        "IEEE Transactions on Image Processing",
        2016,
        fidelity="consistent",
    )

    def __init__(
        self,
        n_bits: int = 16,
        alpha: float = 0.5,
        beta: float = 100.0,
        gamma: float = 1.0,
        ridge_scatter: float = 0.01,
        neighbours: int = 5,
        tolerance: float = 1.0,
        iterations: int = 100,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.ridge_scatter = ridge_scatter
        self.neighbours = neighbours
        self.tolerance = tolerance
        self.iterations = iterations
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Learn the shared space and the hash functions."""
        data = self.begin_fit(views, labels)
        views, Y, rng = data.views, data.labels, data.rng
        n, k = data.n, self.n_bits
        rest = (1 - self.alpha) / (len(views) - 1)
        weights = [self.alpha, *[rest] * (len(views) - 1)]
        means = column_means(views)
        graphs = [neighbour_graph(X, self.neighbours) for X in views]
        symmetric: Any = sum(graph.maximum(graph.T) for graph in graphs)
        laplacian = Laplacian(symmetric, Y)
        solvers = [
            Ridge(X, self.ridge_scatter / self.beta, mean)
            for X, mean in zip(views, means, strict=True)
        ]

        S = rng.random((n, k))
        P = [rng.random((X.shape[1], k)) for X in views]
        products = [solver.products(S) for solver in solvers]  # X_m'S
        before = np.inf
        for _ in range(self.iterations):
            U = self._bases(products, S, weights)
            S = self._shared_space(views, means, weights, U, P, laplacian, S)
            products = [solver.products(S) for solver in solvers]
            P = [solver.solve_products(s, S) for solver, s in zip(solvers, products, strict=True)]
            value = self.record_objective(
                lambda: self._objective(solvers, weights, laplacian, S, U, P, products)
            )
            if before - value < self.tolerance:
                break
            before = value

        centre = S.mean(axis=0)
        self.codes_ = S - centre >= 0
        self.means_ = means
        self.projections_ = P
        self.offsets_ = [-centre] * len(views)
        return self

    def _bases(self, products, S, weights):
        """U_m = X_m'S (S'S + (lambda / alpha_m) I)^-1."""
        SS, eye = S.T @ S, np.eye(self.n_bits)
        return [
            np.linalg.solve(weight * SS + self.ridge_scatter * eye, weight * Q.T).T
            for weight, Q in zip(weights, products, strict=True)
        ]

    def _shared_space(self, views, means, weights, U, P, laplacian, start):
        """S of S A + gamma Lap S = C, the derivative in S set to zero."""
        A = (len(views) * self.beta + self.ridge_scatter) * np.eye(self.n_bits)
        C = np.zeros(start.shape)
        for X, mean, weight, u, p in zip(views, means, weights, U, P, strict=True):
            A += weight * u.T @ u
            M = weight * u + self.beta * p
            C += project(X, M, mean)
        return sylvester(A, laplacian, self.gamma, C, start)

    def _objective(self, solvers, weights, laplacian, S, U, P, products):
        SS = S.T @ S
        squares = np.trace(SS)
        total = self.gamma * np.sum(S * laplacian.product(S)) + self.ridge_scatter * squares
        for solver, weight, u, p, Q in zip(solvers, weights, U, P, products, strict=True):
            norm = np.trace(solver.gram)  # ||X_m||^2
            total += weight * (norm - 2 * np.sum(u * Q) + np.sum((u.T @ u) * SS))
            total += self.ridge_scatter * np.sum(u * u)
            # beta ||S - X_m P_m||^2 + lambda ||P_m||^2 at its minimum, which P_m is for this S
            total += self.beta * (squares - np.sum(p * Q))
        return total
