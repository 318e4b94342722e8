"""Orthogonal matrices: Procrustes, ITQ, and balanced decorrelated factors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hashbench.base.validation import Matrix
from hashbench.linalg.discrete import signs

WEAK = 1e-2  # a wish that agrees less than this with the spaces that are left decides nothing there


def random_rotation(k: int, rng: np.random.Generator) -> Matrix:
    """Return a (k, k) orthogonal matrix, uniform over all of them."""
    Q, triangle = np.linalg.qr(rng.standard_normal((k, k)))
    return np.asarray(Q * np.where(np.diag(triangle) < 0, -1.0, 1.0))


def procrustes(A: Matrix, near: Matrix | None = None) -> Matrix:
    """Return the matrix R with orthonormal rows or columns that maximises tr(R' A).

    With A = V'B this is the rotation that minimises ||B - V R||. Where A has not full rank, many
    matrices are best, and which of them a linear algebra library returns is its own affair: here
    it is the one nearest to ``near``, the rotation before, as a rule; and nearest to the identity
    where there is none or where that leaves a choice.

    Parameters
    ----------
    A : (m, k)
    near : (m, k), optional
    """
    m, k = A.shape
    left, right = np.zeros((m, 0)), np.zeros((0, k))
    for target, zero in _wishes(A, near):
        # What is settled is settled: later wishes act on the spaces that remain.
        free = target - left @ (left.T @ target)
        free -= (free @ right.T) @ right
        found, values, turned = np.linalg.svd(free, full_matrices=False)
        strong = int((values > zero).sum())
        count = min(strong, min(m, k) - left.shape[1])
        left, right = np.hstack([left, found[:, :count]]), np.vstack([right, turned[:count]])
        if left.shape[1] == min(m, k):
            break
    return np.asarray(left @ right)


def _wishes(A: Matrix, near: Matrix | None) -> Iterator[tuple[Matrix, float]]:
    """Yield what a rotation should be near to, most important first, and what is zero in each."""
    rounding = max(1e-8, 10 * float(np.finfo(A.dtype).eps))
    target = np.asarray(A, np.float64)
    yield target, rounding * float(np.linalg.norm(target, 2))
    if near is not None:
        yield np.asarray(near, np.float64), WEAK
    yield np.eye(*A.shape), WEAK
    # Something that is in no special position to any space.
    yield np.random.default_rng(0).standard_normal(A.shape) / np.sqrt(max(A.shape)), 0.0


def itq(V: Matrix, rng: np.random.Generator, iterations: int = 50) -> Matrix:
    """Iterative quantisation: the (k, k) rotation R that brings V R near its own signs.

    min ||B - V R||^2 over B in {-1, +1} and orthogonal R, alternately (Gong and Lazebnik, CVPR
    2011), from a random rotation. The objective never rises. O(n k^2) an iteration.
    """
    R = random_rotation(V.shape[1], rng)
    for _ in range(iterations):
        B = signs(V @ R.astype(V.dtype))
        R = procrustes(V.T @ B, R)
    return R


def stiefel(Z: Matrix, rng: np.random.Generator, eps: float = 1e-6) -> Matrix:
    """Return V that maximises tr(Z'V) subject to V'V = n I and V'1 = 0, (n, k).

    From the k x k eigen-decomposition of the centred Z'Z. Where that has rank r < k, the missing
    directions are random, orthogonal to the others and to 1 (as far as n > k allows: with
    n <= k the constraint cannot be met, and the directions that do not fit are zero). An eigenvalue
    counts as zero below ``eps``, and below what rounding leaves of a zero beside the largest.
    """
    n, k = Z.shape
    Zc = Z.astype(np.float64) - Z.mean(axis=0, dtype=np.float64)
    rounding = 10 * (k * np.finfo(np.float64).eps + np.finfo(Z.dtype).eps ** 2)
    V, rank = _polar(Zc, eps, rounding)
    if rank < k:
        # Random in the n-space that V leaves and in the k-space it leaves, whatever their bases.
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
    # Squaring Z has cost the weak directions their digits: a second whitening sets them upright.
    lengths, turn = np.linalg.eigh(basis.T @ basis)
    basis = basis @ (turn / np.sqrt(lengths)) @ turn.T
    return np.asarray(basis @ Q[:, keep].T), int(keep.sum())
