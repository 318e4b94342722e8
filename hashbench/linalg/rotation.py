"""Orthogonal matrices: Procrustes, ITQ, and balanced decorrelated factors."""

from __future__ import annotations

import numpy as np

from hashbench.base.validation import Matrix
from hashbench.linalg.discrete import signs


def random_rotation(k: int, rng: np.random.Generator) -> Matrix:
    """Return a (k, k) orthogonal matrix, uniform over all of them."""
    Q, triangle = np.linalg.qr(rng.standard_normal((k, k)))
    return np.asarray(Q * np.where(np.diag(triangle) < 0, -1.0, 1.0))


def procrustes(A: Matrix) -> Matrix:
    """Return the matrix R with orthonormal rows or columns that maximises tr(R' A).

    With A = V'B this is the rotation that minimises ||B - V R||.
    """
    left, _, right = np.linalg.svd(np.asarray(A, np.float64), full_matrices=False)
    return np.asarray(left @ right)


def itq(V: Matrix, rng: np.random.Generator, iterations: int = 50) -> Matrix:
    """Iterative quantisation: the (k, k) rotation R that brings V R near its own signs.

    min ||B - V R||^2 over B in {-1, +1} and orthogonal R, alternately (Gong and Lazebnik, CVPR
    2011), from a random rotation. The objective never rises. O(n k^2) an iteration.
    """
    R = random_rotation(V.shape[1], rng)
    for _ in range(iterations):
        B = signs(V @ R.astype(V.dtype))
        R = procrustes(V.T @ B)
    return R


def stiefel(Z: Matrix, rng: np.random.Generator, eps: float = 1e-6) -> Matrix:
    """Return V that maximises tr(Z'V) subject to V'V = n I and V'1 = 0, (n, k).

    From the k x k eigen-decomposition of the centred Z'Z. Where that has rank r < k, the missing
    k - r columns are random, orthogonal to the others and to 1 (as far as n > k allows: with
    n <= k the constraint cannot be met, and the columns that do not fit are zero). An eigenvalue
    counts as zero below ``eps``, and below what rounding leaves of a zero beside the largest.
    """
    n, k = Z.shape
    Zc = Z.astype(np.float64) - Z.mean(axis=0, dtype=np.float64)
    values, Q = np.linalg.eigh(Zc.T @ Zc)
    rounding = 10 * (k * np.finfo(np.float64).eps + np.finfo(Z.dtype).eps ** 2)
    keep = values > max(eps, float(values[-1] * rounding))
    basis = Zc @ (Q[:, keep] / np.sqrt(values[keep]))
    # Squaring Z has cost the weak directions their digits: a second whitening sets them upright.
    lengths, turn = np.linalg.eigh(basis.T @ basis)
    basis = basis @ (turn / np.sqrt(lengths)) @ turn.T
    missing = k - int(keep.sum())
    if missing:
        # Two passes of projection keep the complement orthogonal to working precision.
        extra = rng.standard_normal((n, missing))
        for _ in range(2):
            extra -= extra.mean(axis=0)
            extra -= basis @ (basis.T @ extra)
        extra, _ = np.linalg.qr(extra)
        padded = np.zeros((n, missing))
        room = max(0, n - 1 - basis.shape[1])
        use = min(missing, room)
        padded[:, :use] = extra[:, :use]
        basis = np.hstack([basis, padded])
        Q = np.hstack([Q[:, keep], Q[:, ~keep]])
    return np.asarray(np.sqrt(n) * basis @ Q.T, Z.dtype)
