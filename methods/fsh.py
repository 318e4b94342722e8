"""FSH: fusion similarity hashing, codes that keep a similarity fused from all views.

Items are compared with a few anchors (training rows drawn at random) instead of with each other:

    min_{B, B_s, W}  - tr(B_s' D'B) + lambda sum_m ||B - X_m W_m||^2,   D = sum_m eta_m A_m

with B (n, k) the items' and B_s (a, k) the anchors' codes, both in {-1, +1}; X_m (n, d_m): rows
of unit norm, centred; W_m (d_m, k): hash functions. A_m(i, j), (n, a), is the mean of
exp(-dist / 2) over pairs of an anchor near item i in view m and an anchor near anchor j in
another view, with the (not squared) distance between the two taken in view m: neighbourhoods of
one view are compared in the metric of another.

Every step is the minimiser given the rest, apart from the weights:

    B = sgn(D B_s + 2 lambda sum_m X_m W_m);   B_s = sgn(D'B);   W_m = (X_m'X_m)^-1 X_m'B;
    eta_m = (P_m / sum P)^(1 / (1 - r)) with P_m = a - tr(B_s' A_m'B), the last view the rest to 1.

Cost: A_m = Z E Z_s' / neighbours^2 with Z the 0/1 indicator of an item's near anchors and E, Z_s
of size a x a, so one product instead of a loop over pairs. One factorisation of X_m'X_m a view,
then one pass over the features an iteration: a block of B depends on its own rows alone, and X_m'B
and A_m'B are summed while the block is in cache; where the data are large, of X_m'B only the rows
whose bits have changed. Memory beyond the features: A_m and B; rows are scaled to unit norm when
read.

Deviations
----------
- This follows the code that the authors released, which they call a second implementation of the
  paper. Its rule for eta is not the usual normalised one: a P_m is dominated by the number of
  rows, so the weights hardly move after the first iteration.
- It has no ridge in W: singular systems are solved in the least-norm sense.
- An iteration that changes no code ends the training; all later ones would be the same.
- With more than two views the near anchors of anchor j are averaged over the other views.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from hashbench import Citation, Integer, Linear, LinearMethod, Log
from hashbench.linalg import (
    CACHED_ROWS,
    Ridge,
    Sweep,
    UnitRows,
    add_up,
    anchor_rows,
    cross,
    each,
    row_blocks,
    signs,
    squared_distances,
    together,
    unit_rows,
)


class FSH(LinearMethod):
    """Fusion similarity hashing.

    Parameters
    ----------
    n_bits : int
    anchors : int
        Training rows that all items are compared with.
    neighbours : int
        Near anchors that make up a neighbourhood.
    lam : float
        lambda, the weight of predicting the codes from each view.
    exponent : float
        r, below 1: how strongly the weights of the views follow their agreement with the codes.
    iterations : int
        At most this many.
    random_state : int, Generator or None
    """

    name = "fsh"
    title = "FSH"
    space: ClassVar = {
        "anchors": Integer(20, 200),
        "lam": Log(1e1, 1e4),
        "exponent": Linear(0.1, 0.9),
    }
    supervised = False
    discrete = True
    fidelity = "verified"
    paper = Citation(
        "H. Liu, R. Ji, Y. Wu, F. Huang, B. Zhang",
        "Cross-modality binary code learning via fusion similarity hashing",
        "CVPR",
        2017,
    )

    def __init__(
        self,
        n_bits: int = 16,
        anchors: int = 50,
        neighbours: int = 10,
        lam: float = 300.0,
        exponent: float = 0.5,
        iterations: int = 100,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.anchors = anchors
        self.neighbours = neighbours
        self.lam = lam
        self.exponent = exponent
        self.iterations = iterations
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Learn codes and hash functions."""
        views, Y, rng = self.begin_fit(views, labels)
        n, k, dtype = len(Y), self.n_bits, Y.dtype
        scales = [_scale(X) for X in views]
        means = [cross(X, scale)[:, 0] / n for X, scale in together(views, scales)]
        solvers = each(_least_squares, views, means)
        rows = anchor_rows(n, self.anchors, rng)
        anchors = [unit_rows(X[rows]) for X in views]
        A = _similarities(views, anchors, self.neighbours, dtype)

        W = [rng.standard_normal((X.shape[1], k)) for X in views]
        Bs = (anchors[-1] - means[-1]) @ W[-1]  # real before the first step, as released
        eta = np.full(len(views), 1 / len(views))
        B = np.zeros((n, k), dtype)
        sweeps = [Sweep(X, k) for X in views]
        for _ in range(self.iterations):
            last = B, Bs
            B, S, T = self._codes(views, scales, means, A, eta, Bs, W, B, sweeps)
            pull = sum(e * t for e, t in together(eta, T))
            Bs = signs(pull)
            W = each(Ridge.solve_products, solvers, S)
            self.record(self._objective, n, Bs, pull, W, S)
            if np.array_equal(B, last[0]) and np.array_equal(Bs, last[1]):
                break
            eta = self._weights(np.array([len(rows) - np.sum(Bs * t) for t in T]))

        self.codes_ = B > 0
        self.maps_ = [UnitRows()] * len(views)
        self.means_, self.projections_ = means, W
        return self

    def _codes(self, views, scales, means, A, eta, Bs, W, last, sweeps):
        """The B-step, S_m = X_m'B and T_m = A_m'B, in one pass over the features.

        Fewer and fewer bits change: where the data are large, only rows that have changed are
        added to X_m'B, which `sweeps` hold.
        """
        dtype = A[0].dtype
        slopes = [(2 * self.lam * w).astype(dtype) for w in W]
        shift = sum(mean @ w for mean, w in together(means, W)) * 2 * self.lam
        shift = shift.astype(dtype)
        targets = [(e * Bs).astype(dtype) for e in eta]
        B = np.empty((len(A[0]), self.n_bits), dtype)
        ones = np.ones(self.n_bits, dtype)

        # compiled loops keep few rows in the nearest cache, and the farther ones hold more
        size = CACHED_ROWS * (2 if any(sweep.compiled for sweep in sweeps) else 1)

        def part(rows):
            passes = [Sweep(X, self.n_bits) for X in views]
            T = [np.zeros(Bs.shape) for _ in A]
            for block in row_blocks(rows, size):
                values = sum(a[block] @ target for a, target in together(A, targets)) - shift
                for sweep, X, scale, slope in together(passes, views, scales, slopes):
                    values += scale[block] * sweep.values(X[block], slope)
                B[block] = signs(values)
                change = B[block] - last[block]
                changed = np.flatnonzero(np.abs(change) @ ones)
                for sweep, X, scale in together(passes, views, scales):
                    if not sweep.compiled:
                        sweep.add(X[block], scale[block] * B[block])
                    elif len(changed) > len(change) // 2:
                        sweep.add(X[block], scale[block] * change)
                    elif len(changed):
                        sweep.add(X[block][changed], scale[block][changed] * change[changed])
                for a, t in together(A, T):
                    t += a[block].T @ B[block]
            return [*(sweep.products for sweep in passes), *T]

        sums = add_up(part, len(B))  # fills B, too
        for passed, products in zip(sweeps, sums, strict=False):
            passed.products[:] = products + (passed.products if passed.compiled else 0)
        total = B.sum(axis=0, dtype=np.float64)
        S = [passed.products - np.outer(mean, total) for passed, mean in together(sweeps, means)]
        return B, S, sums[len(sweeps) :]

    def _weights(self, P):
        """The eta-step; shares are cut where, with hardly any rows, P is of both signs."""
        if not P.sum():
            return np.full(len(P), 1 / len(P))
        eta = np.clip(P / P.sum(), 0, 1) ** (1 / (1 - self.exponent))
        eta[-1] = 1 - eta[:-1].sum()
        return eta

    def _objective(self, n, Bs, pull, W, S):
        # For the least-squares W, ||B - X W||^2 = ||B||^2 - tr(W'X'B).
        errors = [n * self.n_bits - np.sum(w * s) for w, s in together(W, S)]
        return self.lam * sum(errors) - np.sum(Bs * pull)


class _UnitRowsOf:
    """A view whose rows get unit norm when they are read, without a copy of them all."""

    def __init__(self, X):
        self.X, self.shape, self.dtype = X, X.shape, X.dtype

    def __getitem__(self, rows):
        return unit_rows(self.X[rows])


def _least_squares(X, mean):
    """Return the regression on the rows of X, scaled to unit norm and centred."""
    # With fewer rows than columns Ridge reads the rows again, but then a copy of them is small.
    return Ridge(_UnitRowsOf(X) if X.shape[0] >= X.shape[1] else unit_rows(X), 0.0, mean)


def _scale(X):
    """Return what each row is multiplied with to get unit norm, (n, 1)."""
    norms = np.sqrt(np.einsum("ij,ij->i", X, X))
    return 1 / np.where(norms > 0, norms, 1)[:, None]


def _similarities(views, anchors, neighbours, dtype):
    """Return A_m of every view, (n, a)."""
    near = [_near_anchors(a, a, neighbours, dtype) for a in anchors]
    A = []
    for m, (X, a) in enumerate(together(views, anchors)):
        E = np.exp(-np.sqrt(squared_distances(a, a)) / 2)
        others = sum(z for l, z in enumerate(near) if l != m) / (len(views) - 1)
        M = (E @ others.T).astype(dtype)
        A.append(np.empty((X.shape[0], len(a)), dtype))
        for block in row_blocks(X.shape[0]):
            A[m][block] = _near_anchors(unit_rows(X[block]), a, neighbours, dtype) @ M
    return A


def _near_anchors(X, anchors, neighbours, dtype):
    """Return the indicator of each row's near anchors, divided by their number."""
    count = min(neighbours, len(anchors))
    order = np.argsort(squared_distances(X, anchors), axis=1, kind="stable")
    Z = np.zeros((len(X), len(anchors)), dtype)
    np.put_along_axis(Z, order[:, :count], 1 / count, axis=1)
    return Z
