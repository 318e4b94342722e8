"""Constant: one code for everything.

All items are tied, and the expected AP is the chance level itself. Cost: none.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from hashbench import Method


class Constant(Method):
    """The code of zeros for every item.

    Parameters
    ----------
    n_bits : int
    random_state : int, Generator or None
        Not used; every method has it.
    """

    name = "constant"
    title = "Constant"
    supervised = False

    def __init__(self, n_bits: int = 16, random_state: Any = None) -> None:
        self.n_bits = n_bits
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Learn nothing."""
        self.begin_fit(views, labels)
        return self

    def encode(self, X: Any, view: Any) -> Any:
        """Return (n, n_bits) zeros."""
        return np.zeros((len(self.check_encode(X, view)[0]), self.n_bits), bool)
