"""What several papers have in common, written out."""

import numpy as np


def sign(X):
    """Return +1 where X >= 0 and -1 elsewhere."""
    return np.where(X >= 0, 1.0, -1.0)


def rbf(X, anchors, width):
    """Return exp(-||x - a||^2 / width) for every row and anchor, by differences."""
    distances = np.square(X[:, None, :] - anchors[None, :, :]).sum(axis=2)
    return np.exp(-distances / width)


def anchor_features(views, counts, rng):
    """Return centred RBF features of the training rows, one array per view, and their maps.

    Anchors are random rows; the width is twice the mean squared distance to them.
    """
    features, maps = [], []
    for X, count in zip(views, counts, strict=True):
        chosen = np.sort(rng.choice(len(X), size=min(count, len(X)), replace=False))
        anchors = X[chosen]
        width = 2 * np.square(X[:, None, :] - anchors[None, :, :]).sum(axis=2).mean()
        K = rbf(X, anchors, width)
        mean = K.mean(axis=0)
        features.append(K - mean)
        maps.append(lambda Z, a=anchors, w=width, m=mean: rbf(Z, a, w) - m)
    return features, maps
