"""PDH: predictable dual-view hashing, each view's bits are predictable from the other.

Bits B_m = sgn(X_m W_m) with, for every view m and its partner l (Eq. 4 of the paper),

    min  sum_m ||B_m'B_m / n - I||^2 + ||W_m||^2 / 2 + C sum max(0, 1 - B_l o (X_m W_m))^2:

every hyperplane is a support vector machine whose labels are the same bit of the other view, and
bits of one view should not repeat each other. X_m (n, d_m): centred features; W_m (d_m, k);
B_m (n, k) in {-1, +1}.

From the signs of canonical projections, alternately for each view: W_m from the bits of the view
before, values Z = X_m W_m, bits B_m = sgn(Z), decorrelated. Codes are sgn(X_m W_m) in the end.

Cost: one pass for X_m'X_m, which serves the machines and the CCA, and one for the rest of the CCA;
a step of the k machines is two passes over a view, and they start from the last sweep's solution.
A view with more columns than rows is replaced by its coordinates in the span of its rows (exact).
Memory beyond the features: a few (n, k) matrices.

Deviations
----------
No code of the authors is known, and the paper leaves the following open.

- Decorrelation. Eq. 5 takes eigenvectors of an n x n matrix, whose order, signs and rotation are
  arbitrary: bit i of one view would then no longer be bit i of the other. Here B_m is the sign of
  the polar factor of Z (columns centred, unit variance), the nearest matrix with uncorrelated
  columns, so that every bit stays itself. The polar factor of the bits instead of the values
  would change hardly any sign (for two balanced bits, none), and the bits would run together.
- The norm of w is taken squared and halved and the hinge squared, as in the default of LIBLINEAR,
  the program the paper names.
- Bits beyond the number of correlated directions start from random hyperplanes (the paper finds
  random starts as good), and so does a bit that becomes constant.
- The paper has two views. With more, each learns from the one before it, the first from the last.
- The paper does not say how many sweeps it runs, but shows that little changes after 15.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from hashbench import COUNT, NON_NEGATIVE, POSITIVE, LinearMethod, Log, Paper
from hashbench.linalg import (
    Ridge,
    column_means,
    correlated_directions,
    linear_svms,
    project,
    row_coordinates,
    scatter_precision,
    scatter_whitening,
    signs,
    squared_norm,
    whitening,
)


class PDH(LinearMethod):
    """Predictable dual-view hashing.

    Parameters
    ----------
    n_bits : int
    cost : float
        C, the price of a label that is not met.
    iterations : int
        Sweeps over the views.
    ridge_covariance : float
        Added to the diagonals of the covariance matrices of the CCA that the bits begin from, as in
        :mod:`hashbench.methods.cca`. The authors' CCA is not known.
    random_state : int, Generator or None
    """

    name = "pdh"
    title = "PDH"
    space: ClassVar = {"cost": Log(1e-3, 1e2), "ridge_covariance": Log(1e-8, 1)}
    allowed: ClassVar = {"cost": POSITIVE, "iterations": COUNT, "ridge_covariance": NON_NEGATIVE}
    supervised = False
    paper = Paper(
        "M. Rastegari, J. Choi, S. Fakhraei, H. Daumé III, L. S. Davis",
        "Predictable dual-view hashing",
        "ICML",
        2013,
        fidelity="paper only",
        fidelity_note="decorrelation keeps bit identity, which the printed one does not",
    )

    def __init__(
        self,
        n_bits: int = 16,
        cost: float = 1.0,
        iterations: int = 15,
        ridge_covariance: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.cost = cost
        self.iterations = iterations
        self.ridge_covariance = ridge_covariance
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Learn hyperplanes that predict each other's sides."""
        data = self.begin_fit(views, labels)
        views, rng = data.views, data.rng
        self.means_ = column_means(views)
        views, means, bases = zip(
            *[row_coordinates(X, mean) for X, mean in zip(views, self.means_, strict=True)],
            strict=True,
        )
        solvers = [
            Ridge(X, 1 / (2 * self.cost), mean) for X, mean in zip(views, means, strict=True)
        ]
        ridge = self.ridge_covariance * (data.n - 1)
        whiteners = [
            scatter_whitening(X, mean, ridge, solver.gram)
            for X, mean, solver in zip(views, means, solvers, strict=True)
        ]
        directions, correlations = correlated_directions(views, self.n_bits, means, whiteners)
        start = np.where(
            correlations > 0, directions[-1], rng.standard_normal(directions[-1].shape)
        )
        B = signs(project(views[-1], start, means[-1]))
        W = [np.zeros((X.shape[1], self.n_bits)) for X in views]
        Z: list[Any] = [None] * len(views)  # X_m W_m
        for _ in range(self.iterations):
            parts = []
            for m, (X, mean) in enumerate(zip(views, means, strict=True)):
                targets = B.astype(data.dtype, copy=False)
                W[m], Z[m] = linear_svms(solvers[m], targets, W[m], Z=Z[m])
                B = decorrelate(Z[m])
                constant = np.flatnonzero(np.ptp(B, axis=0) == 0)
                if constant.size:
                    again = rng.standard_normal((X.shape[1], constant.size))
                    B[:, constant] = signs(project(X, again, mean))
                parts.append((W[m], targets, Z[m], B))
            self.record_objective(lambda: sum(self._view_objective(*part) for part in parts))

        self.projections_ = [w if E is None else E @ w for w, E in zip(W, bases, strict=True)]
        return self

    def _view_objective(self, W, targets, Z, B):
        """Return the terms of one view; ``targets`` are the bits of the view before."""
        repetition = (B.T @ B) / len(B) - np.eye(self.n_bits)
        slack = np.maximum(0, 1 - targets * Z)
        return squared_norm(repetition) + squared_norm(W) / 2 + self.cost * squared_norm(slack)


def decorrelate(Z):
    """Return the signs of the polar factor of Z with its columns centred and of unit variance.

    Z'P is positive semi-definite for the polar factor P, so that no new column opposes its old
    one. Columns without variance give +1.
    """
    Z = Z - Z.mean(axis=0, dtype=np.float64).astype(Z.dtype)
    scale = np.sqrt(np.square(Z).sum(axis=0, dtype=np.float64))
    floor = scale.max(initial=0.0) * np.finfo(Z.dtype).eps * np.sqrt(len(Z))
    Z = Z * np.where(scale > floor, 1 / np.maximum(scale, np.finfo(float).tiny), 0).astype(Z.dtype)
    root = whitening(Z.T @ Z, scatter_precision(Z))
    # P = Z (Z'Z)^(-1/2): with M the whitening, M diag(1 / norms of M) are the eigenvectors.
    return signs(Z @ (root @ (root / np.linalg.norm(root, axis=0)).T))
