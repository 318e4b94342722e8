"""CVH: cross-view hashing, which leads to CCA from distances between codes.

Minimises the distances between codes of similar items over all pairs of views, with balanced and
uncorrelated bits, and relaxes the codes to linear projections. Where the only similarity known is
that of an item with itself, which is the setting here, the sum over items is
sum_{m<l} ||X_m A_m - X_l A_l||^2, X_m (n, d_m): centred features, A_m (d_m, k); for two views its
minimisers are the canonical directions, and more views go through the sum over pairs, as in
:mod:`hashbench.methods.cca`. So ``cvh`` differs from ``cca`` in its ``variant`` alone.

Cost: that of CCA.

Deviations
----------
- Those of :mod:`hashbench.methods.cca` about the ridge and about bits beyond the rank.
- ``variant="released"`` is a program in circulation, not the paper: features are not centred, and
  the eigenproblem X'Y (Y'Y)^-1 Y'X a = rho^2 X'X a lacks its inverse. Published tables seem to
  contain its figures. It adds its ridge to scatter matrices. Two views only.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from hashbench import Choice, DeclinedError, Paper
from hashbench.linalg import (
    cross_product,
    eigen,
    gram,
    scatter_precision,
    upright,
    whitening,
)
from hashbench.methods.cca import CCA


class CVH(CCA):
    """Cross-view hashing: CCA by another road.

    Parameters
    ----------
    n_bits : int
    variant : "textbook" or "released"
        The paper's mathematics, or a program that differs from it; see Deviations.
    ridge_covariance, ridge_scatter, noise_bits, random_state
        As for :class:`CCA`.
    """

    name = "cvh"
    title = "CVH"
    allowed: ClassVar = {"variant": Choice("textbook", "released")}
    paper = Paper(
        "S. Kumar, R. Udupa",
        "Learning hash functions for cross-view similarity search",
        "IJCAI",
        2011,
        fidelity="differs",
        fidelity_note=(
            "compared with a third party's code, whose ridge is smaller: equivalent with "
            "ridge_covariance=0,ridge_scatter=1e-4. Bits beyond the rank are constant here, "
            "rounding noise there"
        ),
        up_to_rank=True,
    )

    def __init__(
        self,
        n_bits: int = 16,
        ridge_covariance: float = 1e-4,
        ridge_scatter: float = 0.0,
        variant: str = "textbook",
        noise_bits: bool = False,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_bits, ridge_covariance, ridge_scatter, noise_bits, random_state)
        self.variant = variant

    def _directions(self, views, ridge):
        if self.variant == "textbook":
            return super()._directions(views, ridge)
        if len(views) > 2:
            raise DeclinedError(f"{self.name}: the released variant takes two views, not more")
        X, Y = views
        Cyy, Cxy = gram(Y), cross_product(X, Y)
        Mx = whitening(gram(X), scatter_precision(X), ridge)
        My = whitening(Cyy, scatter_precision(Y), ridge)
        # X'Y (Y'Y + r I) Y'X a = rho^2 (X'X + r I) a, in whitened coordinates a = Mx u
        half = Mx.T @ Cxy
        _, U = eigen(half @ Cyy @ half.T + ridge * half @ half.T)
        rank = min(self.n_bits, Mx.shape[1], My.shape[1])
        A, B = np.zeros((X.shape[1], self.n_bits)), np.zeros((Y.shape[1], self.n_bits))
        A[:, :rank] = upright(Mx @ U[:, :rank])
        B[:, :rank] = My @ (My.T @ (Cxy.T @ A[:, :rank]))  # b = (Y'Y + r I)^-1 Y'X a
        self.projections_ = [A, B]
        return rank
