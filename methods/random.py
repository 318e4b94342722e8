"""Random: codes that do not depend on which rows of the views belong together.

Each view's centred features are projected on Gaussian directions of its own. Neighbours in one view
stay neighbours, but nothing ties a bit of one view to the same bit of another, so a cross-modal
ranking is no better than chance except by luck of the draw.

Cost: one pass over the features for their means.
"""

from __future__ import annotations

from typing import Any, Self

from hashbench import LinearMethod
from hashbench.linalg import (
    column_means,
)


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
        data = self.begin_fit(views, labels)
        views, rng = data.views, data.rng
        self.means_ = column_means(views)
        self.projections_ = [rng.standard_normal((X.shape[1], self.n_bits)) for X in views]
        return self
