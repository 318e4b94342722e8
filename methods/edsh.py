"""EDSH: efficient discrete supervised hashing.

The objective, over a shared space V, codes B, a rotation R, bases U_m, hash functions W_m and a
classifier P, is

    sum_m [ lambda_m ||X_m - V U_m'||^2 + beta_m ||V - X_m W_m||^2 ]
    + gamma ||Y - B P'||^2 + alpha ||B - V R'||^2
    + mu ( sum_m ||U_m||^2 + ||W_m||^2 + ||V||^2 ).

X_m (n, d_m): centred features; Y (n, c): labels; V (n, k); B (n, k) in {-1, +1}; R (k, k);
U_m, W_m (d_m, k); P (c, k). The paper writes items as columns; here they are rows.

All steps but the B-step give the minimiser with the rest fixed.

Cost: one factorisation of X_m'X_m per view, then two passes over the features per iteration, for
X_m M_m and X_m'V. The objective costs no pass. Memory beyond the features: V and B.

Deviations
----------
- Eq. 17-18, an error of the paper that is kept: tr(B P'P B') is called constant, but it is so only
  if P'P is diagonal. Without it the B-step, B = sgn(alpha V R' + gamma Y P), does not minimise its
  sub-problem, and the objective may rise. ``edsh-dcc`` keeps the term and takes discrete coordinate
  descent instead.
- The R-step is printed as the transpose of the minimiser. ``rotation="printed"`` takes it so; then
  the iteration is chaotic, and on Wiki's CNN-like features at 16 bits some runs end at poor codes
  (text->image AP@100 near .4 instead of .67). The default is the minimiser.
- Eq. 9 has a misprint of sign, and Eq. 19 lacks the weights; the solutions Eq. 10 and Eq. 21 are
  right and are what runs.
- Eq. 12 is right, but it inverts B'B, which is singular as soon as two bits agree in all rows or in
  none: the pseudo-inverse is used.
- The hash function is sgn(R W x), as the text after Eq. 22 says; Eq. 1-2 leave out the rotation.
- The paper starts from random values without saying which. Here B is random signs, V and W_m are
  standard normal and R is a random rotation. W_m enters the first V-step only, and yet its scale
  matters: with a hundredth of it, AP@100 on the same data is .02 lower.
- Where B'V is rank deficient, several rotations are best. R is the one nearest to the last R.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from hashbench import (
    COUNT,
    NON_NEGATIVE,
    POSITIVE,
    Choice,
    LinearMethod,
    Log,
    Paper,
)
from hashbench.linalg import (
    Ridge,
    column_means,
    procrustes,
    project,
    random_codes,
    random_rotation,
    signs,
    squared_norm,
)


class EDSH(LinearMethod):
    """Efficient discrete supervised hashing.

    Parameters
    ----------
    n_bits : int
    lam : float
        lambda_m, the weight of reconstructing each view.
    beta : float
        beta_m, the weight of predicting the shared space from each view.
    gamma : float
        Weight of predicting the labels from the codes.
    alpha : float
        Weight of the codes' closeness to the rotated shared space.
    mu : float
        Ridge: divided by lambda_m added to the diagonal of V'V, divided by beta_m to that of
        X_m'X_m: sums over rows, so that it weighs less with more or longer rows. The paper's value.
    iterations : int
    rotation : "exact" or "printed"
        The R-step: the minimiser, or its transpose as the paper prints it.
    random_state : int, Generator or None
    """

    name = "edsh"
    title = "EDSH"
    space: ClassVar = {
        "beta": Log(1e-1, 1e3),
        "gamma": Log(1e-2, 1e3),
        "alpha": Log(1e-2, 1e2),
        "mu": Log(1e-2, 1e2),
    }
    allowed: ClassVar = {
        "lam": POSITIVE, "beta": POSITIVE, "gamma": NON_NEGATIVE, "alpha": NON_NEGATIVE,
        "mu": POSITIVE, "iterations": COUNT, "rotation": Choice("exact", "printed"),
    }  # fmt: skip
    supervised = True
    discrete = True
    objective_note = (
        "without the quadratic term of its code step (Eq. 18) it may rise as bits grow alike"
    )
    paper = Paper(
        "T. Yao, X. Kong, L. Yan, W. Tang, Q. Tian",
        "Efficient discrete supervised hashing for large-scale cross-modal retrieval",
        "arXiv:1905.01304",
        2019,
        fidelity="paper only",
    )

    def __init__(
        self,
        n_bits: int = 16,
        lam: float = 1.0,
        beta: float = 10.0,
        gamma: float = 10.0,
        alpha: float = 2.0,
        mu: float = 5.0,
        iterations: int = 20,
        rotation: str = "exact",
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.lam = lam
        self.beta = beta
        self.gamma = gamma
        self.alpha = alpha
        self.mu = mu
        self.iterations = iterations
        self.rotation = rotation
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Learn codes and hash functions."""
        data = self.begin_fit(views, labels)
        views, Y, rng = data.views, data.labels, data.rng
        n, k = data.n, self.n_bits
        means = column_means(views)
        solvers = [
            Ridge(X, self.mu / self.beta, mean) for X, mean in zip(views, means, strict=True)
        ]

        B = random_codes(rng, n, k)
        V = rng.standard_normal((n, k))
        R = random_rotation(k, rng)
        W = [rng.standard_normal((X.shape[1], k)) for X in views]
        S = [solver.products(V) for solver in solvers]  # S_m = X_m'V

        for _ in range(self.iterations):
            U = self._bases(S, V)
            P = Y.T @ B @ np.linalg.pinv(B.T @ B, hermitian=True)  # Eq. 12
            V = self._shared_space(views, means, U, W, B @ R)
            S = [solver.products(V) for solver in solvers]
            R = self._rotation(B, V, R)
            B = self._codes(B, self.alpha * V @ R.T + self.gamma * Y @ P, P)
            W = [solver.solve_products(s, V) for solver, s in zip(solvers, S, strict=True)]  # 21
            self.record_objective(lambda: self._objective(solvers, Y, V, B, R, U, W, P, S))

        self.codes_ = B > 0
        self.means_ = means
        self.projections_ = [w @ R.T for w in W]
        return self

    def _bases(self, S, V):
        """U_m = X_m'V (V'V + (mu / lambda_m) I)^-1, Eq. 10-11."""
        VV = V.T @ V + self.mu / self.lam * np.eye(self.n_bits)
        return [np.linalg.solve(VV, s.T).T for s in S]

    def _shared_space(self, views, means, U, W, BR):
        """V of Eq. 14."""
        system = (self.alpha + len(views) * self.beta + self.mu) * np.eye(self.n_bits)
        inverse = np.linalg.inv(system + sum(self.lam * u.T @ u for u in U))
        V = self.alpha * BR @ inverse
        for X, mean, u, w in zip(views, means, U, W, strict=True):
            V += project(X, (self.lam * u + self.beta * w) @ inverse, mean)
        return V

    def _rotation(self, B, V, R):
        """The minimiser of ||B - V R'||, or its transpose as printed."""
        if self.rotation == "printed":
            return procrustes(B.T @ V, R.T).T
        return procrustes(B.T @ V, R)

    def _codes(self, B, Q, P):
        """Eq. 18: the quadratic term in B is taken as constant."""
        return signs(Q)

    def _objective(self, solvers, Y, V, B, R, U, W, P, S):
        VV = V.T @ V
        squares = np.trace(VV)
        total = self.gamma * squared_norm(Y - B @ P.T)
        total += self.alpha * squared_norm(B - V @ R.T)
        total += self.mu * squares
        for solver, u, w, s in zip(solvers, U, W, S, strict=True):
            norm = np.trace(solver.gram)  # ||X_m||^2
            total += self.lam * (norm - 2 * np.sum(u * s) + np.sum((u.T @ u) * VV))
            # For the W of Eq. 21, beta ||V - X W||^2 + mu ||W||^2 = beta (||V||^2 - tr(W'X'V)).
            total += self.beta * (squares - np.sum(w * s))
            total += self.mu * np.sum(u * u)
        return total
