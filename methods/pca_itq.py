"""PCA-ITQ codes of one view, and regression for the others.

The plainest way from a hashing method for one view to one for several: code one view as if the
others did not exist, then teach the others those codes.

    min ||B - X_v A R||^2   over B in {-1, +1}, R'R = I        (A: k principal directions of X_v)
    W_m = argmin ||B - b - X_m W||^2 + p ||W||^2               (all other views m)

X_m (n, d_m): centred features; B (n, k): codes, b their mean; p: a ridge relative to the
features' size. The coded view hashes with A R, the others with W_m and b.

Cost: one pass for the scatter matrix of the coded view and one for its projections; one for the
regression of each other view; O(n k^2 + k^3) per iteration of ITQ.

Deviations
----------
- ITQ is the authors' algorithm; the regression of other views is this suite's way of making a
  cross-modal baseline of it.
- Beyond the rank r of the coded view the rotation spreads r directions over k bits.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from hashbench import COUNT, COUNT_OR_ZERO, NON_NEGATIVE, HashbenchError, LinearMethod, Log, Paper
from hashbench.linalg import (
    Ridge,
    column_means,
    itq,
    pca,
    project,
    signs,
)


class PCAITQ(LinearMethod):
    """Iterative quantisation of one view, ridge regression for the others.

    Parameters
    ----------
    n_bits : int
    view : int
        The view that gives the codes.
    ridge : float
        Penalty of the regressions, relative to the mean eigenvalue of the scatter matrix.
    iterations : int
    random_state : int, Generator or None
    """

    name = "pca-itq"
    title = "PCA-ITQ"
    space: ClassVar = {"ridge": Log(1e-4, 1e2)}
    allowed: ClassVar = {"view": COUNT_OR_ZERO, "ridge": NON_NEGATIVE, "iterations": COUNT}
    supervised = False
    paper = Paper(
        "Y. Gong, S. Lazebnik",
        "Iterative quantization: A Procrustean approach to learning binary codes",
        "CVPR",
        2011,
    )

    def __init__(
        self,
        n_bits: int = 16,
        view: int = 1,
        ridge: float = 0.1,
        iterations: int = 50,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.view = view
        self.ridge = ridge
        self.iterations = iterations
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Code one view and regress the others on its codes."""
        data = self.begin_fit(views, labels)
        views, rng = data.views, data.rng
        if self.view >= len(views):
            raise HashbenchError(
                f"{self.name}: found view {self.view}; allowed: 0 to {len(views) - 1}"
            )
        self.means_ = column_means(views)
        X, mean = views[self.view], self.means_[self.view]
        directions = pca(X, self.n_bits, mean)
        A = np.zeros((X.shape[1], self.n_bits))
        A[:, : directions.shape[1]] = directions
        V = project(X, A, mean)
        R = itq(V, rng, self.iterations)
        B = signs(V @ R)

        balance = B.mean(axis=0, dtype=np.float64)
        self.projections_ = [
            A @ R
            if m == self.view
            else Ridge(X, self.ridge, mean, relative=True).solve(B - balance.astype(B.dtype))
            for m, (X, mean) in enumerate(zip(views, self.means_, strict=True))
        ]
        self.offsets_ = [
            np.zeros(self.n_bits) if m == self.view else balance for m in range(len(views))
        ]
        self.codes_ = B > 0
        return self
