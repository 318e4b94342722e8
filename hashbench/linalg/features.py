"""Transformations of features: unit rows, distances, kernel features at anchors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hashbench.core.validation import Matrix
from hashbench.linalg.products import centred_blocks


def unit_rows(X: Matrix) -> Matrix:
    """Return X with every row divided by its Euclidean norm; zero rows stay zero."""
    norms = np.sqrt(np.einsum("ij,ij->i", X, X))
    return np.asarray(X / np.where(norms > 0, norms, 1)[:, None])


def squared_distances(X: Matrix, A: Matrix) -> Matrix:
    """Return the (n, a) squared Euclidean distances between rows of X and rows of A."""
    D = X @ (-2 * A.T).astype(X.dtype)
    D += np.einsum("ij,ij->i", X, X)[:, None]
    D += np.einsum("ij,ij->i", A, A).astype(X.dtype)
    return np.maximum(D, 0, out=D)


def mean_squared_distance(X: Matrix) -> float:
    """Return the mean of all n^2 squared distances between rows, in O(n d)."""
    mean = X.mean(axis=0, dtype=np.float64)
    squares = sum(
        float(np.einsum("ij,ij->i", block, block).sum(dtype=np.float64))
        for _, block in centred_blocks(X, mean)
    )
    return float(2 * squares / X.shape[0])


def anchor_rows(
    n: int, count: int, rng: np.random.Generator
) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Return the indices of ``count`` random rows out of n, without repetition; at most n."""
    return rng.choice(n, size=min(count, n), replace=False)


class UnitRows:
    """Feature map: rows of Euclidean norm one."""

    def transform(self, X: Matrix) -> Matrix:
        """Map (n, d) rows to unit rows."""
        return unit_rows(X)


class RBF:
    """Feature map: exp(-||x - a_j||^2 / width) for anchors a_1..a_m, optionally centred.

    Parameters
    ----------
    anchors : (m, d)
    width : float, optional
        The denominator. If not given, ``fit`` takes twice the mean squared distance between the
        training rows and the anchors.
    centred : bool
        Subtract the training means of the features.
    mean : (d,), optional
        Subtracted from the rows first.
    """

    def __init__(
        self,
        anchors: Matrix,
        width: float | None = None,
        centred: bool = True,
        mean: Matrix | None = None,
    ) -> None:
        self.mean = None if mean is None else mean.astype(anchors.dtype)
        self.anchors = anchors if self.mean is None else anchors - self.mean
        self.width, self.centred = width, centred
        self.feature_mean: Matrix | None = None

    def _distances(self, X: Matrix) -> Matrix:
        return squared_distances(X if self.mean is None else X - self.mean, self.anchors)

    def _kernel(self, D: Matrix) -> Matrix:
        assert self.width is not None, "fit_transform comes first"
        D /= -self.width
        return np.exp(D, out=D)

    def fit_transform(self, X: Matrix) -> Matrix:
        """Fix width and means on the training rows and return their (n, m) features."""
        D = self._distances(X)
        if self.width is None:
            self.width = 2 * float(D.mean(dtype=np.float64))
        # If all rows are equal, all distances are zero, and any width gives the same features.
        self.width = self.width if self.width > 0 else 1.0
        K = self._kernel(D)
        if self.centred:
            self.feature_mean = K.mean(axis=0, dtype=np.float64).astype(K.dtype)
            K -= self.feature_mean
        return K

    def transform(self, X: Matrix) -> Matrix:
        """Map (n, d) rows to (n, m) kernel features."""
        K = self._kernel(self._distances(X))
        if self.feature_mean is not None:
            K -= self.feature_mean
        return K


def anchor_maps(
    views: Sequence[Matrix], counts: Sequence[int], rng: np.random.Generator
) -> tuple[list[RBF], list[Matrix]]:
    """Return one centred RBF map per view, with random rows as anchors, and the training features.

    Their width is twice the mean squared distance between rows and anchors. Features need not be
    centred: distances do not change with their mean.

    Parameters
    ----------
    views : list of (n, d_m)
    counts : list of int
        Number of anchors of each view; at most n are used.
    rng : numpy.random.Generator

    Returns
    -------
    maps : list of RBF
    features : list of (n, min(counts_m, n))
    """
    maps = [
        RBF(X[np.sort(anchor_rows(len(X), count, rng))])
        for X, count in zip(views, counts, strict=True)
    ]
    return maps, [phi.fit_transform(X) for phi, X in zip(maps, views, strict=True)]
