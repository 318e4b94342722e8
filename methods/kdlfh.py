"""KDLFH: discrete latent factor hashing with kernel hash functions.

Codes are learned as in :mod:`hashbench.methods.dlfh`. Then every bit of every view gets a logistic
regression on RBF features of random rows,

    min sum_i log(1 + exp(-b_i k_i'w)) + eta w'K_0 w

k_i: kernel values between row i and the anchors; K_0: those between the anchors.

Cost: that of the codes, one pass over the features for the kernel, and a few Newton steps per bit.

Deviations
----------
- Regressions are solved to the optimum by Newton's method. The authors' code stops L-BFGS after
  500 steps, 0.3 to 0.9 % above it, so that some 2 % of the bits differ.
- For the others, see :mod:`hashbench.methods.dlfh`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from hashbench import COUNT, NON_NEGATIVE, Linear, Log
from hashbench.core.validation import BLOCK_ROWS
from hashbench.linalg import (
    RBF,
    anchor_rows,
    kernel_logistic,
    mean_squared_distance,
    row_blocks,
    squared_distances,
)
from hashbench.methods.dlfh import DLFH

WIDTH_ROWS = 5000  # rows that the width of the kernel is measured on


class KDLFH(DLFH):
    """DLFH with a kernel logistic regression for every bit.

    Parameters
    ----------
    n_bits, lam, samples, random_state
        As for :class:`DLFH`.
    iterations : int
        Epochs.
    anchors : int
        Random training rows that the RBF features are distances to.
    penalty : float
        eta of eta w'K_0 w, K_0 the kernel between the anchors: no scale of the views in it.
    """

    name = "kdlfh"
    title = "KDLFH"
    space: ClassVar = {"lam": Linear(1, 32), "penalty": Log(1e-4, 1e2)}
    allowed: ClassVar = {"anchors": COUNT, "penalty": NON_NEGATIVE}
    kernel = True

    def __init__(
        self,
        n_bits: int = 16,
        lam: float = 8.0,
        samples: int | None = None,
        iterations: int = 50,
        anchors: int = 500,
        penalty: float = 1e-2,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.lam = lam
        self.samples = samples
        self.iterations = iterations
        self.anchors = anchors
        self.penalty = penalty
        self.random_state = random_state

    def _learn_functions(self, views, codes, rng):
        anchors = anchor_rows(len(views[0]), self.anchors, rng)
        self.maps_, self.projections_ = [], []
        for X, B in zip(views, codes, strict=True):
            width = mean_squared_distance(X[:WIDTH_ROWS]) or 1.0  # equal rows have no scale
            points = X[anchors].astype(np.float64)
            rbf = RBF(points, width, centred=False, mean=X.mean(axis=0, dtype=np.float64))
            K = np.empty((len(X), len(anchors)))
            for rows in row_blocks(len(X), BLOCK_ROWS):
                K[rows] = rbf.transform(X[rows].astype(np.float64))
            K0 = np.exp(-squared_distances(rbf.anchors, rbf.anchors) / width)
            self.maps_.append(rbf)
            self.projections_.append(kernel_logistic(K, K0, B, self.penalty))

    def project(self, X: Any, view: Any) -> Any:
        """Return the (n, n_bits) real values whose signs are the codes.

        In double precision: directions in which the kernel points hardly differ are hardly
        penalised, and large weights there would multiply the rounding of float32.
        """
        X, view = self.check_encode(X, view)
        blocks = row_blocks(len(X), BLOCK_ROWS)
        once = super().project
        return np.vstack([once(X[rows].astype(np.float64), view) for rows in blocks])
