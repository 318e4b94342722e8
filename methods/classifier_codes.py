"""Classifier codes: predict the label set, give its codeword.

    code = the codeword of the label set nearest to y + x W_m in angle

with the regression W_m and the label means y of :mod:`hashbench.methods.ridge_labels`. With single
labels the label set is the class, and the nearest is the class of the largest score. A supervised
method that does not beat this one has learned no more than to classify.

Cost: that of the regression; the codewords take O(s c k) for s label sets.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from hashbench import NON_NEGATIVE, Log, Method
from hashbench.linalg import (
    row_blocks,
    unit_rows,
)
from hashbench.methods.ridge_labels import regress_labels

SCORES = 1 << 22  # of rows against label sets, held at once: 16 MB in float32
DRAWS = 32  # sets of codewords to choose the best separated from


class ClassifierCodes(Method):
    """The codeword of the predicted label set.

    Parameters
    ----------
    n_bits : int
    ridge : float
        Penalty, relative to the mean eigenvalue of the scatter matrix.
    random_state : int, Generator or None

    Attributes
    ----------
    label_sets_ : (s, c) array of 0 and 1
        The label sets of the training rows, each once; rows without a label predict nothing.
    codewords_ : (s, n_bits) bool array
    """

    name = "classifier-codes"
    title = "Classifier codes"
    space: ClassVar = {"ridge": Log(1e-4, 1e2)}
    allowed: ClassVar = {"ridge": NON_NEGATIVE}
    supervised = True

    def __init__(self, n_bits: int = 16, ridge: float = 0.1, random_state: Any = None) -> None:
        self.n_bits = n_bits
        self.ridge = ridge
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Regress, and give every label set a codeword."""
        data = self.begin_fit(views, labels)
        views, Y, rng = data.views, data.labels, data.rng
        means, balance, self.weights_ = regress_labels(views, Y, self.ridge)
        self.offsets_ = [balance - mean @ W for mean, W in zip(means, self.weights_, strict=True)]
        H = _separating_projection(balance, self.n_bits, rng)
        self.codes_ = (Y - balance) @ H >= 0
        sets = np.unique(Y, axis=0)
        self.label_sets_ = sets[sets.any(axis=1)] if sets.any() else sets
        self.codewords_ = (self.label_sets_ - balance) @ H >= 0
        return self

    def encode(self, X: Any, view: Any) -> Any:
        """Return the (n, n_bits) codewords of the predicted label sets."""
        X, view = self.check_encode(X, view)
        W, offset = self.weights_[view].astype(X.dtype), self.offsets_[view].astype(X.dtype)
        directions = unit_rows(self.label_sets_).T.astype(X.dtype)
        predicted = np.empty(len(X), np.intp)
        size = max(1, SCORES // len(self.label_sets_))
        for rows in row_blocks(len(X), size):
            predicted[rows] = ((X[rows] @ W + offset) @ directions).argmax(axis=1)
        return self.codewords_[predicted]


def _separating_projection(balance, k, rng):
    """Return the H, (c, k), out of some draws that keeps the classes' codewords furthest apart.

    Few bits and independent draws make codewords collide. Near pairs are what hurts, so a draw
    costs the sum of 2^-distance over all pairs of classes.
    """
    classes = np.eye(len(balance))[balance > 0] - balance
    best, lowest = None, np.inf
    for _ in range(DRAWS):
        H = rng.standard_normal((len(balance), k))
        C = np.where(classes @ H >= 0, 1.0, -1.0)
        cost = np.exp2((C @ C.T - k) / 2).sum()
        if best is None or cost < lowest:
            best, lowest = H, cost
    return best
