"""SCM: semantic correlation maximisation, sequential (scm-s) and orthogonal (scm-o).

Minimises over linear hash functions W_m of the views, for every pair of them,

    || sgn(X W_x) sgn(Y W_y)' - k S ||^2,    S = 2 G G' - 1 1',

X (n, d1), Y (n, d2): centred features; G (n, c): labels with rows of norm one, so that S is the
cosine similarity of label rows stretched to [-1, 1]; k: bits. S is never formed: the methods need
X'S Y alone, which is 2 (X'G)(Y'G)' because centred columns sum to zero.

``scm-o`` drops the signs and asks for W_x'X'X W_x = n I: canonical correlation analysis with X'S Y
in the place of X'Y. ``scm-s`` takes one bit at a time: the leading pair (w_x, w_y) of a residual C,
which starts as k X'S Y and loses (X'h_x)(Y'h_y)' once the bit's codes h = sgn(X w) are known. It
stops when the strength of a pair exceeds that of the one before; the bits that are left take
directions of unsupervised CCA, the weakest first. Both are deterministic by default.

Cost: one pass over the features and an eigen-decomposition of each X_m'X_m; for ``scm-s`` one pass
a bit more, and one for the CCA. In whitened coordinates the residual of bit t is a sum of c + t
outer products, so its leading pair comes from an eigenproblem of size 2 (c + t), whatever the
dimension of the features.

Deviations
----------
- The stop and the fill by CCA directions belong to the authors' code, not to the paper's
  algorithm. Without them (``stop=False``) all bits are learned.
- Bits beyond the rank of the data (9 on the text of Wiki) have no direction: they are constant,
  and a warning says so. The authors' code fills them with rounding noise; this is why the scores
  of ``scm-o`` in the literature fall with the code length on Wiki, where ours stay. With
  ``noise_bits`` these bits take random directions, drawn for each view apart, and ours fall too.
- More than two views, which the paper does not treat: every pair counts, and the leading pair
  becomes the leading eigenvector of the matrix that has the pairs' residuals as its blocks.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np

from hashbench import Citation, LinearMethod
from hashbench.linalg import signs, unit_rows
from hashbench.linalg.cca import scatter_precision, scatter_whitening
from hashbench.linalg.multiview import correlated_directions, noise_directions
from hashbench.linalg.ridge import CACHED_ROWS, normal_equations


class SCMO(LinearMethod):
    """SCM with orthogonality constraints: all bits from one eigenproblem.

    Parameters
    ----------
    n_bits : int
    ridge : float
        Added to the diagonals of the scatter matrices X_m'X_m.
    noise_bits : bool
        Bits beyond the rank are signs of random directions, and not constant; see Deviations.
    random_state : int, Generator or None
        Draws those directions; nothing else is random.
    """

    name = "scm-o"
    title = "SCM-Orth"
    supervised = True
    fidelity = "verified"
    fidelity_note = (
        "up to the rank of the data; bits beyond it are constant here, rounding noise elsewhere"
    )
    paper = Citation(
        "D. Zhang, W.-J. Li",
        "Large-scale supervised multimodal hashing with semantic correlation maximization",
        "AAAI",
        2014,
    )

    def __init__(
        self,
        n_bits: int = 16,
        ridge: float = 1e-6,
        noise_bits: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.ridge = ridge
        self.noise_bits = noise_bits
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Learn the hash functions."""
        views, Y, rng = self.begin_fit(views, labels)
        self.means_ = [X.mean(axis=0, dtype=np.float64) for X in views]
        G = unit_rows(Y)
        # A_m = M_m'X_m'G with whitened features X_m M_m: X'S Y becomes 2 A_x A_y'.
        whiteners, factors = [], []
        for X, mean in zip(views, self.means_, strict=True):
            scatter, products = normal_equations(X, G, mean)
            whiteners.append(scatter_whitening(X, mean, self.ridge, scatter))
            factors.append(whiteners[-1].T @ products)
        # Whitened features are orthonormal, so that no strength exceeds this one.
        limit = 2 * float(np.square(G).sum(dtype=np.float64))
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
                    W[:, without] = noise_directions(X, missing, self.ridge, mean, rng)
        return self

    def _directions(self, views, G, whiteners, factors, noise):
        strengths, vectors = _pairs(factors, np.full(G.shape[1], 2.0))
        kept = min(self.n_bits, int((strengths > noise).sum()))
        projections = [np.zeros((len(M), self.n_bits)) for M in whiteners]
        for W, M, U in zip(projections, whiteners, vectors, strict=True):
            W[:, :kept] = M @ U[:, :kept]
        return projections


class SCMS(SCMO):
    """SCM, sequential: each bit corrects what the codes of the earlier ones leave.

    Parameters
    ----------
    n_bits, ridge, noise_bits, random_state
        As for :class:`SCMO`.
    stop : bool
        Stop as the authors' code does, when a pair is stronger than the one before it, and take
        CCA directions for the bits that are left.
    """

    name = "scm-s"
    title = "SCM-Seq"
    fidelity_note = "bits without a CCA direction to fall back on are constant"

    def __init__(
        self,
        n_bits: int = 16,
        ridge: float = 1e-6,
        stop: bool = True,
        noise_bits: bool = False,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_bits, ridge, noise_bits, random_state)
        self.stop = stop

    def _directions(self, views, G, whiteners, factors, noise):
        k = self.n_bits
        projections = [np.zeros((len(M), k)) for M in whiteners]
        weights = np.full(G.shape[1], 2.0 * k)  # C = A_x diag(weights) A_y'
        residual = _Residual(G, k, len(views))
        learned, before = 0, np.inf
        while learned < k:
            strengths, vectors = _pairs(factors, weights)
            if not len(strengths) or strengths[0] <= k * noise:
                break
            if self.stop and strengths[0] > before:
                break
            before = strengths[0]
            codes = []
            for m, X in enumerate(views):
                w = projections[m][:, learned] = whiteners[m] @ vectors[m][:, 0]
                h, products = _code(X, self.means_[m], w)
                codes.append(h)
                factors[m] = np.column_stack([factors[m], whiteners[m].T @ products])
            weights = np.append(weights, -1.0)
            learned += 1
            self.record(lambda: residual.subtract(codes))  # noqa: B023
        if learned < k:
            fallback, _ = correlated_directions(
                views, k - learned, self.ridge, self.means_, whiteners
            )
            for W, directions in zip(projections, fallback, strict=True):
                W[:, learned:] = directions[:, ::-1]
        return projections


class _Residual:
    """The objective after each bit, ||sum_t h_t h_t' - k S||^2 over all pairs of views."""

    def __init__(self, G, k, n_views):
        self.G, self.k, self.n_views = G.astype(np.float64), k, n_views
        total = self.G.sum(axis=0)
        squares = 4 * np.square(self.G.T @ self.G).sum() - 4 * total @ total + len(G) ** 2.0
        self.value = k**2 * squares * n_views * (n_views - 1) / 2
        self.codes = [np.zeros((len(G), 0), np.int8) for _ in range(n_views)]

    def subtract(self, codes):
        n, labels, sums, earlier = len(self.G), [], [], []
        for m, h in enumerate(codes):
            labels.append(h @ self.G)
            sums.append(h.sum())
            earlier.append(h @ self.codes[m])
            self.codes[m] = np.column_stack([self.codes[m], h.astype(np.int8)])
        for i in range(self.n_views):
            for j in range(i):
                similarity = 2 * labels[i] @ labels[j] - sums[i] * sums[j]  # h_i'S h_j
                agreement = self.k * similarity - earlier[i] @ earlier[j]
                self.value += float(n) ** 2 - 2 * agreement
        return self.value


def _pairs(factors, weights):
    """Strengths and directions of the matrix whose blocks are A_i diag(weights) A_j', i != j.

    For two views these are the singular values and vectors of A_x diag(weights) A_y'.

    Returns
    -------
    strengths : (r,), descending
    vectors : list of (r_m, r)
    """
    # The blocks live in the span of the factors, which is small.
    bases, triangles = zip(*(np.linalg.qr(A) for A in factors), strict=True)
    edges = np.cumsum([0] + [Q.shape[1] for Q in bases])
    blocks = np.zeros((edges[-1], edges[-1]))
    for i, left in enumerate(triangles):
        for j, right in enumerate(triangles):
            if i != j:
                rows, columns = slice(*edges[i : i + 2]), slice(*edges[j : j + 2])
                blocks[rows, columns] = left * weights @ right.T
    strengths, vectors = np.linalg.eigh(blocks)
    strengths, vectors = strengths[::-1], vectors[:, ::-1]
    return strengths, [Q @ vectors[slice(*edges[m : m + 2])] for m, Q in enumerate(bases)]


def _code(X, mean, w):
    """h = sgn((X - 1 mean') w) and (X - 1 mean')'h, in one pass over X."""
    h, products = np.empty(len(X)), np.zeros(len(w))
    column, shift = w.astype(X.dtype), float(mean @ w)
    for start in range(0, len(X), CACHED_ROWS):
        block = X[start : start + CACHED_ROWS]
        bits = signs(block @ column - X.dtype.type(shift))
        h[start : start + CACHED_ROWS] = bits
        products += block.T @ bits
    return h, products - mean * h.sum()
