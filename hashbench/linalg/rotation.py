"""Orthogonal matrices: Procrustes, ITQ, and balanced decorrelated factors."""

from __future__ import annotations

import numpy as np

from hashbench.core.validation import Matrix
from hashbench.linalg.discrete import signs

#: Singular values below this are treated as zero when ties are broken.
WEAK = 1e-2


def random_rotation(k: int, rng: np.random.Generator) -> Matrix:
    """Return a (k, k) orthogonal matrix, uniform over all of them."""
    Q, triangle = np.linalg.qr(rng.standard_normal((k, k)))
    return np.asarray(Q * np.where(np.diag(triangle) < 0, -1.0, 1.0))


def procrustes(A: Matrix, near: Matrix | None = None) -> Matrix:
    """Return the matrix R with orthonormal rows or columns that maximises tr(R' A).

    With A = V'B this is the rotation that minimises ||B - V R||. If A does not have full rank,
    there are many maximisers, and which of them LAPACK finds depends on its version. Here it is
    the one nearest to ``near``, usually the rotation of the iteration before; if that leaves a
    choice, the one nearest to the identity.

    Parameters
    ----------
    A : (m, k)
    near : (m, k), optional
    """
    m, k = A.shape
    rounding = max(1e-8, 10 * float(np.finfo(A.dtype).eps))
    targets = [(np.asarray(A, np.float64), rounding * float(np.linalg.norm(A, 2)))]
    if near is not None:
        targets.append((np.asarray(near, np.float64), WEAK))
    generic = np.random.default_rng(0).standard_normal((m, k)) / np.sqrt(max(m, k))
    targets += [(np.eye(m, k), WEAK), (generic, 0.0)]
    left, right = np.zeros((m, 0)), np.zeros((0, k))
    for target, zero in targets:
        # Each target decides only in the spaces that those before it have left open.
        free = target - left @ (left.T @ target)
        free -= (free @ right.T) @ right
        U, values, Vt = np.linalg.svd(free, full_matrices=False)
        count = min(int((values > zero).sum()), min(m, k) - left.shape[1])
        left, right = np.hstack([left, U[:, :count]]), np.vstack([right, Vt[:count]])
        if left.shape[1] == min(m, k):
            break
    return np.asarray(left @ right)


def itq(V: Matrix, rng: np.random.Generator, iterations: int = 50) -> Matrix:
    """Return the (k, k) rotation R that iterative quantisation finds for V, (n, k).

    Lowers ||B - V R||^2 over B in {-1, +1} and orthogonal R, alternately (Gong and Lazebnik, CVPR
    2011), from a random rotation. The objective never rises. O(n k^2) per iteration.
    """
    R = random_rotation(V.shape[1], rng)
    for _ in range(iterations):
        B = signs(V @ R.astype(V.dtype))
        R = procrustes(V.T @ B, R)
    return R


def stiefel(Z: Matrix, rng: np.random.Generator, eps: float = 1e-6) -> Matrix:
    """Return V that maximises tr(Z'V) subject to V'V = n I and V'1 = 0, (n, k).

    Computed from the k x k eigen-decomposition of the centred Z'Z. If that has rank r < k, the
    missing directions are random, orthogonal to the others and to 1. With n <= k the constraint
    cannot be met, and the directions that do not fit are zero. An eigenvalue counts as zero below
    ``eps``, and below rounding errors of the size of the largest.
    """
    n, k = Z.shape
    Zc = Z.astype(np.float64) - Z.mean(axis=0, dtype=np.float64)
    rounding = 10 * (k * np.finfo(np.float64).eps + np.finfo(Z.dtype).eps ** 2)
    V, rank = _polar(Zc, eps, rounding)
    if rank < k:
        # Random in the complements of V's column space and row space.
        extra = rng.standard_normal((n, k))
        # Two passes of projection keep the complement orthogonal to working precision.
        for _ in range(2):
            extra -= extra.mean(axis=0)
            extra -= V @ (V.T @ extra)
            extra -= extra @ (V.T @ V)
        V += _polar(extra, 1e-10 * n, 0.0)[0]
    return np.asarray(np.sqrt(n) * V, Z.dtype)


def _polar(Z: Matrix, zero: float, rounding: float) -> tuple[Matrix, int]:
    """Return Z (Z'Z)^(-1/2), (n, k), and the rank of Z; no direction for eigenvalues of zero."""
    values, Q = np.linalg.eigh(Z.T @ Z)
    keep = values > max(zero, float(values[-1] * rounding))
    basis = Z @ (Q[:, keep] / np.sqrt(values[keep]))
    # Squaring Z loses digits of the weak directions: a second whitening makes them orthonormal.
    lengths, turn = np.linalg.eigh(basis.T @ basis)
    basis = basis @ (turn / np.sqrt(lengths)) @ turn.T
    return np.asarray(basis @ Q[:, keep].T), int(keep.sum())
