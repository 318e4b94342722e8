"""CMFH: collective matrix factorisation hashing.

Every pair of items has one latent vector, from which both views are reconstructed and which both
views predict:

    sum_m lambda_m ||X_m - V U_m'||^2 + mu sum_m ||V - X_m P_m||^2
    + gamma ( ||V||^2 + sum_m ||U_m||^2 + ||P_m||^2 ).

X_m (n, d_m): centred features; V (n, k): latent vectors; U_m, P_m (d_m, k): bases and hash
functions. The paper writes items as columns; here they are rows. A pair's learned code is sgn(V),
a query's is sgn(P_m'x).

Cost: one pass over the features for the Gram matrices X_l'X_m, one for X_m'V of the random start,
one for the codes at the end. Iterations read no features at all: after the first V-step V is
sum_m X_m C_m, so X_m'V and V'V follow from C and the Gram matrices, and so do the objective and
the stopping rule. In the eigenvectors of each X_m'X_m all of that is diagonal but for X_l'X_m,
l != m: O(k d_1 d_2) an iteration. Memory beyond the features: the Gram matrices and one V.

Deviations
----------
Three versions of the method are in use, and ``variant`` chooses.

- ``v1``, the authors' release of 2013 (default): penalises U by gamma and P by gamma, where the
  objective asks for gamma / lambda_m and gamma / mu. Its alternation is therefore not exactly a
  descent, and the objective may rise a little near the end.
- ``paper``: the minimisers of the objective above, which then never rises. About 0.01 better in
  mAP on Wiki.
- ``v2``, the authors' release of 2015: weights the prediction of each view by lambda_m too, and
  penalises U by gamma. A precedence slip makes its P smaller by the factor mu^2, which turns the
  prediction term into a mere ridge on V. Kept as released, because published figures come from it.

``v1`` and ``paper`` stop as the first release does: once the sum of the plain (not squared) norms
of all terms falls by less than ``tolerance``. The collapse of V onto the strongest shared
direction, which the large mu causes in the first iterations, takes some 25 iterations to undo on
Wiki and 150 on UCI digits: a fixed small number is not safe. ``v2`` runs 25 iterations as
released. With more than two views, the views after the first share the weight 1 - lambda.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from hashbench import Citation, HashbenchError, Linear, LinearMethod, Log
from hashbench.linalg import (
    column_means,
    cross_product,
    principal,
    project,
)

VERSIONS = ("v1", "paper", "v2")


class CMFH(LinearMethod):
    """Collective matrix factorisation hashing.

    Parameters
    ----------
    n_bits : int
    variant : {"v1", "paper", "v2"}
        Which penalties and weights the updates use; see the module's Deviations.
    lam : float
        lambda, the weight of reconstructing the first view; the others share 1 - lambda.
    mu : float
        Weight of predicting the latent vectors from each view.
    gamma : float
        Ridge: added to the diagonals of V'V and of X_m'X_m (sums over rows, so that it weighs less
        with more or longer rows). The paper's and the releases' value and scale.
    tolerance : float
        Stop when the sum of norms falls by less than this (not used by ``v2``).
    iterations : int or None
        At most this many; None stands for 25 with ``v2`` and 500 otherwise.
    random_state : int, Generator or None
    """

    name = "cmfh"
    title = "CMFH"
    space: ClassVar = {"lam": Linear(0.1, 0.9), "mu": Log(1, 1e4), "gamma": Log(1e-4, 1e1)}
    supervised = False
    fidelity = "verified"
    paper = Citation(
        "G. Ding, Y. Guo, J. Zhou",
        "Collective matrix factorization hashing for multimodal data",
        "CVPR",
        2014,
    )

    def __init__(
        self,
        n_bits: int = 16,
        variant: str = "v1",
        lam: float = 0.5,
        mu: float = 100.0,
        gamma: float = 0.01,
        tolerance: float = 0.01,
        iterations: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.variant = variant
        self.lam = lam
        self.mu = mu
        self.gamma = gamma
        self.tolerance = tolerance
        self.iterations = iterations
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Learn latent vectors and hash functions."""
        views, Y, rng = self.begin_fit(views, labels)
        if self.variant not in VERSIONS:
            raise HashbenchError(
                f"{self.name}: found variant {self.variant!r}; allowed: {', '.join(VERSIONS)}"
            )
        n, k, second = len(Y), self.n_bits, self.variant == "v2"
        rest = (1 - self.lam) / (len(views) - 1)
        weights = [self.lam] + [rest] * (len(views) - 1)  # lambda_m
        couplings = [self.mu * (w if second else 1.0) for w in weights]
        shrink = 1 / self.mu**2 if second else 1.0
        penalty = self.gamma / (1.0 if self.variant == "v1" else self.mu)
        means = column_means(views)
        E, values, G = _coordinates(views, means)
        inverses = [1 / (value + penalty) for value in values]

        V = rng.random((n, k), dtype=Y.dtype)
        S = [  # S_m = X_m'V
            e.T @ cross_product(X, V, mean) for e, X, mean in zip(E, views, means, strict=True)
        ]
        VV = V.T @ V
        P = [e.T @ rng.random((X.shape[1], k)) for e, X in zip(E, views, strict=True)]
        last = np.inf
        for _ in range(self.iterations or (25 if second else 500)):
            U = self._bases(weights, S, VV)
            C = self._coefficients(weights, couplings, U, P)
            S = _products(values, G, C)
            VV = sum(c.T @ s for c, s in zip(C, S, strict=True))
            P = [shrink * inverse * s for inverse, s in zip(inverses, S, strict=True)]
            factors, squares = self._terms(weights, couplings, values, U, P, S, VV)
            self.record(np.dot, factors, squares)
            norms = factors @ np.sqrt(squares)
            if not second and last - norms < self.tolerance:
                break
            last = norms

        C, P = ([e @ m for e, m in zip(E, parts, strict=True)] for parts in (C, P))
        shared: Any = sum([project(X, c) for X, c in zip(views, C, strict=True)])
        shift: Any = sum(mean @ c for mean, c in zip(means, C, strict=True))
        self.codes_ = shared - shift.astype(shared.dtype) >= 0
        self.means_, self.projections_ = means, P
        return self

    def _bases(self, weights, S, VV):
        """U_m = lambda_m X_m'V (lambda_m V'V + gamma I)^-1; the releases leave lambda_m out."""
        ridge = self.gamma * np.eye(self.n_bits)
        if self.variant != "paper":
            weights = [1.0] * len(S)
        # An inverse of k x k: solutions for d right-hand sides take twenty times as long.
        return [s @ (w * np.linalg.inv(w * VV + ridge)) for w, s in zip(weights, S, strict=True)]

    def _coefficients(self, weights, couplings, U, P):
        """C_m, with which the V-step is V = sum_m X_m C_m."""
        system = (sum(couplings) + self.gamma) * np.eye(self.n_bits)
        system += sum(w * u.T @ u for w, u in zip(weights, U, strict=True))
        inverse = np.linalg.inv(system)
        parts = zip(weights, U, couplings, P, strict=True)
        return [(w * u + mu * p) @ inverse for w, u, mu, p in parts]

    def _terms(self, weights, couplings, values, U, P, S, VV):
        """Return the factor and the squared norm of every term of the objective."""
        total = np.trace(VV)
        factors, squares = [self.gamma], [total]
        for w, mu, value, u, p, s in zip(weights, couplings, values, U, P, S, strict=True):
            error = value.sum() - 2 * np.sum(u * s) + np.sum((u.T @ u) * VV)
            gap = total - 2 * np.sum(p * s) + np.sum(value * p * p)
            factors += [w, mu, self.gamma, self.gamma]
            squares += [error, gap, np.sum(u * u), np.sum(p * p)]
        # Differences of nearly equal sums may come out a rounding error below zero.
        return np.array(factors), np.maximum(squares, 0.0)


def _coordinates(views, means):
    """Return the eigenvectors and eigenvalues of every X_m'X_m, and X_l'X_m in these coordinates.

    Eigenvectors of nothing are left out: no step leaves the space that the rows span.

    Returns
    -------
    E : list of (d_m, r_m)
    values : list of (r_m, 1)
    G : dict of (r_l, r_m) by (l, m), l < m
    """
    E, values = [], []
    for X, mean in zip(views, means, strict=True):
        value, vectors = principal(X, mean)
        keep = value > value.max(initial=0.0) * X.shape[1] * np.finfo(np.float64).eps
        E.append(vectors[:, keep])
        values.append(value[keep, None])
    G = {
        (l, m): E[l].T @ cross_product(views[l], views[m], means[l], means[m]) @ E[m]
        for m in range(len(views))
        for l in range(m)
    }
    return E, values, G


def _products(values, G, C):
    """Return X_m'V of every view for V = sum_m X_m C_m."""
    S = [value * c for value, c in zip(values, C, strict=True)]
    for (l, m), block in G.items():
        # The turned products read the large matrix as it lies, in two thirds of the time.
        S[l] += (C[m].T @ block.T).T
        S[m] += (C[l].T @ block).T
    return S
