"""SCRATCH: matrix factorisation with labels, and a rotation between factors and codes.

Minimises over a shared space V, codes B, a rotation R, bases U_m, hash functions W_m and a
classifier C

    sum_m [ lambda ||K_m - V U_m'||^2 + mu ||V - K_m W_m||^2 ]
    + alpha ||Y - V C'||^2 + ||B - V R'||^2
    + gamma ( sum_m ||U_m||^2 + ||W_m||^2 + ||C||^2 + ||V||^2 ).

K_m (n, a): centred RBF features of random anchors; Y (n, c): labels; V (n, k); B (n, k) in
{-1, +1}; R (k, k) orthogonal; U_m, W_m (a, k); C (c, k).

Cost: one factorisation of K_m'K_m per view, then two products of size n x a x k per view
and iteration, K_m (lambda U_m + mu W_m) and K_m'V, which serves both U_m and W_m. The objective
costs no pass over K_m. Memory: K_m, V and B.

Deviations
----------
- As in the released code, the codes returned are those from before the last step of V and R.
- The released code centres the features before the kernel, which distances do not see.
- R begins as a random rotation drawn uniformly (by a QR decomposition). The released code begins
  with the left singular vectors of a random matrix.
- Where B'V is rank deficient, several rotations are best. R is the one nearest to the last R.
- The released code fails with fewer training rows than anchors; here every row is then an anchor.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from hashbench import COUNT, NON_NEGATIVE, POSITIVE, LinearMethod, Log, Paper
from hashbench.linalg import (
    Ridge,
    anchor_maps,
    procrustes,
    project,
    random_rotation,
    signs,
    squared_norm,
)


class SCRATCH(LinearMethod):
    """Scalable discrete matrix factorization hashing.

    Parameters
    ----------
    n_bits : int
    lam : float
        lambda, the weight of reconstructing each view.
    alpha : float
        Weight of predicting the labels from the shared space.
    mu : float
        Weight of predicting the shared space from each view.
    gamma : float
        Ridge: added to the diagonals of V'V and, divided by mu, of K_m'K_m (sums over rows); RBF
        features have a scale of their own. The original's value.
    anchors : int
        Random training rows behind the RBF features of each view.
    iterations : int
    random_state : int, Generator or None
    """

    name = "scratch"
    title = "SCRATCH"
    space: ClassVar = {"alpha": Log(1, 1e4), "mu": Log(1e1, 1e5), "gamma": Log(1e-2, 1e3)}
    allowed: ClassVar = {
        "lam": NON_NEGATIVE, "alpha": NON_NEGATIVE, "mu": POSITIVE, "gamma": NON_NEGATIVE,
        "anchors": COUNT, "iterations": COUNT,
    }  # fmt: skip
    supervised = True
    discrete = True
    kernel = True
    paper = Paper(
        "C.-X. Li, Z.-D. Chen, P.-F. Zhang, X. Luo, L. Nie, W. Zhang, X.-S. Xu",
        "SCRATCH: a scalable discrete matrix factorization hashing for cross-modal retrieval",
        "ACM International Conference on Multimedia",
        2018,
        fidelity="consistent",
    )

    def __init__(
        self,
        n_bits: int = 16,
        lam: float = 0.5,
        alpha: float = 500.0,
        mu: float = 1000.0,
        gamma: float = 5.0,
        anchors: int = 500,
        iterations: int = 20,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.lam = lam
        self.alpha = alpha
        self.mu = mu
        self.gamma = gamma
        self.anchors = anchors
        self.iterations = iterations
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Learn codes and hash functions."""
        data = self.begin_fit(views, labels)
        views, Y, rng = data.views, data.labels, data.rng
        n, k, eye = data.n, self.n_bits, np.eye(self.n_bits)
        weight, alpha, mu, gamma = self.lam, self.alpha, self.mu, self.gamma
        self.maps_, K = anchor_maps(views, [self.anchors] * len(views), rng)
        solvers = [Ridge(features, gamma / mu) for features in K]

        V = rng.standard_normal((n, k))
        R = random_rotation(k, rng)
        S = [solver.products(V) for solver in solvers]  # S_m = K_m'V
        for _ in range(self.iterations):
            VV = V.T @ V
            B = signs(V @ R.T)
            U = [np.linalg.solve(weight * VV + gamma * eye, weight * s.T).T for s in S]
            C = np.linalg.solve(alpha * VV + gamma * eye, alpha * (V.T @ Y)).T
            W = [solver.solve_products(s) for solver, s in zip(solvers, S, strict=True)]

            system = (1 + len(K) * mu + gamma) * eye + alpha * C.T @ C
            inverse = np.linalg.inv(system + sum(weight * u.T @ u for u in U))
            V = B @ (R @ inverse) + Y @ (alpha * C @ inverse)
            for features, u, w in zip(K, U, W, strict=True):
                V += project(features, (weight * u + mu * w) @ inverse)
            S = [solver.products(V) for solver in solvers]
            R = procrustes(B.T @ V, R)
            self.record_objective(lambda: self._objective(solvers, Y, V, B, R, C, U, W, S))

        self.codes_ = B > 0
        self.projections_ = [w @ R.T for w in W]
        return self

    def _objective(self, solvers, Y, V, B, R, C, U, W, S):
        VV = V.T @ V
        squares = np.trace(VV)
        total = self.alpha * squared_norm(Y - V @ C.T)
        total += squared_norm(B - V @ R.T)
        total += self.gamma * (squares + squared_norm(C))
        for solver, u, w, s in zip(solvers, U, W, S, strict=True):
            norm = np.trace(solver.gram)
            total += self.lam * (norm - 2 * np.sum(u * s) + np.sum((u.T @ u) * VV))
            total += self.mu * (squares - 2 * np.sum(w * s) + solver.quadratic(w))
            total += self.gamma * (squared_norm(u) + squared_norm(w))
        return total
