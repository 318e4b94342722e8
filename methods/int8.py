"""Int8: the vectors of :mod:`hashbench.methods.real_valued`, a byte per number.

The entries of a unit row lie in [-1, 1]; each is rounded to a multiple of 1/127. Queries stay real.

Cost: that of the regression.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from hashbench import Log
from hashbench.methods.real_valued import RealValued


class Int8(RealValued):
    """Cosine between regressed labels, those of the database as 8-bit integers.

    Parameters
    ----------
    n_bits : int
        Not used: the vectors have one byte a label, however long the codes of others are.
    ridge : float
        Penalty, relative to the mean eigenvalue of the scatter matrix.
    random_state : int, Generator or None
        Not used; every method has it.
    """

    name = "int8"
    title = "Int8"
    space: ClassVar = {"ridge": Log(1e-4, 1e2)}
    supervised = True

    def vectors(self, X: Any, view: Any, role: Literal["query", "database"]) -> Any:
        """Return (n, c) unit rows: as they are of queries, rounded of the database."""
        Z = super().vectors(X, view, role)
        return Z if role == "query" else (np.rint(127 * Z) / 127).astype(np.float32)

    @property
    def item_bytes(self) -> float:
        """Bytes of one database item: one a label."""
        return float(self.weights_[0].shape[1])
