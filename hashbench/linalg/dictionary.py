"""Least squares with bounded atoms: the dictionary step of sparse coding and its relatives."""

from __future__ import annotations

import numpy as np

from hashbench.core.validation import Matrix


def bounded_basis(
    products: Matrix, gram: Matrix, start: Matrix, tolerance: float = 1e-3, steps: int = 500
) -> Matrix:
    """Return B that minimises ||Z - S B||^2 with no row of B longer than 1.

    Projected gradient steps from extrapolated points (Nesterov). Row j takes steps of its own
    length 1 / sum_i |(S'S)_ji|: the diagonal matrix of these sums is an upper bound of S'S. For
    sparse S, whose S'S is nearly diagonal, about ten steps are enough. Each takes O(k^2 p); a step
    of Newton's method on the dual would take O(k^3).

    Parameters
    ----------
    products : (k, p)
        S'Z.
    gram : (k, k)
        S'S; may be singular. Rows of B whose column of S is zero come out zero.
    start : (k, p)
        The first iterate, for example the solution of a similar problem; not changed.
    tolerance : float
        Stop when a step moves no row by more than this.
    steps : int
        Largest number of steps.
    """
    sums = np.abs(gram).sum(axis=1, keepdims=True)
    used = sums > 0
    length = np.where(used, 1 / np.where(used, sums, 1), 0)
    B = _bounded(np.where(used, start, 0))
    point, momentum = B, np.ones((len(B), 1))
    for _ in range(steps):
        new = _bounded(point - length * (gram @ point - products))
        moved = np.linalg.norm(new - point, axis=1).max()
        # Restart the acceleration of rows whose last step went against their momentum.
        momentum[np.vecdot(point - new, new - B) > 0] = 1
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        point = new + (momentum - 1) / following * (new - B)
        B, momentum = new, following
        if moved <= tolerance:
            break
    return B


def _bounded(B: Matrix) -> Matrix:
    """Return B with the rows longer than 1 shortened to 1."""
    return np.asarray(B / np.maximum(np.linalg.norm(B, axis=1, keepdims=True), 1))
