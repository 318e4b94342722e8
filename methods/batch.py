"""BATCH: codes whose products approach the label similarity, beside a decorrelated factor.

Minimises over a factor V, codes B, bases U_m and a classifier U_0

    eta sum_m ||K_m - V U_m||^2 + eta_0 ||Y - V U_0||^2
    + ||k G G' - V B'||^2 + omega ||B - V||^2
    subject to V'V = n I, V'1 = 0, B in {-1, +1}

with a ridge of 0.001 on each U inside its weight. K_m (n, a_m): centred RBF features of random
anchors; Y (n, c): labels; G: labels, rows of unit norm; V, B (n, k); U_m (k, a_m); U_0 (k, c).
Afterwards each hash function is a ridge regression from K_m to B.

Cost: G G' only ever meets a matrix of k columns, as G (G'B). Two products of size n x a_m x k a
view and iteration, and one factorisation of K_m'K_m for the hash functions. Memory: K_m, V, B.

Deviations
----------
- Where the V-step is rank deficient, the released code fills up with random columns that are not
  orthogonal to the others; here they are, so that the constraints hold and the objective never
  rises.
- The released code needs as many training rows as anchors; here every row is then an anchor.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from hashbench import COUNT, NON_NEGATIVE, LinearMethod, Log, Paper
from hashbench.linalg import (
    Ridge,
    anchor_maps,
    cross_product,
    project,
    random_codes,
    signs,
    squared_norm,
    stiefel,
    unit_rows,
)

RIDGE = 1e-3  # of the bases; the released code fixes it


class BATCH(LinearMethod):
    """Scalable asymmetric discrete cross-modal hashing.

    Parameters
    ----------
    n_bits : int
    eta : float
        Weight of reconstructing each view.
    eta_labels : float
        eta_0, the weight of predicting the labels.
    omega : float
        Weight of the codes' closeness to the factor.
    ridge_scatter : float
        Ridge of the hash functions, added to the diagonal of K_m'K_m (a sum over rows). RBF
        features have a scale of their own, whatever that of the views; the
        original's value.
    anchors, anchors_others : int
        Random training rows behind the RBF features of the first and of every other view.
    iterations : int
    random_state : int, Generator or None
    """

    name = "batch"
    title = "BATCH"
    space: ClassVar = {
        "eta": Log(1e-3, 1),
        "eta_labels": Log(1e-2, 1e1),
        "omega": Log(1e-4, 1),
        "ridge_scatter": Log(1e-4, 1e2),
    }
    allowed: ClassVar = {
        "eta": NON_NEGATIVE, "eta_labels": NON_NEGATIVE, "omega": NON_NEGATIVE,
        "ridge_scatter": NON_NEGATIVE, "anchors": COUNT, "anchors_others": COUNT,
        "iterations": COUNT,
    }  # fmt: skip
    supervised = True
    discrete = True
    kernel = True
    paper = Paper(
        "Y. Wang, X. Luo, L. Nie, J. Song, W. Zhang, X.-S. Xu",
        "BATCH: a scalable asymmetric discrete cross-modal hashing",
        "IEEE Transactions on Knowledge and Data Engineering",
        2020,
        fidelity="consistent",
    )

    def __init__(
        self,
        n_bits: int = 16,
        eta: float = 0.05,
        eta_labels: float = 0.9,
        omega: float = 0.01,
        ridge_scatter: float = 0.01,
        anchors: int = 500,
        anchors_others: int = 1000,
        iterations: int = 6,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.eta = eta
        self.eta_labels = eta_labels
        self.omega = omega
        self.ridge_scatter = ridge_scatter
        self.anchors = anchors
        self.anchors_others = anchors_others
        self.iterations = iterations
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Learn codes and hash functions."""
        data = self.begin_fit(views, labels)
        views, Y, rng = data.views, data.labels, data.rng
        n, k = data.n, self.n_bits
        G = unit_rows(Y)
        counts = [self.anchors] + [self.anchors_others] * (len(views) - 1)
        self.maps_, K = anchor_maps(views, counts, rng)
        solvers = [Ridge(features, self.ridge_scatter) for features in K]

        # The labels are reconstructed as the views are, under a weight of their own.
        sources, weights = [*K, Y], [self.eta] * len(K) + [self.eta_labels]
        norms = [np.trace(solver.gram) for solver in solvers] + [Y.sum()]  # squared
        B = random_codes(rng, n, k)
        V = rng.standard_normal((n, k))
        S = [cross_product(source, V) for source in sources]
        for _ in range(self.iterations):
            VV = V.T @ V
            U = [np.linalg.solve(VV + RIDGE * np.eye(k), s.T) for s in S]
            Z = G @ (k * (G.T @ B)) + self.omega * B
            for weight, source, u in zip(weights, sources, U, strict=True):
                Z += weight * project(source, u.T)
            V = stiefel(Z, rng)
            B = signs(G @ (k * (G.T @ V)) + self.omega * V)
            S = [cross_product(source, V) for source in sources]
            self.record_objective(lambda: self._objective(norms, weights, G, V, B, U, S))

        self.codes_ = B > 0
        self.projections_ = [solver.solve(B) for solver in solvers]
        return self

    def _objective(self, norms, weights, G, V, B, U, S):
        VV, GG, GV, GB = (np.asarray(L.T @ R, float) for L, R in ((V, V), (G, G), (G, V), (G, B)))
        k = self.n_bits
        total = self.omega * squared_norm(B - V)
        total += k**2 * squared_norm(GG) - 2 * k * np.sum(GV * GB) + np.sum(VV * (B.T @ B))
        for norm, weight, u, s in zip(norms, weights, U, S, strict=True):
            residual = norm - 2 * np.sum(u.T * s) + np.sum((VV @ u) * u)
            total += weight * (residual + RIDGE * squared_norm(u))
        return total
