"""ACQ: alternating co-quantisation, a reconstruction.

    min sum_m ||B_m - V_m R_m||^2 + eta sum_{m != l} ||B_m - V_l R_l||^2,   R_m'R_m = I

V_m (n, k): canonical projections of view m, of unit variance but for the ridge; B_m (n, k) in
{-1, +1}: its codes; R_m (k, k): its rotation. Each view is quantised so that the other views'
rotated projections lie near its codes too. Both steps are exact, so the objective never rises:

    B_m = sgn(V_m R_m + eta sum_{l != m} V_l R_l),
    R_m = the Procrustes solution of V_m'(B_m + eta sum_{l != m} B_l).

All rotations begin as one random rotation. Hash functions: sgn(x A_m R_m), A_m the canonical
directions.

Cost: that of CCA (:mod:`hashbench.methods.cca`), one pass for V_m, then O(n k^2 + k^3) per view
and iteration. Memory beyond the features: V_m and B_m.

Deviations
----------
- Known from the paper's abstract: no labels; a cross-modal reduction such as CCA comes first;
  the quantisers of the modalities are found in turn, each with regard to the data of the other.
  The objective above, eta = 1, 50 iterations and the common first rotation are inferred.
- The ridge of the CCA is not known. The default is the best of five values from 0.01 to 100 on
  validation rows of six datasets (``research/choose_defaults.py``). It is large: the directions
  are nearer to those of largest covariance than to those of largest correlation.
- The paper also speaks of items connected to several others. Here an item is connected to itself.
- Beyond the number r of correlated directions the rotations spread r directions over k bits.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from hashbench import COUNT, NON_NEGATIVE, LinearMethod, Log, Paper
from hashbench.linalg import (
    column_means,
    correlated_directions,
    procrustes,
    project,
    random_rotation,
    scatter_whitening,
    signs,
    squared_norm,
)


class ACQ(LinearMethod):
    """Alternating co-quantisation.

    Parameters
    ----------
    n_bits : int
    eta : float
        Weight of the other views' projections in quantising one view.
    ridge : float
        Added to the diagonals of the scatter matrices of the CCA, relative to their mean
        eigenvalues: features of any scale are treated alike.
    iterations : int
    random_state : int, Generator or None
    """

    name = "acq"
    title = "ACQ"
    space: ClassVar = {"eta": Log(1e-2, 1e2), "ridge": Log(1e-4, 1e2)}
    allowed: ClassVar = {"eta": NON_NEGATIVE, "ridge": NON_NEGATIVE, "iterations": COUNT}
    supervised = False
    discrete = True
    paper = Paper(
        "G. Irie, H. Arai, Y. Taniguchi",
        "Alternating co-quantization for cross-modal hashing",
        "ICCV",
        2015,
        fidelity="reconstruction",
        fidelity_note=(
            "from the abstract, some 50 % sure: objective, weight of the other view, "
            "initialisation and number of iterations are inferred"
        ),
    )

    def __init__(
        self,
        n_bits: int = 16,
        eta: float = 1.0,
        ridge: float = 10.0,
        iterations: int = 50,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.eta = eta
        self.ridge = ridge
        self.iterations = iterations
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Reduce by CCA, then quantise the views in turn."""
        data = self.begin_fit(views, labels)
        views, rng = data.views, data.rng
        n = len(views[0])
        self.means_ = column_means(views)
        whiteners = [
            scatter_whitening(X, mean, self.ridge, relative=True)
            for X, mean in zip(views, self.means_, strict=True)
        ]
        A, _ = correlated_directions(views, self.n_bits, self.means_, whiteners)
        A = [np.sqrt(n) * a for a in A]  # scatter of one a direction becomes variance of one
        V = [project(X, W, mean) for X, W, mean in zip(views, A, self.means_, strict=True)]
        R = [random_rotation(self.n_bits, rng)] * len(views)
        P = [v @ r for v, r in zip(V, R, strict=True)]
        for _ in range(self.iterations):
            B = [signs(mixed) for mixed in self._with_others(P)]
            targets = self._with_others(B)
            R = [procrustes(v.T @ target, r) for v, target, r in zip(V, targets, R, strict=True)]
            P = [v @ r for v, r in zip(V, R, strict=True)]
            self.record_objective(lambda: self._objective(B, P))
        self.codes_ = [mixed >= 0 for mixed in self._with_others(P)]
        self.projections_ = [a @ r for a, r in zip(A, R, strict=True)]
        return self

    def _with_others(self, M):
        """M_m + eta sum_{l != m} M_l for every view m."""
        total = self.eta * sum(M)
        return [total + (1 - self.eta) * matrix for matrix in M]

    def _objective(self, B, P):
        return sum(
            (1.0 if m == l else self.eta) * squared_norm(b - p)
            for m, b in enumerate(B)
            for l, p in enumerate(P)
        )
