"""ALECH: codes from a label similarity and from labels that correct each other.

Minimises over a factor V, codes B, label correlations P and a classifier W

    ||V W' - Y P'||^2 + ||Y - Y P'||^2 + eta ( ||W||^2 + ||P||^2 )
    + alpha ||k S - V B'||^2 + beta ||B - V||^2
    subject to V'V = n I, V'1 = 0, B in {-1, +1}.

Y (n, c): labels; S = 2 G G' - 1 1' with G the labels in rows of unit norm; V, B (n, k); P (c, c);
W (c, k). Afterwards the hash functions F_m minimise

    ||k S - K_m F_m B'||^2 + lambda ||B - K_m F_m||^2

with K_m (n, a_m) the centred RBF features of random anchors.

Cost: an iteration reads labels and codes alone, O(n k (c + k)): S only ever meets a matrix of k
columns. The features are met at the beginning, for the principal directions that V starts from,
and at the end. Memory: K_m, V, B.

Deviations
----------
- Where the V-step is rank deficient, the released code fills up with random columns that are not
  orthogonal to the others; here they are.
- V starts from the principal directions of the last view's features, the text's, over all rows
  instead of a sample of 2000; bits beyond their rank start at random.
- The released code resets its random generator so that the text anchors never vary; here the
  seed governs them.
- K_m'K_m has no sharp rank, so that its pseudo-inverse depends on what counts as zero: in float64
  a part of a x 2.2e-16 of the largest eigenvalue, the usual default of pseudo-inverses. In float32
  it is 1.2e-8, one of five levels tried on Wiki at 16 bits, three of which agree with the
  reference figures; 1e-7 loses up to 0.06.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from hashbench import COUNT, NON_NEGATIVE, POSITIVE, LinearMethod, Log, Paper
from hashbench.linalg import (
    anchor_maps,
    cross_product,
    eigen,
    gram,
    pca,
    project,
    signs,
    squared_norm,
    stiefel,
    unit_rows,
)


class ALECH(LinearMethod):
    """Adaptive label correlation based asymmetric discrete hashing.

    Parameters
    ----------
    n_bits : int
    alpha : float
        Weight of the label similarity.
    beta : float
        Weight of the codes' closeness to the factor.
    eta : float
        Ridge of correlations and classifier, added to the diagonals of 2 Y'Y and V'V (sums over
        rows): no scale of the views in them. The original's value.
    lam : float
        lambda, the weight of the codes in the hash functions' regression.
    anchors, anchors_others : int
        Random training rows behind the RBF features of the first and of every other view.
    iterations : int
    random_state : int, Generator or None
    """

    name = "alech"
    title = "ALECH"
    space: ClassVar = {
        "alpha": Log(1e-6, 1),
        "beta": Log(1e-5, 1e1),
        "eta": Log(1e-6, 1),
        "lam": Log(1e1, 1e6),
    }
    allowed: ClassVar = {
        "alpha": NON_NEGATIVE, "beta": NON_NEGATIVE, "eta": NON_NEGATIVE, "lam": POSITIVE,
        "anchors": COUNT, "anchors_others": COUNT, "iterations": COUNT,
    }  # fmt: skip
    supervised = True
    discrete = True
    kernel = True
    paper = Paper(
        "H. Li, C. Zhang, X. Jia, Y. Gao, C. Chen",
        "Adaptive label correlation based asymmetric discrete hashing for cross-modal retrieval",
        "IEEE Transactions on Knowledge and Data Engineering",
        2021,
        fidelity="consistent",
    )

    def __init__(
        self,
        n_bits: int = 16,
        alpha: float = 1e-4,
        beta: float = 1e-3,
        eta: float = 1e-4,
        lam: float = 1e4,
        anchors: int = 500,
        anchors_others: int = 1000,
        iterations: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.alpha = alpha
        self.beta = beta
        self.eta = eta
        self.lam = lam
        self.anchors = anchors
        self.anchors_others = anchors_others
        self.iterations = iterations
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Learn codes and hash functions."""
        data = self.begin_fit(views, labels)
        views, Y, rng = data.views, data.labels, data.rng
        k = self.n_bits
        alpha, beta, eta = self.alpha, self.beta, self.eta
        G, YY = unit_rows(Y), Y.T @ Y
        counts = [self.anchors] + [self.anchors_others] * (len(views) - 1)
        self.maps_, K = anchor_maps(views, counts, rng)

        V = _principal(K[-1], k, rng)
        P = np.eye(Y.shape[1])
        W = _classifier(P, V, Y, self.lam)
        inverse = np.linalg.inv(2 * YY + eta * np.eye(len(YY)))
        for _ in range(self.iterations):
            B = signs(alpha * k * _similar(G, V) + beta * V)
            P = (W @ (V.T @ Y) + YY) @ inverse
            W = _classifier(P, V, Y, eta)
            Z = Y @ (P.T @ W) + beta * B + alpha * k * _similar(G, B)
            V = stiefel(Z, rng, eps=1e-4)
            self.record_objective(lambda: self._objective(Y, G, V, B, P, W))

        self.codes_ = B > 0
        self.projections_ = [self._hash_function(features, G, B) for features in K]
        return self

    def _hash_function(self, features, G, B):
        """F = (K'K)^+ (k K'S B + lambda K'B)(B'B + lambda I)^-1, since K'1 = 0."""
        k = self.n_bits
        system = B.T @ B + self.lam * np.eye(k)
        target = 2 * k * G @ (G.T @ B) + self.lam * B
        # The spectrum has no gap: what counts as zero is what rounding leaves of it.
        zero = max(features.shape[1] * np.finfo(float).eps, 0.1 * np.finfo(features.dtype).eps)
        values, vectors = eigen(gram(features))
        used = values > zero * values[0]
        values, vectors = values[used, None], vectors[:, used]
        solution = vectors @ (vectors.T @ cross_product(features, target) / values)
        return np.linalg.solve(system, solution.T).T

    def _objective(self, Y, G, V, B, P, W):
        k, n = self.n_bits, len(Y)
        YP = Y @ P.T
        total = squared_norm(V @ W.T - YP) + squared_norm(Y - YP)
        total += self.eta * (squared_norm(W) + squared_norm(P))
        total += self.beta * squared_norm(B - V)
        squares = 4 * squared_norm(G.T @ G) - 4 * squared_norm(G.sum(axis=0)) + n**2
        product = np.sum(V * _similar(G, B), dtype=np.float64)
        norm = np.sum((V.T @ V) * (B.T @ B), dtype=np.float64)
        return total + self.alpha * (k**2 * squares - 2 * k * product + norm)


def _similar(G, V):
    """S V = 2 G (G'V) - 1 (1'V)."""
    return G @ (2 * (G.T @ V)) - V.sum(axis=0)


def _classifier(P, V, Y, ridge):
    """W = P Y'V (V'V + ridge I)^-1."""
    system = V.T @ V + ridge * np.eye(V.shape[1])
    return np.linalg.solve(system, (P @ (Y.T @ V)).T).T


def _principal(features, k, rng):
    """Projections on the principal directions, random where there are fewer than k."""
    directions = pca(features, k)
    directions = directions[:, directions.any(axis=0)]
    V = rng.standard_normal((len(features), k))
    V[:, : directions.shape[1]] = project(features, directions)
    return V
