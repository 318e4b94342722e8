"""CMFH: collective matrix factorisation hashing.

Every pair of items has one latent vector, from which both views are reconstructed and which both
views predict:

    sum_m lambda_m ||X_m - V U_m'||^2 + mu sum_m ||V - X_m P_m||^2
    + gamma ( ||V||^2 + sum_m ||U_m||^2 + ||P_m||^2 ).

X_m (n, d_m): centred features; V (n, k): latent vectors; U_m, P_m (d_m, k): bases and hash
functions. The paper writes items as columns; here they are rows. A pair's learned code is sgn(V),
a query's is sgn(P_m'x).

Cost: one pass over the features for the Gram matrices X_l'X_m, one for X_m'V of the random start,
one for the codes at the end. Iterations read no features: after the first V-step V is
sum_m X_m C_m, so X_m'V and V'V follow from C and the Gram matrices, and so do the objective and
the stopping rule: O(k d^2) per iteration, d the columns of all views. Memory beyond the features:
the Gram matrices, a Cholesky factor of each X_m'X_m, and one V.

Deviations
----------
Three versions of the method are in use, and ``variant`` chooses.

- ``v1``, the authors' release of 2013 (default): penalises U by gamma and P by gamma, where the
  objective asks for gamma / lambda_m and gamma / mu. Its alternation is therefore not exactly a
  descent, and the objective may rise a little near the end.
- ``paper``: the minimisers of the objective above, which then never rises. About 0.01 better in
  mAP on Wiki.
- ``v2``, the authors' release of 2015: weights the prediction of each view by lambda_m too, and
  penalises U by gamma. A precedence slip makes its P smaller by the factor mu^2, which turns the
  prediction term into a mere ridge on V. Kept as released, because published figures come from it.

``v1`` and ``paper`` stop as the first release does: once the sum of the plain (not squared) norms
of all terms falls by less than ``tolerance``. The collapse of V onto the strongest shared
direction, which the large mu causes in the first iterations, takes some 25 iterations to undo on
Wiki and 150 on UCI digits: a fixed small number is not safe. ``v2`` runs 25 iterations as
released. With more than two views, the views after the first share the weight 1 - lambda.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np

from hashbench import (
    COUNT,
    FRACTION,
    NON_NEGATIVE,
    POSITIVE,
    Choice,
    Linear,
    LinearMethod,
    Log,
    Paper,
)
from hashbench.linalg import Ridge, column_means, cross_product, project, row_coordinates


class CMFH(LinearMethod):
    """Collective matrix factorisation hashing.

    Parameters
    ----------
    n_bits : int
    variant : {"v1", "paper", "v2"}
        Which penalties and weights the updates use; see the module's Deviations.
    lam : float
        lambda, the weight of reconstructing the first view; the others share 1 - lambda.
    mu : float
        Weight of predicting the latent vectors from each view.
    gamma : float
        Ridge: added to the diagonals of V'V and of X_m'X_m (sums over rows, so that it weighs less
        with more or longer rows). The paper's and the releases' value and scale.
    tolerance : float
        Stop when the sum of norms falls by less than this (not used by ``v2``).
    iterations : int or None
        Largest number of iterations; None means 25 for ``v2`` and 500 otherwise.
    random_state : int, Generator or None
    """

    name = "cmfh"
    title = "CMFH"
    space: ClassVar = {"lam": Linear(0.1, 0.9), "mu": Log(1, 1e4), "gamma": Log(1e-4, 1e1)}
    allowed: ClassVar = {
        "variant": Choice("v1", "paper", "v2"), "lam": FRACTION, "mu": POSITIVE,
        "gamma": NON_NEGATIVE, "iterations": COUNT,
    }  # fmt: skip
    supervised = False
    paper = Paper(
        "G. Ding, Y. Guo, J. Zhou",
        "Collective matrix factorization hashing for multimodal data",
        "CVPR",
        2014,
        fidelity="consistent",
    )

    def __init__(
        self,
        n_bits: int = 16,
        variant: str = "v1",
        lam: float = 0.5,
        mu: float = 100.0,
        gamma: float = 0.01,
        tolerance: float = 0.01,
        iterations: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.variant = variant
        self.lam = lam
        self.mu = mu
        self.gamma = gamma
        self.tolerance = tolerance
        self.iterations = iterations
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Learn latent vectors and hash functions."""
        data = self.begin_fit(views, labels)
        views, rng = data.views, data.rng
        second = self.variant == "v2"
        rest = (1 - self.lam) / (len(views) - 1)
        weights = [self.lam] + [rest] * (len(views) - 1)  # lambda_m
        couplings = [self.mu * (w if second else 1.0) for w in weights]
        shrink = 1 / self.mu**2 if second else 1.0
        penalty = self.gamma / (1.0 if self.variant == "v1" else self.mu)
        V = rng.random((data.n, self.n_bits), dtype=data.dtype)
        P = [rng.random((X.shape[1], self.n_bits)) for X in views]

        self.means_ = column_means(views)
        views, means, bases = zip(
            *[row_coordinates(X, mean) for X, mean in zip(views, self.means_, strict=True)],
            strict=True,
        )
        P = [p if E is None else E.T @ p for p, E in zip(P, bases, strict=True)]
        solvers = [Ridge(X, penalty, mean) for X, mean in zip(views, means, strict=True)]
        G = _gram_matrices(views, means, solvers)
        S = [solver.products(V) for solver in solvers]  # S_m = X_m'V
        VV = V.T @ V
        # U, V and P in turn. V = sum_m X_m C_m is not computed: U and P need only X_m'V and V'V, so
        # an iteration takes O(k d^2) operations for any number of rows.
        last = np.inf
        for _ in range(self.iterations or (25 if second else 500)):
            U = self._bases(weights, S, VV)
            C = self._coefficients(weights, couplings, U, P)
            S = [sum(G[m, l] @ c for l, c in enumerate(C)) for m in range(len(C))]
            VV = sum(c.T @ s for c, s in zip(C, S, strict=True))
            P = [shrink * solver.solve_products(s) for solver, s in zip(solvers, S, strict=True)]
            factors, squares = self._terms(weights, couplings, solvers, shrink, U, P, S, VV)
            self.record_objective(factors @ squares)
            norms = factors @ np.sqrt(squares)
            if not second and last - norms < self.tolerance:
                break
            last = norms

        V = sum(project(X, c, mean) for X, c, mean in zip(views, C, means, strict=True))
        self.codes_ = V >= 0
        self.projections_ = [p if E is None else E @ p for p, E in zip(P, bases, strict=True)]
        return self

    def _bases(self, weights, S, VV):
        """U_m = lambda_m X_m'V (lambda_m V'V + gamma I)^-1; the releases leave lambda_m out."""
        ridge = self.gamma * np.eye(self.n_bits)
        if self.variant != "paper":
            weights = [1.0] * len(S)
        # An inverse of k x k: solutions for d right-hand sides take twenty times as long.
        return [s @ (w * np.linalg.inv(w * VV + ridge)) for w, s in zip(weights, S, strict=True)]

    def _coefficients(self, weights, couplings, U, P):
        """C_m = (lambda_m U_m + mu P_m)(sum_m lambda_m U_m'U_m + (2 mu + gamma) I)^-1."""
        system = (sum(couplings) + self.gamma) * np.eye(self.n_bits)
        system += sum(w * u.T @ u for w, u in zip(weights, U, strict=True))
        inverse = np.linalg.inv(system)
        parts = zip(weights, U, couplings, P, strict=True)
        return [(w * u + mu * p) @ inverse for w, u, mu, p in parts]

    def _terms(self, weights, couplings, solvers, shrink, U, P, S, VV):
        """Return the factor and the squared norm of every term of the objective."""
        total = np.trace(VV)
        factors, squares = [self.gamma], [total]
        for w, mu, solver, u, p, s in zip(weights, couplings, solvers, U, P, S, strict=True):
            error = np.trace(solver.gram) - 2 * np.sum(u * s) + np.sum((u.T @ u) * VV)
            # (X_m'X_m + penalty I) P_m = shrink X_m'V gives ||X_m P_m||^2 without a product.
            predicted = np.sum(p * (shrink * s - solver.penalty * p))
            gap = total - 2 * np.sum(p * s) + predicted
            factors += [w, mu, self.gamma, self.gamma]
            squares += [error, gap, np.sum(u * u), np.sum(p * p)]
        # Differences of nearly equal sums may come out a rounding error below zero.
        return np.array(factors), np.maximum(squares, 0.0)


def _gram_matrices(views, means, solvers):
    """Return X_l'X_m of the centred views by (l, m), in the precision that the solvers need."""
    G = {(m, m): solver.gram for m, solver in enumerate(solvers)}
    dtype = np.result_type(*[solver.dtype for solver in solvers])
    for l, m in combinations(range(len(views)), 2):
        G[l, m] = cross_product(views[l], views[m], means[l], means[m], dtype)
        G[m, l] = G[l, m].T
    return G
