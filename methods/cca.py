"""CCA as a hashing method.

    max a'X'Y b   subject to   a'(X'X + r I) a = b'(Y'Y + r I) b = 1

and each further pair uncorrelated with the earlier ones; X (n, d1), Y (n, d2): centred features,
r: ridge. One bit per pair of directions: sgn(a'x), sgn(b'y). Deterministic by default.

Three or more views go through the sum over pairs (:mod:`hashbench.linalg.multiview`).

Cost: one pass over each view and each pair of views, an eigen-decomposition of each d x d
scatter matrix and one singular value decomposition. No iterations.

Deviations
----------
- Two ridges are in circulation. The CCA that the authors of ITQ use adds 1e-4 to covariances, which
  is the default. The program behind the reference figures adds 1e-4 to scatter matrices, n - 1
  times less: ``ridge_covariance=0, ridge_scatter=1e-4``.
- Bits beyond the number r of correlated directions (at most the smaller rank; 9 for the text of
  Wiki) would be the signs of rounding noise: here they are constant, and a warning says so. The
  longer codes then rank exactly as the r-bit codes do, where a program that keeps the noise gets
  worse with every bit. ``noise_bits`` gives random directions to these bits, drawn for each view
  independently: so does rounding, and the scores of such programs come back.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np

from hashbench import NON_NEGATIVE, LinearMethod, Log, Paper
from hashbench.linalg import (
    column_means,
    correlated_directions,
    noise_directions,
    scatter_whitening,
)


class CCA(LinearMethod):
    """Canonical correlation analysis and sign.

    Parameters
    ----------
    n_bits : int
    ridge_covariance : float
        Added to the diagonals of the covariance matrices X'X / (n - 1).
    ridge_scatter : float
        Added to the diagonals of the scatter matrices X'X, besides ``ridge_covariance``.
    noise_bits : bool
        Bits beyond the rank are signs of random directions, and not constant; see Deviations.
    random_state : int, Generator or None
        Draws those directions; nothing else is random.
    """

    name = "cca"
    title = "CCA"
    space: ClassVar = {"ridge_covariance": Log(1e-8, 1)}
    allowed: ClassVar = {"ridge_covariance": NON_NEGATIVE, "ridge_scatter": NON_NEGATIVE}
    supervised = False
    paper = Paper(
        "H. Hotelling",
        "Relations between two sets of variates",
        "Biometrika",
        1936,
        fidelity="differs",
        up_to_rank=True,
        fidelity_note=(
            "compared with a third party's code, whose ridge is smaller: equivalent with "
            "ridge_covariance=0,ridge_scatter=1e-4. Bits beyond the rank are constant here, "
            "rounding noise elsewhere"
        ),
    )

    def __init__(
        self,
        n_bits: int = 16,
        ridge_covariance: float = 1e-4,
        ridge_scatter: float = 0.0,
        noise_bits: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.ridge_covariance = ridge_covariance
        self.ridge_scatter = ridge_scatter
        self.noise_bits = noise_bits
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Find the canonical directions."""
        data = self.begin_fit(views, labels)
        views, rng = data.views, data.rng
        ridge = self.ridge_covariance * (data.n - 1) + self.ridge_scatter
        rank = self._directions(views, ridge)
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
                    W[:, rank:] = noise_directions(X, missing, ridge, mean, rng)
        return self

    def _directions(self, views, ridge):
        """Set the projections and return the number of correlated directions."""
        self.means_ = column_means(views)
        whiteners = [
            scatter_whitening(X, mean, ridge) for X, mean in zip(views, self.means_, strict=True)
        ]
        self.projections_, correlations = correlated_directions(
            views, self.n_bits, self.means_, whiteners
        )
        return np.count_nonzero(correlations)
