"""CCA as a hashing method.

    max a'X'Y b   subject to   a'(X'X + r I) a = b'(Y'Y + r I) b = 1

and each further pair uncorrelated with the earlier ones; X (n, d1), Y (n, d2): centred features,
r: ridge. One bit a pair of directions: sgn(a'x), sgn(b'y). Deterministic by default.

Three or more views go through the sum over pairs (:mod:`hashbench.linalg.multiview`).

Cost: one pass over each view and each pair of views, an eigen-decomposition of each d x d
scatter matrix and one singular value decomposition. No iterations.

Deviations
----------
- Bits beyond the number r of correlated directions (at most the smaller rank; 9 for the text of
  Wiki) would be the signs of rounding noise: here they are constant, and a warning says so. The
  longer codes then rank exactly as the r-bit codes do, where a program that keeps the noise gets
  worse with every bit. ``noise_bits`` gives random directions to these bits, drawn for each view
  apart: so does rounding, and the scores of such programs come back.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np

from hashbench import Citation, LinearMethod, Log
from hashbench.linalg import (
    column_means,
    correlated_directions,
    noise_directions,
)


class CCA(LinearMethod):
    """Canonical correlation analysis and sign.

    Parameters
    ----------
    n_bits : int
    ridge : float
        Added to the diagonals of the scatter matrices (sums over rows, not means), as in the
        program behind the reference figures. Gong's program adds it to covariances:
        ``ridge=1e-4 * (n - 1)`` here, which is what ``cca-itq`` does.
    noise_bits : bool
        Bits beyond the rank are signs of random directions, and not constant; see Deviations.
    random_state : int, Generator or None
        Draws those directions; nothing else is random.
    """

    name = "cca"
    title = "CCA"
    space: ClassVar = {"ridge": Log(1e-6, 1e3)}
    supervised = False
    fidelity = "third-party"  # the CCA that SCM's authors release beside their own method
    fidelity_note = "bits beyond the rank are constant here, rounding noise elsewhere"
    up_to_rank = True
    paper = Citation("H. Hotelling", "Relations between two sets of variates", "Biometrika", 1936)

    def __init__(
        self,
        n_bits: int = 16,
        ridge: float = 1e-4,
        noise_bits: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.ridge = ridge
        self.noise_bits = noise_bits
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Find the canonical directions."""
        views, _, rng = self.begin_fit(views, labels)
        rank = self._directions(views)
        missing = self.n_bits - rank
        if missing > 0:
            warnings.warn(
                f"{self.name}: the views have {rank} correlated directions; "
                f"{missing} of {self.n_bits} bits are {'noise' if self.noise_bits else 'constant'}",
                stacklevel=2,
            )
            if self.noise_bits:
                means = self.means_ or [np.zeros(X.shape[1]) for X in views]
                for W, X, mean in zip(self.projections_, views, means, strict=True):
                    W[:, rank:] = noise_directions(X, missing, self.ridge, mean, rng)
        return self

    def _directions(self, views):
        """Set the projections and return how many of them mean anything."""
        self.means_ = column_means(views)
        self.projections_, correlations = correlated_directions(
            views, self.n_bits, self.ridge, self.means_
        )
        return np.count_nonzero(correlations)
