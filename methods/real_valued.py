"""Real-valued: regressed labels compared by cosine, to show what taking signs costs.

x W_m itself, with the regression W_m of :mod:`hashbench.methods.ridge_labels`: no codes, an upper
line for the curves of the methods that have them. ``int8``, ``pq`` and ``opq`` store the same
vectors in fewer bytes.

Cost: that of the regression.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np

from hashbench import NON_NEGATIVE, Log, VectorMethod
from hashbench.linalg import unit_rows
from hashbench.methods.ridge_labels import regress_labels


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
    space: ClassVar = {"ridge": Log(1e-4, 1e2)}
    allowed: ClassVar = {"ridge": NON_NEGATIVE}
    supervised = True

    def __init__(self, n_bits: int = 16, ridge: float = 0.1, random_state: Any = None) -> None:
        self.n_bits = n_bits
        self.ridge = ridge
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Regress."""
        self._regress(self.begin_fit(views, labels))
        return self

    def vectors(self, X: Any, view: Any, role: Literal["query", "database"]) -> Any:
        """Return (n, c) unit rows; both roles are alike."""
        return self._unit_rows(*self.check_encode(X, view)).astype(np.float32)

    def _regress(self, data):
        means, _, self.weights_ = regress_labels(data.views, data.labels, self.ridge)
        self.offsets_ = [-mean @ W for mean, W in zip(means, self.weights_, strict=True)]

    def _unit_rows(self, X, view):
        W, offset = self.weights_[view].astype(X.dtype), self.offsets_[view].astype(X.dtype)
        return unit_rows(X @ W + offset)

    @property
    def item_bytes(self) -> float:
        """Bytes of one database item: a float32 a label."""
        return 4.0 * self.weights_[0].shape[1]
