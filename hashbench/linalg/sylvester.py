"""Sylvester equations whose large side is a graph Laplacian, without the n x n matrix.

The graphs have a sparse part (nearest neighbours) and a low-rank part (shared labels, Y Y'). The
equation separates into one symmetric positive definite system per column; all are solved together
by preconditioned conjugate gradients.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy

from hashbench.core.validation import Matrix

if TYPE_CHECKING:
    from hashbench.linalg.graph import Sparse


class Laplacian:
    """Laplacian of the graph with weights G + Y Y': diag(degrees) - G - Y Y'.

    Parameters
    ----------
    graph : (n, n) sparse, symmetric, not negative
        G. Weights on the diagonal cancel.
    factor : (n, c), not negative
        Y.
    """

    def __init__(self, graph: Sparse, factor: Matrix) -> None:
        self.graph, self.factor = graph, np.asarray(factor, np.float64)
        self.degrees = np.asarray(graph.sum(axis=1)).ravel()
        self.degrees = self.degrees + self.factor @ self.factor.sum(axis=0)

    def product(self, S: Matrix) -> Matrix:
        """Return the Laplacian times S, (n, k)."""
        whole = self.degrees[:, None] * S - self.graph @ S
        return np.asarray(whole - self.factor @ (self.factor.T @ S))


def sylvester(
    A: Matrix,
    laplacian: Laplacian,
    weight: float,
    C: Matrix,
    start: Matrix | None = None,
    tolerance: float = 1e-10,
    iterations: int = 500,
) -> Matrix:
    """Return S, (n, k), with S A + weight * Laplacian S = C.

    In the basis of A's eigenvectors the columns of S are independent. The preconditioner is the
    system without the sparse part of the graph, inverted exactly by the Woodbury identity.
    O(k (edges + n c)) per iteration; few are needed if labels connect most pairs.

    Parameters
    ----------
    A : (k, k), symmetric positive definite
    laplacian : Laplacian
    weight : float
        Not negative.
    C : (n, k)
    start : (n, k), optional
        The first iterate; zero if not given.
    tolerance : float
        Residual norm of every column, relative to that of its right-hand side.
    iterations : int
        Largest number of iterations.
    """
    values, V = np.linalg.eigh(A)
    right = np.asarray(C, np.float64) @ V
    precondition = _Preconditioner(laplacian, weight, values)
    S = np.zeros_like(right) if start is None else np.asarray(start, np.float64) @ V
    R = right - S * values - weight * laplacian.product(S)
    goal = tolerance * np.linalg.norm(right, axis=0)
    Q = precondition(R)
    P, rho = Q, np.sum(R * Q, axis=0)
    tiny = np.finfo(np.float64).tiny  # avoids 0 / 0 in columns that are solved exactly
    for _ in range(iterations):
        if (np.linalg.norm(R, axis=0) <= goal).all():
            break
        AP = P * values + weight * laplacian.product(P)
        step = rho / np.maximum(np.sum(P * AP, axis=0), tiny)
        S += step * P
        R -= step * AP
        Q = precondition(R)
        new = np.sum(R * Q, axis=0)
        P = Q + new / np.maximum(rho, tiny) * P
        rho = new
    return np.asarray(S @ V.T)


class _Preconditioner:
    """Inverse of E_i - weight Y Y' for every column i, E_i = diag(values_i + weight degrees).

    Positive definite, because the degrees include those of the low-rank part.
    """

    def __init__(self, laplacian: Laplacian, weight: float, values: Matrix) -> None:
        self.Y = laplacian.factor[:, laplacian.factor.any(axis=0)]
        self.inverse = 1 / (weight * laplacian.degrees[:, None] + values)  # (n, k)
        eye = np.eye(self.Y.shape[1])
        # E^-1 + E^-1 Y middle Y' E^-1 with middle = weight (I - weight Y'E^-1 Y)^-1.
        self.middle = np.empty((len(values), *eye.shape))
        for i, column in enumerate(self.inverse.T):
            inner = eye - weight * (self.Y.T * column) @ self.Y
            self.middle[i] = weight * scipy.linalg.inv(inner)

    def __call__(self, R: Matrix) -> Matrix:
        Q = self.inverse * R
        inner = np.matmul(self.middle, (self.Y.T @ Q).T[:, :, None])[:, :, 0]
        return np.asarray(Q + self.inverse * (self.Y @ inner.T))
