"""The floor: codes that know nothing about how the views belong together.

``random`` projects each view's centred features on Gaussian directions of its own. Neighbours in
one view stay neighbours, but nothing ties a bit of one view to the same bit of another, so a
cross-modal ranking is no better than chance except by luck of the draw. ``constant`` gives one
code to everything: all items are tied, and its expected AP is the chance level itself.

Cost: one pass over the features for their means; ``constant`` none.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from hashbench import LinearMethod, Method


class Random(LinearMethod):
    """Gaussian projections of centred features, drawn for each view independently.

    Parameters
    ----------
    n_bits : int
    random_state : int, Generator or None
    """

    name = "random"
    title = "Random"
    supervised = False

    def __init__(self, n_bits: int = 16, random_state: Any = None) -> None:
        self.n_bits = n_bits
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Draw the projections."""
        views, _, rng = self.begin_fit(views, labels)
        self.means_ = [X.mean(axis=0, dtype=np.float64) for X in views]
        self.projections_ = [rng.standard_normal((X.shape[1], self.n_bits)) for X in views]
        return self


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

    def encode(self, X: Any, view: int) -> Any:
        """Return (n, n_bits) zeros."""
        return np.zeros((len(self.check_encode(X, view)), self.n_bits), bool)
