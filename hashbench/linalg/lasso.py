"""Lasso problems that share a dictionary, one for each row.

An iteration is two matrix products for all rows of a block. A block goes through all its iterations
before the next one starts: its arrays then stay in cache, and threads take blocks in parallel.
scikit-learn's sparse_encode runs to convergence. LSSH, which uses this, stops after 30 steps, long
before convergence, and its codes depend on that.
"""

from __future__ import annotations

import numpy as np

from hashbench.core.threads import parallel_map
from hashbench.core.validation import Matrix

#: Coefficients held at once; half a megabyte in float32.
BLOCK_COEFFICIENTS = 1 << 17

#: A curvature within this relative distance of the bound counts as above it. After the first step
#: both are equal up to rounding, which must not decide about a factor of two in the step length.
MARGIN = 1e-4

#: With a larger share of nonzero coefficients a dense product is faster.
DENSE = 0.25


def lasso(D: Matrix, Y: Matrix, fraction: float, iterations: int = 30) -> Matrix:
    """Lower ||y_i - s_i D||^2 / 2 + fraction * ||D y_i||_max * ||s_i||_1 for every row y_i.

    Accelerated proximal gradient steps (Nesterov) from zero, with backtracking for each row. The
    weight of the l1 norm is a fraction of the smallest one for which s_i = 0 is optimal, so that
    sparsity does not depend on the scale of a row.

    Parameters
    ----------
    D : (atoms, p)
        Dictionary.
    Y : (n, p)
    fraction : float
        Between 0 (least squares) and 1 (all zero).
    iterations : int
        Number of steps; there is no test of convergence.

    Returns
    -------
    S : (n, atoms) array in the precision of Y
    """
    D = np.ascontiguousarray(D, Y.dtype)
    S = np.empty((len(Y), len(D)), Y.dtype)

    def solve(rows: slice) -> None:
        S[rows] = _block(D, Y[rows], fraction, iterations)

    size = max(1, BLOCK_COEFFICIENTS // len(D))
    parallel_map(solve, [slice(start, start + size) for start in range(0, len(Y), size)])
    return S


def _block(D: Matrix, Y: Matrix, fraction: float, iterations: int) -> Matrix:
    from hashbench.linalg.lasso_kernels import multiply, shrink  # imports numba: a second

    columns, every = np.ascontiguousarray(D.T), np.arange(len(Y))
    weight = fraction * np.abs(Y @ columns).max(axis=1)
    bound, length = np.ones_like(weight), np.empty_like(weight)  # 1 / step length; what moved
    S, last, new = (np.zeros((len(Y), len(D)), Y.dtype) for _ in range(3))
    fitted, last_fitted, new_fitted = (np.zeros(Y.shape, Y.dtype) for _ in range(3))  # S D
    before, momentum = 1.0, 1.0
    for _ in range(iterations):
        beta = Y.dtype.type((before - 1) / momentum)
        at_point = fitted + beta * (fitted - last_fitted)
        residual = Y - at_point
        rows = every
        while rows.size:
            part = slice(None) if rows.size == len(Y) else rows
            G = (residual[part] / bound[part, None]) @ columns
            count = shrink(rows, G, weight / bound, beta, S, last, new, length)
            if count > DENSE * G.size:
                new_fitted[part] = new[part] @ D
            else:
                multiply(rows, new, D, new_fitted)
            ratio = _ratio(new_fitted[part] - at_point[part], length[part])
            long = ratio > bound[part] * (1 - MARGIN)
            rows, ratio = rows[long], ratio[long]
            bound[rows] = np.maximum(2 * bound[rows], ratio)
        S, last, new = new, S, last
        fitted, last_fitted, new_fitted = new_fitted, fitted, last_fitted
        before, momentum = momentum, (1 + np.sqrt(1 + 4 * momentum**2)) / 2
    return S


def _ratio(moved: Matrix, length: Matrix) -> Matrix:
    """Return ||moved||^2 / length of every row, the curvature there; 0 where nothing moved."""
    still = length <= 1e-20
    return np.asarray(np.where(still, 0, np.vecdot(moved, moved) / np.where(still, 1, length)))
