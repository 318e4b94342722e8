"""DASH-i: codes of the image view, and least squares from the other views to them.

For the view A that the codes are learned from (the first; for ``dasht`` the second) and every
other view Z, without alternation between the two steps:

    1.  directions W, correlations s:  CCA of A with the labels Y;   V = A W diag(s)
        min ||B - V R||^2  over B in {-1, +1} and R'R = I            (ITQ)
    2.  min ||B - Z P||^2 + r ||P||^2

A (n, d1), Z (n, d2): centred features; Y (n, c): centred labels; V, B (n, k); R (k, k). The hash
functions are sgn(W diag(s) R)'a and sgn P'z.

Cost: one pass over A for its scatter matrix and its products with the labels, one for V, then
O(n k^2) for each of the rotation's iterations, which see V alone; one pass over Z. An
eigen-decomposition of A'A and one factorisation of each Z'Z.

Deviations
----------
- No code of the authors is known to exist. The two steps are sure; the ridge, and CCA with the
  labels weighted by the correlations (as the authors of ITQ do) for step 1, are inferred, and so
  is which of the two names stands for codes from the images.
- The ridge was chosen on validation rows of six datasets by ``research/choose_defaults.py``.
- CCA with the labels has no more directions than there are classes, less one. Directions that do
  not exist are zero, and for more bits the rotation spreads the others over all of them: no bit
  is wasted or noise. The same is done where the view has fewer features than the code has bits.
- More than two views: all but the one that the codes are learned from are regressed.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np

from hashbench import COUNT, NON_NEGATIVE, LinearMethod, Log, Paper
from hashbench.linalg import (
    Ridge,
    cca,
    column_means,
    itq,
    project,
    scatter_whitening,
    signs,
)


class DASHi(LinearMethod):
    """DASH with codes from the first view.

    Parameters
    ----------
    n_bits : int
    ridge : float
        Added to the diagonals of all scatter matrices, of the CCA and of the regressions, relative
        to their mean eigenvalues.
    iterations : int
        Of the rotation.
    random_state : int, Generator or None
    """

    name = "dashi"
    title = "DASH-i"
    space: ClassVar = {"ridge": Log(1e-4, 1e1)}
    allowed: ClassVar = {"ridge": NON_NEGATIVE, "iterations": COUNT}
    supervised = True
    paper = Paper(
        "D. Ma, J. Liang, X. Kong, R. He",
        "Frustratingly easy cross-modal hashing",
        "ACM Multimedia",
        2016,
        fidelity="paper only",
        fidelity_note=(
            "without the authors' code: unimodal hashing and then least squares is sure, "
            "its details are inferred (70 %)"
        ),
    )

    source: ClassVar[int] = 0  #: the view that the codes are learned from

    def __init__(
        self,
        n_bits: int = 16,
        ridge: float = 0.1,
        iterations: int = 50,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.ridge = ridge
        self.iterations = iterations
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Learn codes from one view and hash functions for all."""
        data = self.begin_fit(views, labels)
        views, Y, rng = data.views, data.labels, data.rng
        self.means_ = column_means(views)
        A, mean = views[self.source], self.means_[self.source]
        balance = Y.mean(axis=0, dtype=np.float64)
        whiteners = (
            scatter_whitening(A, mean, self.ridge, relative=True),
            scatter_whitening(Y, balance, self.ridge, relative=True),
        )
        found = cca(A, Y, self.n_bits, means=(mean, balance), whiteners=whiteners)
        W = found.left * found.correlations
        if not W.any():
            warnings.warn(
                f"{self.name}: view {self.source} and the labels are uncorrelated; "
                f"all {self.n_bits} bits are constant",
                stacklevel=2,
            )
        V = project(A, W, mean)
        R = itq(V, rng, self.iterations)
        B = signs(V @ R)
        self.codes_ = B > 0
        self.projections_ = [
            W @ R if m == self.source else Ridge(X, self.ridge, mean, relative=True).solve(B)
            for m, (X, mean) in enumerate(zip(views, self.means_, strict=True))
        ]
        return self
