"""Many lassos over one dictionary at once.

Every row is a problem of its own, but all share the dictionary, so that an iteration is two matrix
products. Rows go through all their iterations a block at a time: everything an iteration touches
then stays in cache, and blocks can be shared out among threads.
"""

from __future__ import annotations

import numpy as np

from hashbench.base.validation import Matrix
from hashbench.linalg.threads import share_out

#: Coefficients held at once; half a megabyte in float32.
BLOCK_COEFFICIENTS = 1 << 17

#: A curvature this near the bound (relatively) counts as above it. After the first step the two are
#: equal but for rounding, and rounding must not decide about a factor of two in the step length.
MARGIN = 1e-4


def lasso(D: Matrix, Y: Matrix, fraction: float, iterations: int = 30) -> Matrix:
    """Lower ||y_i - s_i D||^2 / 2 + fraction * ||D y_i||_max * ||s_i||_1 for every row y_i.

    Accelerated proximal gradient steps from zero (Nesterov), with a step length for each row that
    shrinks when needed. The weight of the l1 norm is a fraction of the smallest one for which
    s_i = 0 is optimal, so that sparsity does not depend on the scale of a row.

    Parameters
    ----------
    D : (atoms, p)
        Dictionary.
    Y : (n, p)
    fraction : float
        Between 0 (least squares) and 1 (all zero).
    iterations : int
        Always this many: far from convergence if few, which the methods that use it count on.

    Returns
    -------
    S : (n, atoms) array in the precision of Y
    """
    D = np.ascontiguousarray(D, Y.dtype)
    S = np.empty((len(Y), len(D)), Y.dtype)

    def solve(rows: slice) -> None:
        S[rows] = _block(D, Y[rows], fraction, iterations)

    size = max(1, BLOCK_COEFFICIENTS // len(D))
    share_out(solve, [slice(start, start + size) for start in range(0, len(Y), size)])
    return S


def _block(D: Matrix, Y: Matrix, fraction: float, iterations: int) -> Matrix:
    columns = np.ascontiguousarray(D.T)
    weight = fraction * np.abs(Y @ columns).max(axis=1, keepdims=True)
    S = np.zeros((len(Y), len(D)), Y.dtype)
    fitted, bound = np.zeros_like(Y), np.ones_like(weight)  # S D; 1 / step length
    last, last_fitted, before, momentum = S, fitted, 1.0, 1.0
    for _ in range(iterations):
        beta = (before - 1) / momentum
        point, at_point = _beyond(S, last, beta), _beyond(fitted, last_fitted, beta)
        last, last_fitted = S, fitted
        residual = at_point - Y
        S, fitted = _step(point, residual, bound, weight, D, columns)
        ratio = _curvature(S, point, fitted, at_point)
        long = np.flatnonzero(ratio > bound[:, 0] * (1 - MARGIN))
        while long.size:
            bound[long, 0] = np.maximum(2 * bound[long, 0], ratio[long])
            S[long], fitted[long] = _step(
                point[long], residual[long], bound[long], weight[long], D, columns
            )
            ratio[long] = _curvature(S[long], point[long], fitted[long], at_point[long])
            long = long[ratio[long] > bound[long, 0] * (1 - MARGIN)]
        before, momentum = momentum, (1 + np.sqrt(1 + 4 * momentum**2)) / 2
    return S


def _beyond(new: Matrix, old: Matrix, beta: float) -> Matrix:
    """Return new + beta (new - old)."""
    step = new - old
    step *= beta
    step += new
    return step


def _step(
    point: Matrix, residual: Matrix, bound: Matrix, weight: Matrix, D: Matrix, columns: Matrix
) -> tuple[Matrix, Matrix]:
    """Return S after a proximal gradient step from ``point``, and S D."""
    S = (residual / -bound) @ columns
    S += point
    threshold = weight / bound
    # Soft thresholding takes off what lies between the thresholds.
    cut = np.minimum(S, threshold)
    S -= np.maximum(cut, -threshold, out=cut)
    return S, S @ D


def _curvature(S: Matrix, point: Matrix, fitted: Matrix, at_point: Matrix) -> Matrix:
    """Return ||(s - point) D||^2 / ||s - point||^2 of every row; 0 where nothing moved."""
    moved, moved_fit = S - point, fitted - at_point
    length = np.vecdot(moved, moved)
    still = length <= 1e-20
    return np.asarray(
        np.where(still, 0, np.vecdot(moved_fit, moved_fit) / np.where(still, 1, length))
    )
