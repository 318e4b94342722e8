"""Kernel features from random training rows, as most supervised methods see their views."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hashbench.base import shelf
from hashbench.base.validation import Matrix
from hashbench.linalg.features import RBF, anchor_rows


def anchor_maps(
    views: Sequence[Matrix], counts: Sequence[int], rng: np.random.Generator
) -> tuple[list[RBF], list[Matrix]]:
    """Return one centred RBF map a view, anchored at random rows, and the training features.

    The width is the one of :class:`~hashbench.linalg.RBF`, twice the mean squared distance to the
    anchors. Distances do not see a shift of the features, so that these need no centring.

    Parameters
    ----------
    views : list of (n, d_m)
    counts : list of int
        Anchors of each view; all n rows where there are fewer.
    rng : numpy.random.Generator

    Returns
    -------
    maps : list of RBF
    features : list of (n, min(counts_m, n)), read-only
    """
    maps = [
        RBF(X[np.sort(anchor_rows(len(X), count, rng))])
        for X, count in zip(views, counts, strict=True)
    ]
    return maps, [training_features(phi, X) for phi, X in zip(maps, views, strict=True)]


def training_features(phi: RBF, X: Matrix) -> Matrix:
    """Return what ``phi.fit_transform(X)`` does, read-only; shared by fits.

    Fits of one seed draw the same anchors. What follows from the features is shared in turn.
    """

    def make() -> tuple[Matrix, ...]:
        K = phi.fit_transform(X)
        mean = np.empty(0, K.dtype) if phi.feature_mean is None else phi.feature_mean
        return K, np.array([phi.width]), mean

    asked = np.array([np.nan if phi.width is None else phi.width, phi.centred])
    K, width, mean = shelf.fetch("rbf", [X], [phi.anchors, phi.mean, asked], make, known=True)
    K.flags.writeable = False
    phi.width, phi.feature_mean = float(width[0]), mean if phi.centred else None
    return K
