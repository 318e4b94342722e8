"""SCM-Orth: semantic correlation maximisation with orthogonal hash functions.

Minimises over linear hash functions W_m of the views, for every pair of them,

    || sgn(X W_x) sgn(Y W_y)' - k S ||^2,    S = 2 G G' - 1 1',

X (n, d1), Y (n, d2): centred features; G (n, c): labels with rows of norm one, so that S is the
cosine similarity of label rows stretched to [-1, 1]; k: bits. S is never formed: the method needs
X'S Y alone, which is 2 (X'G)(Y'G)' because centred columns sum to zero.

The signs are dropped and W_x'X'X W_x = n I is required: canonical correlation analysis with X'S Y
in the place of X'Y. Deterministic by default. :mod:`hashbench.methods.scm_s` keeps the signs and
takes one bit at a time.

Cost: two passes over the features and a factorisation of each X_m'X_m.

Deviations
----------
- Bits beyond the rank of the data (9 on the text of Wiki) have no direction: they are constant,
  and a warning says so. The authors' code fills them with rounding noise; this is why its scores
  in the literature fall with the code length on Wiki, and these do not. With ``noise_bits`` such
  bits take random directions, drawn for each view independently, and these scores fall too.
- More than two views, which the paper does not treat: every pair counts, and the leading pair
  becomes the leading eigenvector of the matrix that has the pairs' residuals as its blocks.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np

from hashbench import NON_NEGATIVE, LinearMethod, Log, Paper
from hashbench.linalg import (
    column_means,
    cross_product,
    eigen,
    noise_directions,
    scatter_precision,
    scatter_whitening,
    squared_norm,
    turns,
    unit_rows,
)


class SCMO(LinearMethod):
    """SCM with orthogonality constraints: all bits from one eigenproblem.

    Parameters
    ----------
    n_bits : int
    ridge_scatter : float
        Added to the diagonals of the scatter matrices X_m'X_m (sums over rows), as in the authors'
        code.
    noise_bits : bool
        Bits beyond the rank are signs of random directions, and not constant; see Deviations.
    random_state : int, Generator or None
        Draws those directions; nothing else is random.
    """

    name = "scm-o"
    title = "SCM-Orth"
    space: ClassVar = {"ridge_scatter": Log(1e-6, 1e3)}
    allowed: ClassVar = {"ridge_scatter": NON_NEGATIVE}
    supervised = True
    paper = Paper(
        "D. Zhang, W.-J. Li",
        "Large-scale supervised multimodal hashing with semantic correlation maximization",
        "AAAI",
        2014,
        fidelity="equivalent",
        up_to_rank=True,
        fidelity_note="bits beyond the rank are constant here, rounding noise elsewhere",
    )

    def __init__(
        self,
        n_bits: int = 16,
        ridge_scatter: float = 1e-6,
        noise_bits: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.ridge_scatter = ridge_scatter
        self.noise_bits = noise_bits
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Learn the hash functions."""
        data = self.begin_fit(views, labels)
        views, Y, rng = data.views, data.labels, data.rng
        self.means_ = column_means(views)
        G = unit_rows(Y)
        # A_m = M_m'X_m'G with whitened features X_m M_m: X'S Y becomes 2 A_x A_y'.
        whiteners, factors = [], []
        for X, mean in zip(views, self.means_, strict=True):
            whiteners.append(scatter_whitening(X, mean, self.ridge_scatter))
            factors.append(whiteners[-1].T @ cross_product(X, G, mean))
        # Whitened features are orthonormal, so that no strength (singular value) exceeds this.
        limit = 2 * squared_norm(G)
        noise = limit * max(scatter_precision(X) for X in views)
        self.projections_ = self._directions(views, G, whiteners, factors, noise)
        without = ~np.any([W.any(axis=0) for W in self.projections_], axis=0)
        missing = int(without.sum())
        if missing:
            warnings.warn(
                f"{self.name}: found directions for {self.n_bits - missing} of {self.n_bits} bits; "
                f"the others are {'noise' if self.noise_bits else 'constant'}",
                stacklevel=2,
            )
            if self.noise_bits:
                for W, X, mean in zip(self.projections_, views, self.means_, strict=True):
                    W[:, without] = noise_directions(X, missing, self.ridge_scatter, mean, rng)
        return self

    def _directions(self, views, G, whiteners, factors, noise):
        strengths, vectors = leading_pairs(factors, np.full(G.shape[1], 2.0))
        kept = min(self.n_bits, int((strengths > noise).sum()))
        projections = [np.zeros((len(M), self.n_bits)) for M in whiteners]
        for W, M, U in zip(projections, whiteners, vectors, strict=True):
            W[:, :kept] = M @ U[:, :kept]
        return projections


def leading_pairs(factors, weights):
    """Return eigenvalues and -vectors of the matrix with blocks A_i diag(weights) A_j', i != j.

    For two views these are the singular values and vectors of A_x diag(weights) A_y'.

    Parameters
    ----------
    factors : list of (d_m, p)
        A_m.
    weights : (p,)

    Returns
    -------
    strengths : (r,), descending
    vectors : list of (d_m, r)
    """
    # In the bases Q_m of the factors' columns, the blocks have at most p rows instead of d_m.
    bases, triangles = zip(*(np.linalg.qr(A) for A in factors), strict=True)
    edges = np.cumsum([0] + [Q.shape[1] for Q in bases])
    blocks = np.zeros((edges[-1], edges[-1]))
    for i, left in enumerate(triangles):
        for j, right in enumerate(triangles):
            if i != j:
                rows, columns = slice(*edges[i : i + 2]), slice(*edges[j : j + 2])
                blocks[rows, columns] = left * weights @ right.T
    strengths, vectors = eigen(blocks)
    directions = [Q @ vectors[slice(*edges[m : m + 2])] for m, Q in enumerate(bases)]
    turn = turns(directions[0])  # the signs of Q_m are arbitrary, those of Q_m v_m must not be
    return strengths, [U * turn for U in directions]
