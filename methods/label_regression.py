"""Three baselines from one regression: what labels give before any learning of codes.

    W_m = argmin ||Y - y - X_m W||^2 + p ||W||^2

X_m (n, d_m): centred features; Y (n, c): labels, y their mean; p: a ridge relative to the
features' size. Then

``ridge-labels``       code = sgn(x W_m H), H (c, k): random, orthonormal rows or columns
``classifier-codes``   code = the codeword of the label set nearest to y + x W_m in angle
``real-valued``        x W_m itself, compared by cosine: what the signs of the first give away

With single labels the label set is the class, and the nearest is the class of the largest
score. A supervised method that does not beat ``classifier-codes`` has learned no more than to
classify.

The ridge of 0.1 is one of six values tried, looking at the scores of ``real-valued`` on the
queries of Wiki (two feature sets), UCI digits and BDGP. It is best on none of the four in both
tasks, but those figures are not blind.

Cost: one pass a view for the scatter matrix and its products with the labels, one solve for c
targets; the codewords take O(s c k) for s label sets. Memory beyond the features: Y.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np

from hashbench import LinearMethod, Method, VectorMethod
from hashbench.linalg import random_rotation, regress, unit_rows

SCORES = 1 << 22  # of rows against label sets, held at once: 16 MB in float32
DRAWS = 32  # sets of codewords to choose the best separated from


def regress_labels(views, Y, strength):
    """Return means, label means and W_m of the regression above."""
    means = [X.mean(axis=0, dtype=np.float64) for X in views]
    balance = Y.mean(axis=0, dtype=np.float64)
    targets = Y - balance.astype(Y.dtype)
    weights = [
        regress(X, targets, strength, mean, relative=True)
        for X, mean in zip(views, means, strict=True)
    ]
    return means, balance, weights


class RidgeLabels(LinearMethod):
    """Regression to the labels, and the sign of a random projection of them.

    The learned codes are the projected labels themselves: they need no features at all, which
    is what scores against learned database codes have to be read with in mind.

    Parameters
    ----------
    n_bits : int
    ridge : float
        Penalty, relative to the mean eigenvalue of the scatter matrix.
    random_state : int, Generator or None
    """

    name = "ridge-labels"
    title = "Ridge to labels"
    supervised = True

    def __init__(self, n_bits: int = 16, ridge: float = 0.1, random_state: Any = None) -> None:
        self.n_bits = n_bits
        self.ridge = ridge
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Regress, and project the label space."""
        views, Y, rng = self.begin_fit(views, labels)
        self.means_, balance, weights = regress_labels(views, Y, self.ridge)
        c = Y.shape[1]
        H = random_rotation(max(c, self.n_bits), rng)[:c, : self.n_bits]
        self.projections_ = [W @ H for W in weights]
        self.codes_ = (Y - balance) @ H >= 0
        return self


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
    supervised = True

    def __init__(self, n_bits: int = 16, ridge: float = 0.1, random_state: Any = None) -> None:
        self.n_bits = n_bits
        self.ridge = ridge
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Regress, and give every label set a codeword."""
        views, Y, rng = self.begin_fit(views, labels)
        means, balance, self.weights_ = regress_labels(views, Y, self.ridge)
        self.offsets_ = [balance - mean @ W for mean, W in zip(means, self.weights_, strict=True)]
        H = _separating_projection(balance, self.n_bits, rng)
        self.codes_ = (Y - balance) @ H >= 0
        sets = np.unique(Y, axis=0)
        self.label_sets_ = sets[sets.any(axis=1)] if sets.any() else sets
        self.codewords_ = (self.label_sets_ - balance) @ H >= 0
        return self

    def encode(self, X: Any, view: int) -> Any:
        """Return the (n, n_bits) codewords of the predicted label sets."""
        X = self.check_encode(X, view)
        W, offset = self.weights_[view].astype(X.dtype), self.offsets_[view].astype(X.dtype)
        directions = unit_rows(self.label_sets_).T.astype(X.dtype)
        predicted = np.empty(len(X), np.intp)
        size = max(1, SCORES // len(self.label_sets_))
        for start in range(0, len(X), size):
            rows = slice(start, start + size)
            predicted[rows] = ((X[rows] @ W + offset) @ directions).argmax(axis=1)
        return self.codewords_[predicted]


class RealValued(VectorMethod):
    """Cosine between regressed labels: no codes, an upper line for the curves.

    Parameters
    ----------
    n_bits : int
        Not used: the vectors have one float a label, however long the codes of others are.
    ridge : float
        Penalty, relative to the mean eigenvalue of the scatter matrix.
    random_state : int, Generator or None
        Not used; every method has it.
    """

    name = "real-valued"
    title = "Real-valued"
    supervised = True

    def __init__(self, n_bits: int = 16, ridge: float = 0.1, random_state: Any = None) -> None:
        self.n_bits = n_bits
        self.ridge = ridge
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Regress."""
        views, Y, _ = self.begin_fit(views, labels)
        means, _, self.weights_ = regress_labels(views, Y, self.ridge)
        self.offsets_ = [-mean @ W for mean, W in zip(means, self.weights_, strict=True)]
        return self

    def vectors(self, X: Any, view: int, role: Literal["query", "database"]) -> Any:
        """Return (n, c) unit rows; both roles are alike."""
        X = self.check_encode(X, view)
        W, offset = self.weights_[view].astype(X.dtype), self.offsets_[view].astype(X.dtype)
        return unit_rows(X @ W + offset).astype(np.float32)

    @property
    def item_bytes(self) -> float:
        """Bytes of one database item: a float32 a label."""
        return 4.0 * self.weights_[0].shape[1]


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
