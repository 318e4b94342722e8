"""Linear support vector machines, many at once and with one factorisation.

The squared hinge max(0, 1 - b z)^2 lies below (z - t)^2 with t = b max(1, b z'), where z' is the
value at hand, and touches it there. Minimising that bound is a ridge regression on t, whose system
depends on the features alone: all machines, all their steps and all later calls with other labels
share one Cholesky factor, and a step is one pass over the features.
"""

from __future__ import annotations

import numpy as np

from hashbench.base.validation import Matrix
from hashbench.linalg.ridge import CACHED_ROWS, Ridge, row_products, row_values, zero_products


def linear_svms(
    ridge: Ridge, B: Matrix, W: Matrix, tolerance: float = 1e-3, steps: int = 100
) -> Matrix:
    """Minimise ||w_j||^2 / 2 + C sum_i max(0, 1 - b_ij x_i'w_j)^2 for every column j.

    The bounds are minimised in turn from extrapolated points (Nesterov); a column that has come to
    move uphill starts its extrapolation anew.

    Parameters
    ----------
    ridge : Ridge
        Holds the features x_i, their mean, and the penalty 1 / (2 C).
    B : (n, k) of -1 and +1
        Labels, a column a machine.
    W : (d, k)
        Where to start; not changed.
    tolerance : float
        Stop when a step moves no column by more than this, relative to its length.
    steps : int
        At most this many.

    Returns
    -------
    (d, k) array of float64
    """
    point, momentum = W, np.ones(W.shape[1])
    for _ in range(steps):
        new = ridge.solve_products(_target_products(ridge, B, point))
        moved = np.linalg.norm(new - point, axis=0) > tolerance * np.linalg.norm(new, axis=0)
        momentum[np.einsum("ij,ij->j", point - new, new - W) > 0] = 1
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        point = new + (momentum - 1) / following * (new - W)
        W, momentum = new, following
        if not moved.any():
            break
    return W


def _target_products(ridge: Ridge, B: Matrix, W: Matrix) -> Matrix:
    """Return (X - 1 mean')'T for the targets T of the bound at X W, in one pass over X."""
    X, dtype = ridge.X, B.dtype
    mean = np.zeros(X.shape[1]) if ridge.mean is None else ridge.mean
    shift, W = (mean @ W).astype(dtype), W.astype(dtype)
    products, total = zero_products(X, W), np.zeros(W.shape[1])
    for start in range(0, len(B), CACHED_ROWS):
        rows = slice(start, start + CACHED_ROWS)
        targets = row_values(X[rows], W)
        targets -= shift
        targets *= B[rows]
        np.maximum(targets, 1, out=targets)
        targets *= B[rows]
        products += row_products(X[rows], targets)
        total += targets.sum(axis=0, dtype=np.float64)
    return np.asarray(products - np.outer(mean, total))
