"""DLFH: discrete latent factor hashing.

Maximises the likelihood of the pairwise similarities over the codes of both views,

    sum_ij [ S_ij T_ij - log(1 + exp T_ij) ],    T = (lambda / k) U V',

U, V (n, k) in {-1, +1}: image and text codes; S_ij = 1 if items i and j share a label, else 0;
k: bits. An epoch draws a set C of m items and looks at these columns of S alone. Bit j of all rows
of U maximises a lower bound of the likelihood whose curvature is 1/4 in T:

    u_j = sgn[ (S_C - sigmoid(T_C)) v_Cj + (m lambda / (4 k)) u_j ]

for j = 1..k, each with the bits before it renewed; then V given the new U_C.

Then the hash functions: least squares from the features to each view's codes.
:mod:`hashbench.methods.kdlfh` has other ones.

Cost: n m k operations per epoch for the codes, not n m k^2: the numbers of equal bits, which T
consists of, are updated when a bit flips, and the sigmoid of k + 1 possible values is looked up.
The features are read for the hash functions only, in one pass.

Deviations
----------
- A bit whose bound is exactly balanced becomes +1, as in the authors' MATLAB code; their Python
  code makes it 0.
- The objective that is recorded is the mean negative log-likelihood over all rows and up to 100
  columns, the same ones in every epoch; an epoch need not lower it, since it saw other columns.
- More than two views, which the paper does not treat: the codes of a view are learned against
  those of all others, as if their sampled columns stood side by side.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit

from hashbench import COUNT, NON_NEGATIVE, POSITIVE, Linear, LinearMethod, Log, Paper
from hashbench.linalg import (
    Ridge,
    column_means,
    random_codes,
    row_blocks,
    signs,
)

ROWS = 2048  # rows of a block of codes: their products with the sampled codes stay in cache
OBJECTIVE_COLUMNS = 100


class DLFH(LinearMethod):
    """Discrete latent factor hashing with linear hash functions.

    Parameters
    ----------
    n_bits : int
    lam : float
        lambda: T = lambda when two codes agree in all bits.
    samples : int or None
        m, the items drawn in an epoch; None: as many as bits.
    iterations : int
        Epochs.
    ridge_scatter : float
        Of the least squares, added to the diagonal of X_m'X_m (a sum over rows). The original's
        value and scale.
    centred : bool
        Take the means off the features. The authors' code does not.
    random_state : int, Generator or None
    """

    name = "dlfh"
    title = "DLFH"
    space: ClassVar = {"lam": Linear(1, 32), "ridge_scatter": Log(1e-6, 1e3)}
    allowed: ClassVar = {
        "lam": POSITIVE, "samples": COUNT, "iterations": COUNT, "ridge_scatter": NON_NEGATIVE,
    }  # fmt: skip
    supervised = True
    discrete = True
    paper = Paper(
        "Q.-Y. Jiang, W.-J. Li",
        "Discrete latent factor model for cross-modal hashing",
        "IEEE Transactions on Image Processing",
        2019,
        fidelity="consistent",
    )

    def __init__(
        self,
        n_bits: int = 16,
        lam: float = 8.0,
        samples: int | None = None,
        iterations: int = 30,
        ridge_scatter: float = 1e-6,
        centred: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.lam = lam
        self.samples = samples
        self.iterations = iterations
        self.ridge_scatter = ridge_scatter
        self.centred = centred
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Learn one set of codes per view, then the hash functions."""
        data = self.begin_fit(views, labels)
        views, Y, rng = data.views, data.labels, data.rng
        codes = self._learn_codes(Y, len(views), rng)
        self.codes_ = [B > 0 for B in codes]
        self._learn_functions(views, codes, rng)
        return self

    def _learn_codes(self, Y, n_views, rng):
        n, k = len(Y), self.n_bits
        m = min(n, k if self.samples is None else self.samples)
        codes = [random_codes(rng, n, k) for _ in range(n_views)]
        for _ in range(self.iterations):
            C = rng.choice(n, m, replace=False)
            S = _shared(Y, Y[C])
            for view, B in enumerate(codes):
                others = [other[C] for v, other in enumerate(codes) if v != view]
                _update_codes(B, others, S, self.lam)
            self.record_objective(lambda: _mean_loss(codes, Y, self.lam))
        return codes

    def _learn_functions(self, views, codes, rng):
        if self.centred:
            self.means_ = column_means(views)
        means = self.means_ or [None] * len(views)
        self.projections_ = [
            Ridge(X, self.ridge_scatter, mean).solve(B)
            for X, mean, B in zip(views, means, codes, strict=True)
        ]


def _update_codes(B, others, S, lam):
    """Renew every bit of every row of B in turn, in place.

    Parameters
    ----------
    B : (n, k) of -1 and +1
    others : list of (m, k)
        Codes of the sampled items in the other views.
    S : (n, m)
        Similarity to the sampled items, the same for every other view.
    lam : float
    """
    k, O = B.shape[1], np.vstack(others)
    S = np.tile(S, len(others))
    sigmoid = expit(_inner_products(lam, k))
    for rows in row_blocks(len(B), ROWS):
        block = B[rows]
        equal = _equal_bits(block, O)
        for j in range(k):
            gradient = (S[rows] - sigmoid[equal]) @ O[:, j] + len(O) * lam / (4 * k) * block[:, j]
            # Terms of opposite sign may cancel; then rounding errors must not decide.
            new = signs(np.round(gradient, 9))
            equal += np.multiply.outer(new - block[:, j], O[:, j]).astype(np.intp) // 2
            block[:, j] = new


def _shared(Y, Y_C):
    """S_C: 1 where a row of Y shares a label with a row of Y_C."""
    return (Y @ Y_C.T > 0).astype(Y.dtype)


def _equal_bits(B, O):
    """Number of equal bits of the rows of B and of O, (n, m)."""
    return ((B @ O.T + B.shape[1]) / 2).astype(np.intp)


def _inner_products(lam, k):
    """T for 0..k equal bits."""
    return lam * (2 * np.arange(k + 1) / k - 1)


def _mean_loss(codes, Y, lam):
    """Mean of log(1 + exp T) - S T over all rows, spread-out columns and ordered pairs of views."""
    n, k = codes[0].shape
    columns = np.unique(np.linspace(0, n - 1, OBJECTIVE_COLUMNS).astype(int))
    T = _inner_products(lam, k)
    counts = np.zeros((2, k + 1))  # pairs without and with a shared label, by agreeing bits
    pairs = [(a, b) for a in codes for b in codes if a is not b]
    for rows in row_blocks(n, ROWS):
        shared = (Y[rows] @ Y[columns].T > 0) * (k + 1)
        for a, b in pairs:
            cells = _equal_bits(a[rows], b[columns]) + shared
            counts += np.bincount(cells.ravel(), minlength=2 * (k + 1)).reshape(2, k + 1)
    total = counts.sum(axis=0) @ np.logaddexp(0, T) - counts[1] @ T
    return total / counts.sum()
