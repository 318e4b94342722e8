"""DCH: discriminative binary codes from which a linear classifier reads the labels.

Minimises over codes B, a classifier W and hash functions P_m

    ||Y - B W||^2 + lambda ||W||^2 + mu sum_m ( ||B - X_m P_m||^2 + ridge ||P_m||^2 ).

X_m (n, d_m): centred features, or centred RBF features of random anchors; Y (n, c): labels;
B (n, k) in {-1, +1}; W (k, c); P_m (d_m, k).

Cost: with mu = 0, the default, an iteration reads only Y and B, O(n k (k + c)), and the features
are read once, at the end. With mu > 0 an iteration adds two passes over the features; their
factorisation is still made once.

Deviations
----------
- The paper finds B by discrete coordinate descent with small mu > 0 on RBF features. The
  released code sets mu = 0, keeps the features linear and takes the signs of the relaxed
  minimiser B = sgn(Y W' (W W' + ridge I)^-1) instead, so that its codes depend on the labels
  alone. That is the default here; ``code_step="discrete"``, ``mu`` and ``anchors`` give the
  paper's.
- The relaxed minimiser has real values. Their signs are not the best codes, so that the objective
  may rise from one iteration to the next; it never does with ``code_step="discrete"``.
- The released code can take RBF features too, of 1000 anchors with a fixed standard deviation of
  0.4. Here the width is twice the mean squared distance to the anchors, so that it suits features
  of any scale.
- The released code solves its regressions through n x n systems; the same solutions come from
  d x d ones.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from hashbench import COUNT, COUNT_OR_ZERO, NON_NEGATIVE, POSITIVE, Choice, LinearMethod, Log, Paper
from hashbench.linalg import (
    Ridge,
    anchor_maps,
    column_means,
    discrete_descent,
    project,
    random_codes,
    signs,
    squared_norm,
)


class DCH(LinearMethod):
    """Discrete cross-modal hashing.

    Parameters
    ----------
    n_bits : int
    lam : float
        lambda, the ridge of the classifier.
    mu : float
        Weight of the codes' closeness to the hash functions' values, for each view.
    ridge_scatter : float
        Ridge of the hash functions, added to the diagonal of X_m'X_m (a sum over rows), and of the
        relaxed step, added to W W'. The original's value and scale.
    code_step : "relaxed" or "discrete"
        How the codes are found: signs of the relaxed minimiser, or coordinate descent over bits.
    anchors : int
        Random training rows that RBF features are computed from; 0 for linear features.
    iterations : int
    random_state : int, Generator or None
    """

    name = "dch"
    title = "DCH"
    space: ClassVar = {"lam": Log(1e-2, 1e2), "mu": Log(1e-6, 1), "ridge_scatter": Log(1e-4, 1e3)}
    allowed: ClassVar = {
        "lam": POSITIVE, "mu": NON_NEGATIVE, "ridge_scatter": POSITIVE,
        "code_step": Choice("relaxed", "discrete"), "anchors": COUNT_OR_ZERO, "iterations": COUNT,
    }  # fmt: skip
    supervised = True
    discrete = True
    objective_note = "it may rise: codes are the signs of a relaxed minimiser"
    paper = Paper(
        "X. Xu, F. Shen, Y. Yang, H. T. Shen, X. Li",
        "Learning discriminative binary codes for large-scale cross-modal retrieval",
        "IEEE Transactions on Image Processing",
        2017,
        fidelity="consistent",
    )

    def __init__(
        self,
        n_bits: int = 16,
        lam: float = 1.0,
        mu: float = 0.0,
        ridge_scatter: float = 0.01,
        code_step: str = "relaxed",
        anchors: int = 0,
        iterations: int = 5,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.lam = lam
        self.mu = mu
        self.ridge_scatter = ridge_scatter
        self.code_step = code_step
        self.anchors = anchors
        self.iterations = iterations
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Learn codes and hash functions."""
        data = self.begin_fit(views, labels)
        views, Y, rng = data.views, data.labels, data.rng
        if self.anchors:
            self.maps_, views = anchor_maps(views, [self.anchors] * len(views), rng)
        else:
            self.means_ = column_means(views)
        means: Any = self.means_ or [None] * len(views)
        pairs = list(zip(views, means, strict=True))
        # Without mu no iteration uses the hash functions.
        solvers = [Ridge(X, self.ridge_scatter, mean) for X, mean in pairs] if self.mu else []

        B = random_codes(rng, len(Y), self.n_bits)
        W = self._classifier(B, Y)
        for _ in range(self.iterations):
            B = self._codes(B, W, Y, solvers)
            W = self._classifier(B, Y)
            self.record_objective(lambda: self._objective(solvers, B, W, Y))

        self.codes_ = B > 0
        self.projections_ = (
            [solver.solve(B) for solver in solvers]
            if self.mu
            else [Ridge(X, self.ridge_scatter, mean).solve(B) for X, mean in pairs]
        )
        return self

    def _classifier(self, B, Y):
        """W = (B'B + lambda I)^-1 B'Y."""
        system = B.T @ B + self.lam * np.eye(self.n_bits)
        return np.linalg.solve(system, B.T @ Y)

    def _codes(self, B, W, Y, solvers):
        Q = Y @ W.T
        for solver in solvers:
            Q += (self.mu * _values(solver, solver.solve(B))).astype(Q.dtype)
        if self.code_step == "discrete":
            return discrete_descent(B, Q, W @ W.T, sweeps=10)
        system = W @ W.T + (self.ridge_scatter + self.mu * len(solvers)) * np.eye(self.n_bits)
        return signs(Q @ np.linalg.inv(system))

    def _objective(self, solvers, B, W, Y):
        total = squared_norm(Y - B @ W)
        total += self.lam * squared_norm(W)
        for solver in solvers:
            # The minimum of a ridge regression on T is ||T||^2 - <X'T, P>.
            S = solver.products(B)
            total += self.mu * (B.size - np.sum(S * solver.solve_products(S)))
        return total


def _values(solver, P):
    """X_m P_m in the features' precision."""
    values = project(solver.X, P)
    return values if solver.mean is None else values - (solver.mean @ P).astype(values.dtype)
