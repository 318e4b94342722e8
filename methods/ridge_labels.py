"""Ridge to labels: what labels give before any learning of codes.

    W_m = argmin ||Y - y - X_m W||^2 + p ||W||^2

X_m (n, d_m): centred features; Y (n, c): labels, y their mean; p: a ridge relative to the
features' size. Then

    code = sgn(x W_m H), H (c, k): random, orthonormal rows or columns.

``classifier-codes`` and ``real-valued`` are baselines from the same regression.

The default ridge is the best of five values from 0.001 to 10 on validation rows of six datasets
(``research/choose_defaults.py``).

Cost: one pass per view for the scatter matrix and its products with the labels, one solve for c
targets. Memory beyond the features: Y.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from hashbench import NON_NEGATIVE, LinearMethod, Log
from hashbench.linalg import (
    Ridge,
    column_means,
    random_rotation,
)


def regress_labels(views, Y, strength):
    """Return means, label means and W_m of the regression above."""
    means = column_means(views)
    balance = Y.mean(axis=0, dtype=np.float64)
    targets = Y - balance.astype(Y.dtype)
    weights = [
        Ridge(X, strength, mean, relative=True).solve(targets)
        for X, mean in zip(views, means, strict=True)
    ]
    return means, balance, weights


class RidgeLabels(LinearMethod):
    """Regression to the labels, and the sign of a random projection of them.

    The learned codes are the projected labels themselves: they need no features at all, which
    is what scores against learned database codes have to be read with in mind.

    Parameters
    ----------
    n_bits : int
    ridge : float
        Penalty, relative to the mean eigenvalue of the scatter matrix.
    random_state : int, Generator or None
    """

    name = "ridge-labels"
    title = "Ridge to labels"
    space: ClassVar = {"ridge": Log(1e-4, 1e2)}
    allowed: ClassVar = {"ridge": NON_NEGATIVE}
    supervised = True

    def __init__(self, n_bits: int = 16, ridge: float = 0.1, random_state: Any = None) -> None:
        self.n_bits = n_bits
        self.ridge = ridge
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Regress, and project the label space."""
        data = self.begin_fit(views, labels)
        views, Y, rng = data.views, data.labels, data.rng
        self.means_, balance, weights = regress_labels(views, Y, self.ridge)
        c = Y.shape[1]
        H = random_rotation(max(c, self.n_bits), rng)[:c, : self.n_bits]
        self.projections_ = [W @ H for W in weights]
        self.codes_ = (Y - balance) @ H >= 0
        return self
