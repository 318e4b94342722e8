"""QCH: quantised correlation hashing, a reconstruction.

    min sum_m ||B_m - X_m W_m||^2 + r_m ||W_m||^2 - alpha sum_{m<l} tr(B_m'B_l)

X_m (n, d_m): centred features; W_m (d_m, k): hash functions; B_m (n, k) in {-1, +1}: codes. The
quantisation loss of every view and the correlation of the *codes*, not of projections, are
optimised together. Both steps are exact, so the objective never rises:

    W_m = (X_m'X_m + r_m I)^-1 X_m'B_m,
    B_m = sgn(X_m W_m + alpha / 2 sum_{l != m} B_l), one view after the other.

The codes begin as signs of canonical projections under one random rotation. Hash functions:
sgn(x W_m).

Cost: one pass for X_m'X_m, one for the CCA, then two passes over the features per iteration, for
X_m W_m and X_m'B_m. Memory beyond the features: B_m.

Deviations
----------
- Known from the paper's abstract: quantisation loss of both domains and correlation between hash
  codes are optimised jointly, by rewriting the problem as one of a single modality and by
  alternation. The objective above, alpha, the ridge, the initialisation and 50 iterations are
  inferred. alpha and the ridge are the best of nine pairs on validation rows of six datasets
  (``research/choose_defaults.py``; alpha from 0.3 to 3, ridge from 0.1 to 10).
- With alpha at twice the size of the projections or above, the codes stay what they were at the
  start.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from hashbench import COUNT, NON_NEGATIVE, LinearMethod, Log, Paper
from hashbench.linalg import (
    Ridge,
    column_means,
    correlated_directions,
    project,
    random_rotation,
    scatter_whitening,
    signs,
)


class QCH(LinearMethod):
    """Quantised correlation hashing.

    Parameters
    ----------
    n_bits : int
    alpha : float
        Weight of the correlation between the codes of the views.
    ridge : float
        Added to the diagonals of the scatter matrices, of the hash functions and of the CCA that
        the codes begin from, relative to their mean eigenvalues.
    iterations : int
    random_state : int, Generator or None
    """

    name = "qch"
    title = "QCH"
    space: ClassVar = {"alpha": Log(1e-2, 1e2), "ridge": Log(1e-4, 1e3)}
    allowed: ClassVar = {"alpha": NON_NEGATIVE, "ridge": NON_NEGATIVE, "iterations": COUNT}
    supervised = False
    discrete = True
    paper = Paper(
        "B. Wu, Q. Yang, W.-S. Zheng, Y. Wang, J. Wang",
        "Quantized correlation hashing for fast cross-modal search",
        "IJCAI",
        2015,
        fidelity="reconstruction",
        fidelity_note=(
            "from the abstract, some 35 % sure: objective, weight, ridge, initialisation and "
            "number of iterations are inferred"
        ),
    )

    def __init__(
        self,
        n_bits: int = 16,
        alpha: float = 1.0,
        ridge: float = 1.0,
        iterations: int = 50,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.alpha = alpha
        self.ridge = ridge
        self.iterations = iterations
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Learn codes and hash functions in turn."""
        data = self.begin_fit(views, labels)
        views, rng = data.views, data.rng
        self.means_ = column_means(views)
        solvers = [
            Ridge(X, self.ridge, mean, relative=True)
            for X, mean in zip(views, self.means_, strict=True)
        ]
        whiteners = [
            scatter_whitening(X, mean, self.ridge, solver.scatter(), relative=True)
            for X, mean, solver in zip(views, self.means_, solvers, strict=True)
        ]
        A, _ = correlated_directions(views, self.n_bits, self.means_, whiteners)
        R = random_rotation(self.n_bits, rng)
        pairs = list(zip(views, self.means_, strict=True))
        B = [signs(project(X, a @ R, mean)) for (X, mean), a in zip(pairs, A, strict=True)]
        S = [solver.products(b) for solver, b in zip(solvers, B, strict=True)]  # S_m = X_m'B_m
        for _ in range(self.iterations):
            W = [solver.solve_products(s, b) for solver, s, b in zip(solvers, S, B, strict=True)]
            for m, ((X, mean), w) in enumerate(zip(pairs, W, strict=True)):
                others = sum(b for l, b in enumerate(B) if l != m)
                B[m] = signs(project(X, w, mean) + self.alpha / 2 * others)
            S = [solver.products(b) for solver, b in zip(solvers, B, strict=True)]
            self.record_objective(lambda: self._objective(solvers, W, B, S))
        self.codes_ = [b > 0 for b in B]
        self.projections_ = W
        return self

    def _objective(self, solvers, W, B, S):
        total = sum(
            b.size - 2 * np.sum(w * s) + solver.quadratic(w) + solver.penalty * np.sum(w * w)
            for solver, w, b, s in zip(solvers, W, B, S, strict=True)
        )
        return total - self.alpha * sum(
            float(np.vdot(B[m], B[l])) for m in range(len(B)) for l in range(m)
        )
