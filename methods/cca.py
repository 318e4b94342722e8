"""CCA as a hashing method: the signs of the canonical projections.

    max a'X'Y b   subject to   a'(X'X + r I) a = b'(Y'Y + r I) b = 1

and each further pair uncorrelated with the earlier ones; X (n, d1), Y (n, d2): centred features,
r: ridge. One bit a pair of directions. Deterministic.

With one-to-one pairs as the only similarity, cross-view hashing (CVH) relaxes to the same
problem; see :mod:`hashbench.methods.cvh`, which also says what happens with three or more views.

Cost: one pass over each view and each pair of views, an eigen-decomposition of each d x d
scatter matrix and one singular value decomposition. No iterations.

Deviations
----------
- Codes for k beyond the number r of correlated directions (at most the smaller rank; 9 on the
  text of Wiki) would be the signs of rounding noise: those bits are constant, and a warning says
  so. The longer codes then rank exactly as the r-bit codes do.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np

from hashbench import Citation, LinearMethod
from hashbench.linalg.multiview import correlated_directions


class CCA(LinearMethod):
    """Canonical correlation analysis and sign.

    Parameters
    ----------
    n_bits : int
    ridge : float
        Added to the diagonals of the scatter matrices (sums over rows, not means).
    random_state : int, Generator or None
        Not used; every method has it.
    """

    name = "cca"
    title = "CCA"
    supervised = False
    fidelity = "verified"
    fidelity_note = "bits beyond the rank of the data are constant here, rounding noise elsewhere"
    paper = Citation("H. Hotelling", "Relations between two sets of variates", "Biometrika", 1936)

    def __init__(self, n_bits: int = 16, ridge: float = 1e-4, random_state: Any = None) -> None:
        self.n_bits = n_bits
        self.ridge = ridge
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Find the canonical directions."""
        views, _, _ = self.begin_fit(views, labels)
        self.means_ = [X.mean(axis=0, dtype=np.float64) for X in views]
        self.projections_, correlations = correlated_directions(
            views, self.n_bits, self.ridge, self.means_
        )
        rank = np.count_nonzero(correlations)
        if rank < self.n_bits:
            warnings.warn(
                f"{self.name}: the views have {rank} correlated directions; "
                f"{self.n_bits - rank} of {self.n_bits} bits are constant",
                stacklevel=2,
            )
        return self
