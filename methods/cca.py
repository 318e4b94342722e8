"""CCA as a hashing method, and cross-view hashing, which is the same thing.

    max a'X'Y b   subject to   a'(X'X + r I) a = b'(Y'Y + r I) b = 1

and each further pair uncorrelated with the earlier ones; X (n, d1), Y (n, d2): centred features,
r: ridge. One bit a pair of directions: sgn(a'x), sgn(b'y). Deterministic by default.

Cross-view hashing (CVH) minimises the distances between codes of similar items over all pairs of
views, with balanced and uncorrelated bits, and relaxes the codes to linear projections. Where the
only similarity known is that of an item with itself, which is the setting here, the sum over
items is sum_{m<l} ||X_m A_m - X_l A_l||^2, and for two views its minimisers are the
canonical directions. Both methods take three or more views through the sum over pairs
(:mod:`hashbench.linalg.multiview`), so that ``cvh`` differs from ``cca`` in its ``variant`` alone.

Cost: one pass over each view and each pair of views, an eigen-decomposition of each d x d
scatter matrix and one singular value decomposition. No iterations.

Deviations
----------
- Bits beyond the number r of correlated directions (at most the smaller rank; 9 for the text of
  Wiki) would be the signs of rounding noise: here they are constant, and a warning says so. The
  longer codes then rank exactly as the r-bit codes do, where a program that keeps the noise gets
  worse with every bit. ``noise_bits`` gives random directions to these bits, drawn for each view
  apart: so does rounding, and the scores of such programs come back.
- ``cvh`` with ``variant="released"`` is a program in circulation, not the paper: features are
  not centred, and the eigenproblem X'Y (Y'Y)^-1 Y'X a = rho^2 X'X a lacks its inverse. Published
  tables seem to contain its figures. Two views only.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np

from hashbench import Citation, DeclinedError, HashbenchError, LinearMethod
from hashbench.linalg import whitening
from hashbench.linalg.cca import scatter_precision
from hashbench.linalg.multiview import correlated_directions, noise_directions
from hashbench.linalg.ridge import cross, gram

VARIANTS = ("textbook", "released")


class CCA(LinearMethod):
    """Canonical correlation analysis and sign.

    Parameters
    ----------
    n_bits : int
    ridge : float
        Added to the diagonals of the scatter matrices (sums over rows, not means).
    noise_bits : bool
        Bits beyond the rank are signs of random directions, and not constant; see Deviations.
    random_state : int, Generator or None
        Draws those directions; nothing else is random.
    """

    name = "cca"
    title = "CCA"
    supervised = False
    fidelity = "verified"
    fidelity_note = "bits beyond the rank of the data are constant here, rounding noise elsewhere"
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
        self.means_ = [X.mean(axis=0, dtype=np.float64) for X in views]
        self.projections_, correlations = correlated_directions(
            views, self.n_bits, self.ridge, self.means_
        )
        return np.count_nonzero(correlations)


class CVH(CCA):
    """Cross-view hashing: CCA by another road.

    Parameters
    ----------
    n_bits : int
    ridge : float
        Added to the diagonals of the scatter matrices (sums over rows, not means).
    variant : "textbook" or "released"
        The paper's mathematics, or a program that differs from it; see Deviations.
    noise_bits, random_state
        As for :class:`CCA`.
    """

    name = "cvh"
    title = "CVH"
    paper = Citation(
        "S. Kumar, R. Udupa",
        "Learning hash functions for cross-view similarity search",
        "IJCAI",
        2011,
    )

    def __init__(
        self,
        n_bits: int = 16,
        ridge: float = 1e-4,
        variant: str = "textbook",
        noise_bits: bool = False,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_bits, ridge, noise_bits, random_state)
        self.variant = variant

    def _directions(self, views):
        if self.variant not in VARIANTS:
            raise HashbenchError(
                f"{self.name}: found variant {self.variant!r}; allowed: {', '.join(VARIANTS)}"
            )
        if self.variant == "textbook":
            return super()._directions(views)
        if len(views) > 2:
            raise DeclinedError(f"{self.name}: the released variant takes two views, not more")
        X, Y = views
        Cyy, Cxy = gram(Y), cross(X, Y)
        Mx = whitening(gram(X), scatter_precision(X), self.ridge)
        My = whitening(Cyy, scatter_precision(Y), self.ridge)
        # X'Y (Y'Y + r I) Y'X a = rho^2 (X'X + r I) a, in whitened coordinates a = Mx u
        half = Mx.T @ Cxy
        _, U = np.linalg.eigh(half @ Cyy @ half.T + self.ridge * half @ half.T)
        rank = min(self.n_bits, Mx.shape[1], My.shape[1])
        A, B = np.zeros((X.shape[1], self.n_bits)), np.zeros((Y.shape[1], self.n_bits))
        A[:, :rank] = Mx @ U[:, ::-1][:, :rank]
        B[:, :rank] = My @ (My.T @ (Cxy.T @ A[:, :rank]))  # b = (Y'Y + r I)^-1 Y'X a
        self.projections_ = [A, B]
        return rank
