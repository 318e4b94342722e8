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
of size a x a, so one product instead of a loop over pairs. One factorisation of X_m'X_m per view,
then two passes over the features per iteration. Memory: a copy of the features with unit rows, A_m
and B.

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

from hashbench import COUNT, NON_NEGATIVE, Bounds, Integer, Linear, LinearMethod, Log, Paper
from hashbench.linalg import (
    Ridge,
    UnitRows,
    anchor_rows,
    column_means,
    project,
    signs,
    squared_distances,
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
    allowed: ClassVar = {
        "anchors": COUNT, "neighbours": COUNT, "lam": NON_NEGATIVE, "exponent": Bounds(lt=1),
        "iterations": COUNT,
    }  # fmt: skip
    supervised = False
    discrete = True
    paper = Paper(
        "H. Liu, R. Ji, Y. Wu, F. Huang, B. Zhang",
        "Cross-modality binary code learning via fusion similarity hashing",
        "CVPR",
        2017,
        fidelity="consistent",
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
        data = self.begin_fit(views, labels)
        views, rng = data.views, data.rng
        n, k = data.n, self.n_bits
        views = [unit_rows(X) for X in views]
        means = column_means(views)
        # The release has no ridge: singular systems are solved in the least-norm sense.
        solvers = [Ridge(X, 0.0, mean) for X, mean in zip(views, means, strict=True)]
        rows = anchor_rows(n, self.anchors, rng)
        anchors = [X[rows] for X in views]
        A = _similarities(views, anchors, self.neighbours)

        W = [rng.standard_normal((X.shape[1], k)) for X in views]
        Bs = (anchors[-1] - means[-1]) @ W[-1]  # real before the first step, as released
        eta = np.full(len(views), 1 / len(views))
        B: Any = np.zeros((n, k))
        for _ in range(self.iterations):
            last = B, Bs
            B = signs(
                sum(e * a @ Bs for e, a in zip(eta, A, strict=True))
                + 2 * self.lam * sum(map(project, views, W, means))
            )
            T = [a.T @ B for a in A]
            Bs = signs(sum(e * t for e, t in zip(eta, T, strict=True)))
            S = [solver.products(B) for solver in solvers]
            W = [solver.solve_products(s, B) for solver, s in zip(solvers, S, strict=True)]
            self.record_objective(lambda: self._objective(B, Bs, eta, T, W, S))
            if np.array_equal(B, last[0]) and np.array_equal(Bs, last[1]):
                break
            eta = self._weights(np.array([len(rows) - np.sum(Bs * t) for t in T]))

        self.codes_ = B > 0
        self.maps_ = [UnitRows()] * len(views)
        self.means_, self.projections_ = means, W
        return self

    def _weights(self, P):
        """The eta-step; shares are cut where, with hardly any rows, P is of both signs."""
        if not P.sum():
            return np.full(len(P), 1 / len(P))
        eta = np.clip(P / P.sum(), 0, 1) ** (1 / (1 - self.exponent))
        eta[-1] = 1 - eta[:-1].sum()
        return eta

    def _objective(self, B, Bs, eta, T, W, S):
        # For the least-squares W, ||B - X W||^2 = ||B||^2 - tr(W'X'B).
        errors = [B.size - np.sum(w * s) for w, s in zip(W, S, strict=True)]
        agreement = sum(e * np.sum(Bs * t) for e, t in zip(eta, T, strict=True))
        return self.lam * sum(errors) - agreement


def _similarities(views, anchors, neighbours):
    """Return A_m of every view, (n, a)."""
    near = [_near_anchors(a, a, neighbours) for a in anchors]
    A = []
    for m, (X, a) in enumerate(zip(views, anchors, strict=True)):
        E = np.exp(-np.sqrt(squared_distances(a, a)) / 2)
        others = sum(z for l, z in enumerate(near) if l != m) / (len(views) - 1)
        A.append(_near_anchors(X, a, neighbours) @ (E @ others.T))
    return A


def _near_anchors(X, anchors, neighbours):
    """Return the indicator of each row's near anchors, divided by their number."""
    count = min(neighbours, len(anchors))
    order = np.argsort(squared_distances(X, anchors), axis=1, kind="stable")
    Z = np.zeros((len(X), len(anchors)))
    np.put_along_axis(Z, order[:, :count], 1 / count, axis=1)
    return Z
