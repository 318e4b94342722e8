"""Clustering of rows, and of items with several views."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy

from hashbench.core.validation import Matrix
from hashbench.linalg.features import squared_distances


def kmeans(X: Matrix, start: Matrix, iterations: int = 100) -> Matrix:
    """Return the k-means centroids of X, (c, d), after at most some iterations.

    Parameters
    ----------
    X : (n, d)
    start : (c, d)
        The first centroids.
    iterations : int
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters
        found = KMeans(len(start), init=start, n_init=1, max_iter=iterations, tol=0).fit(X)
    return np.asarray(found.cluster_centers_, X.dtype)


def multiview_kmeans(
    views: Sequence[Matrix],
    clusters: int,
    rng: np.random.Generator,
    exponent: float = 0.5,
    iterations: int = 100,
    tolerance: float = 1e-3,
) -> npt.NDArray[np.intp]:
    """Return the cluster of every item: robust k-means with one assignment for all views.

    Lowers sum_m a_m^exponent sum_i ||x_mi - f_m,g(i)|| over assignments g, centroids f and view
    weights a_m that sum to one (Cai, Nie and Huang, IJCAI 2013). Norms are not squared: each
    iteration divides every squared distance by the distance of the iteration before, so that
    outliers weigh less. O(n d clusters) per view and iteration. Clusters may end up empty.

    Parameters
    ----------
    views : list of (n, d_m)
    clusters : int
    rng : numpy.random.Generator
        Draws the first assignment, which is balanced.
    exponent : float
        Of the view weights; not 1.
    iterations : int
    tolerance : float
        Stop when the relative change of the objective is below this.
    """
    n = len(views[0])
    rounds = [rng.permutation(clusters) for _ in range(-(-n // clusters))]
    assigned = np.concatenate(rounds)[:n]
    robust = [np.ones(n) for _ in views]
    weights = np.full(len(views), 1 / len(views))
    centroids = [np.zeros((clusters, X.shape[1])) for X in views]
    before = np.inf
    for _ in range(iterations):
        for m, X in enumerate(views):
            _move(centroids[m], X, assigned, robust[m])
        squared = [squared_distances(X, F) for X, F in zip(views, centroids, strict=True)]
        total = sum(
            a**exponent * r[:, None] * D for a, r, D in zip(weights, robust, squared, strict=True)
        )
        assigned = np.argmin(total, axis=1)
        lengths = [np.sqrt(D[np.arange(n), assigned]).astype(np.float64) for D in squared]
        robust = [1 / (2 * np.maximum(length, 1e-12)) for length in lengths]
        losses = np.array([length.sum() for length in lengths])
        scaled = np.maximum(losses / max(losses.max(), 1e-300), 1e-12) ** (1 / (1 - exponent))
        weights = scaled / scaled.sum()
        value = float(np.sum(weights**exponent * losses))
        if abs(before - value) <= tolerance * value:
            break
        before = value
    return assigned


def _move(F: Matrix, X: Matrix, assigned: npt.NDArray[np.intp], weights: Matrix) -> None:
    """Set the centroids F to the weighted means of their items; empty clusters do not change."""
    indptr = np.arange(len(X) + 1)
    data = weights.astype(X.dtype, copy=False)
    members = scipy.sparse.csr_array((data, assigned, indptr), shape=(len(X), len(F)))
    mass = np.bincount(assigned, weights, len(F))
    filled = mass > 0
    F[filled] = np.asarray(members.T @ X)[filled] / mass[filled, None]
