"""FDDH: orthogonal class codes and labels that may drag their values apart.

Minimises over codes B, class codes C, relaxed labels T and bases R_m

    ||B - T C'||^2 + mu sum_m ||K_m - T C' R_m'||^2 + gamma ||T||^2
    subject to C'C = I, R_m'R_m = I, T >= 1 where a label is present, T <= 0 where it is absent.

K_m (n, a): RBF features exp(-D / s) of anchors, which are the same items in every view; D: squared
distances to the anchors; s: the mean squared distance between training rows; B (n, k) in {-1, +1};
T (n, c); C (k, c); R_m (a, k). Afterwards each hash function is a ridge regression from K_m to B.

Cost: two products with K_m per iteration, K_m'T (a x c, for both C and R_m) and K_m (R_m C), of
size n x a x c each. The objective costs no pass over K_m. Memory: K_m, T and B.

Deviations
----------
- The T-step divides by 1 + M mu + gamma for M views, as its minimiser does; the released code
  leaves out the 1.
- C'C = I needs as many bits as classes. With fewer, the rows of C are orthonormal instead of its
  columns and a warning is given: the T-step is then no minimiser, and the iterations end as soon
  as the objective rises.
- The first C-step sees the codes alone, since it comes before the first R_m.
- S_m C' has the rank of C, so that with more bits than classes many R_m are best. The released
  code takes what its linear algebra library returns; here it is the one nearest to the last R_m.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np

from hashbench import COUNT, NON_NEGATIVE, POSITIVE, LinearMethod, Log, Paper
from hashbench.linalg import (
    RBF,
    Ridge,
    anchor_rows,
    mean_squared_distance,
    procrustes,
    project,
    random_codes,
    signs,
    squared_norm,
)


class FDDH(LinearMethod):
    """Fast discriminative discrete hashing.

    Parameters
    ----------
    n_bits : int
    mu : float
        Weight of reconstructing each view.
    gamma : float
        Ridge of the relaxed labels.
    ridge_scatter : float
        Ridge of the hash functions, added to the diagonal of K_m'K_m (a sum over rows). RBF
        features have a scale of their own, whatever that of the views. The original's value.
    anchors : int
        Random training items behind the RBF features.
    iterations : int
        At most this many.
    tolerance : float
        Stop when the objective falls by less than this part of it.
    random_state : int, Generator or None
    """

    name = "fddh"
    title = "FDDH"
    space: ClassVar = {"mu": Log(1e-6, 1), "gamma": Log(1e1, 1e6), "ridge_scatter": Log(1e-6, 1e2)}
    allowed: ClassVar = {
        "mu": NON_NEGATIVE, "gamma": POSITIVE, "ridge_scatter": NON_NEGATIVE, "anchors": COUNT,
        "iterations": COUNT,
    }  # fmt: skip
    supervised = True
    discrete = True
    kernel = True
    paper = Paper(
        "X. Liu, X. Wang, Y.-m. Cheung",
        "FDDH: fast discriminative discrete hashing for large-scale cross-modal retrieval",
        "IEEE Transactions on Neural Networks and Learning Systems",
        2021,
        fidelity="consistent",
    )

    def __init__(
        self,
        n_bits: int = 16,
        mu: float = 1e-3,
        gamma: float = 1e4,
        ridge_scatter: float = 1e-4,
        anchors: int = 800,
        iterations: int = 20,
        tolerance: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.mu = mu
        self.gamma = gamma
        self.ridge_scatter = ridge_scatter
        self.anchors = anchors
        self.iterations = iterations
        self.tolerance = tolerance
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Learn codes and hash functions."""
        data = self.begin_fit(views, labels)
        views, Y, rng = data.views, data.labels, data.rng
        (n, c), k = Y.shape, self.n_bits
        if k < c:
            warnings.warn(
                f"fddh: {k} bits cannot hold {c} orthogonal class codes; they will overlap",
                stacklevel=2,
            )
        rows = np.sort(anchor_rows(n, self.anchors, rng))
        maps = [RBF(X[rows], mean_squared_distance(X), centred=False) for X in views]
        K = [phi.fit_transform(X) for phi, X in zip(maps, views, strict=True)]
        solvers = [Ridge(features, self.ridge_scatter) for features in K]

        B = random_codes(rng, n, k)
        T, S = Y, [solver.products(Y) for solver in solvers]  # S_m = K_m'T
        R: list[Any] = [np.zeros((features.shape[1], k)) for features in K]
        C, best = None, np.inf
        for _ in range(self.iterations):
            C = procrustes(B.T @ T + self.mu * sum(r.T @ s for r, s in zip(R, S, strict=True)), C)
            R = [procrustes(s @ C.T, r) for s, r in zip(S, R, strict=True)]
            codes = signs(T @ C.T)
            T = self._labels(codes, K, R, C, Y)
            S = [solver.products(T) for solver in solvers]
            value = self.record_objective(lambda: self._objective(solvers, codes, T, C, R, S))
            if value > best:
                break  # the codes before the rise are returned
            B, fallen, best = codes, best - value, value
            if fallen < self.tolerance * value:
                break

        self.codes_ = B > 0
        self.maps_ = maps
        self.projections_ = [solver.solve(B) for solver in solvers]
        return self

    def _labels(self, B, K, R, C, Y):
        """T: the unconstrained minimiser, dragged to the right side of its bounds."""
        T = B @ C
        for features, r in zip(K, R, strict=True):
            T += project(features, self.mu * r @ C)
        T /= 1 + len(K) * self.mu + self.gamma
        return np.where(Y > 0, np.maximum(T, 1), np.minimum(T, 0))

    def _objective(self, solvers, B, T, C, R, S):
        TC = T @ C.T
        gram = TC.T @ TC
        total = squared_norm(B - TC) + self.gamma * squared_norm(T)
        for solver, r, s in zip(solvers, R, S, strict=True):
            norm = np.trace(solver.gram)
            total += self.mu * (norm - 2 * np.sum(r * (s @ C.T)) + np.sum((r.T @ r) * gram))
        return total
