"""Kernel features from random training rows, as most supervised methods see their views."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

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
    features : list of (n, min(counts_m, n))
    """
    maps = [
        RBF(X[np.sort(anchor_rows(len(X), count, rng))])
        for X, count in zip(views, counts, strict=True)
    ]
    return maps, [phi.fit_transform(X) for phi, X in zip(maps, views, strict=True)]
