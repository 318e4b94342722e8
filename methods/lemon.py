"""LEMON: online hashing; chunks of items come one after another and old codes stay as they are.

For a new chunk, minimises over its factor V and codes B, and over a classifier P and a rotation R
that all chunks share,

    ||B - V R||^2 + beta (||Y - V P||^2 + gamma ||P||^2) + alpha ||k S - V B'||^2
    subject to V'V = n I, V'1 = 0 in each chunk, R'R = I, B in {-1, +1}

where the norms run over all items seen so far. Y (n, c): labels; S = 2 G G' - 1 1' with G the
labels in rows of unit norm; V, B (n, k); P (k, c); R (k, k). Afterwards the hash functions are
ridge regressions from the features of all items seen to their codes.

Cost: the past is present through sums of size c x k, k x k and d x d, so that a chunk of n items
costs O(n (c + k) k) per iteration and one pass over its features, however many came before. The
sums over features are computed in float64: rounding errors of float32 may exceed a small ridge, and
rows that are gone cannot be summed again. Memory: the chunk, the sums and the codes learned.

Since V'1 = 0, the constant part of S changes neither V (whose step removes column means) nor B: it
appears in no step.

Deviations
----------
- With gamma ||P||^2 instead of beta gamma ||P||^2, the minimiser P would have a ridge of
  gamma / beta. The released code solves with a ridge of gamma. So does this one, and the objective
  above is the one that this step minimises.
- Where the V-step is rank deficient, the released code fills up with random columns that are not
  orthogonal to the others; here they are.
- Where V'B is rank deficient, several rotations are best. R is the one nearest to the last R.
- The released demonstration takes chunks of 2000; the default here is the 500 that the figures
  this implementation is compared with were obtained with.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from hashbench import COUNT, NON_NEGATIVE, LinearMethod, Log, Paper
from hashbench.core.errors import HashbenchError
from hashbench.core.validation import check_labels, check_views
from hashbench.linalg import (
    Factor,
    cross_product,
    gram,
    procrustes,
    random_codes,
    random_rotation,
    signs,
    squared_norm,
    stiefel,
    unit_rows,
)


class LEMON(LinearMethod):
    """Label embedding online hashing.

    Parameters
    ----------
    n_bits : int
    alpha : float
        Weight of the label similarity.
    beta : float
        Weight of predicting the labels from the factor.
    gamma : float
        Ridge of the classifier, added to the diagonal of V'V.
    ridge_scatter : float
        Ridge of the hash functions, added to the diagonal of X_m'X_m (a sum over all items seen, so
        that it weighs less with more or longer rows). The original's value and scale.
    chunk_size : int
        Items learned from together; the last chunk takes the remainder too.
    iterations : int
        Of each chunk.
    random_state : int, Generator or None

    Attributes
    ----------
    objective_ : list of float
        Over the items seen so far: it falls within a chunk and rises where one begins.
    """

    name = "lemon"
    title = "LEMON"
    space: ClassVar = {
        "alpha": Log(1e1, 1e6),
        "beta": Log(1e1, 1e6),
        "gamma": Log(1e-3, 1e2),
        "ridge_scatter": Log(1e-3, 1e3),
    }
    allowed: ClassVar = {
        "alpha": NON_NEGATIVE, "beta": NON_NEGATIVE, "gamma": NON_NEGATIVE,
        "ridge_scatter": NON_NEGATIVE, "chunk_size": COUNT, "iterations": COUNT,
    }  # fmt: skip
    supervised = True
    discrete = True
    objective_note = "rows come in chunks; it begins anew with each, over all rows seen so far"
    paper = Paper(
        "Y. Wang, X. Luo, X.-S. Xu",
        "Label embedding online hashing for cross-modal retrieval",
        "ACM International Conference on Multimedia",
        2020,
        fidelity="consistent",
    )

    def __init__(
        self,
        n_bits: int = 16,
        alpha: float = 1e4,
        beta: float = 1e4,
        gamma: float = 0.1,
        ridge_scatter: float = 1.0,
        chunk_size: int = 500,
        iterations: int = 5,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.ridge_scatter = ridge_scatter
        self.chunk_size = chunk_size
        self.iterations = iterations
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Forget everything and learn codes and hash functions, chunk by chunk."""
        data = self.begin_fit(views, labels)
        views, Y, rng = data.views, data.labels, data.rng
        self._rng = rng
        self._past: dict[str, Any] = {}
        self._grams = [np.zeros((X.shape[1], X.shape[1])) for X in views]  # X_m'X_m
        self._products = [np.zeros((X.shape[1], self.n_bits)) for X in views]  # X_m'B
        self.codes_ = np.zeros((0, self.n_bits), bool)
        return self._learn(views, Y)

    def partial_fit(self, views: Any, labels: Any = None) -> Self:
        """Learn from further items; codes of earlier ones stay as they are.

        Parameters
        ----------
        views : list of (n, d_m) arrays
        labels : (n, c) array of 0 and 1
            The same classes as before.
        """
        if not hasattr(self, "codes_"):
            return self.fit(views, labels)
        views = check_views(views)
        found = [X.shape[1] for X in views]
        if found != self.n_features_in_:
            raise HashbenchError(f"views: found {found} columns; fit saw {self.n_features_in_}")
        Y = check_labels(labels, len(views[0]))
        classes = len(self._past["G1"])
        if Y.shape[1] != classes:
            raise HashbenchError(f"labels: found {Y.shape[1]} classes; fit saw {classes}")
        return self._learn(views, Y.astype(np.result_type(*views)))

    def _learn(self, views, Y):
        chunks = max(1, len(Y) // self.chunk_size)
        codes = []
        for chunk in range(chunks):
            stop = None if chunk == chunks - 1 else (chunk + 1) * self.chunk_size
            codes.append(self._chunk(Y[chunk * self.chunk_size : stop]))
        B = np.concatenate(codes)
        for X, G, S in zip(views, self._grams, self._products, strict=True):
            G += gram(X, dtype=np.float64)
            S += cross_product(X, B, dtype=np.float64)
        self.codes_ = np.concatenate([self.codes_, B > 0])
        self.projections_ = [
            Factor(G + self.ridge_scatter * np.eye(len(G))).solve(S)
            for G, S in zip(self._grams, self._products, strict=True)
        ]
        return self

    def _chunk(self, Y):
        """Return the codes of a chunk, and count it among the past."""
        n, k, dtype, rng = len(Y), self.n_bits, Y.dtype, self._rng
        G, ones = unit_rows(Y), np.ones((n, 1), dtype)
        past = self._past
        B = random_codes(rng, n, k)
        V = rng.standard_normal((n, k))
        R = random_rotation(k, rng)
        # H: sums over all items seen.
        H = _plus(past, YY=(Y, Y), GG=(G, G), G1=(G, ones), n=(ones, ones))
        H |= _plus(past, VV=(V, V), VY=(V, Y), GB=(G, B))
        for _ in range(self.iterations):
            P = np.linalg.solve(H["VV"] + self.gamma * np.eye(k), H["VY"])
            Z = B @ R.T + Y @ (self.beta * P.T)
            Z += G @ (2 * self.alpha * k * H["GB"])
            V = stiefel(Z, rng)
            H |= _plus(past, VV=(V, V), VY=(V, Y), GV=(G, V), VB=(V, B))
            R = procrustes(H["VB"], R)
            B = signs(G @ (2 * self.alpha * k * H["GV"]) + V @ R)
            H |= _plus(past, VB=(V, B), GB=(G, B), BB=(B, B))
            self.record_objective(lambda: self._objective(H, P, R))
        self._past = H
        return B

    def _objective(self, H, P, R):
        k, n = self.n_bits, H["n"].item()
        total = n * k + np.trace(H["VV"]) - 2 * np.sum(H["VB"] * R)
        total += self.beta * (np.trace(H["YY"]) - 2 * np.sum(P * H["VY"]))
        total += self.beta * (np.sum(P * (H["VV"] @ P)) + self.gamma * squared_norm(P))
        squares = 4 * squared_norm(H["GG"]) - 4 * squared_norm(H["G1"]) + n**2
        product = 2 * np.sum(H["GV"] * H["GB"])
        return total + self.alpha * (k**2 * squares - 2 * k * product + np.sum(H["VV"] * H["BB"]))


def _plus(past, **products):
    """Return sums over the past with products of a chunk added, each given as its two factors."""
    return {
        name: past.get(name, 0) + left.T.astype(np.float64) @ right
        for name, (left, right) in products.items()
    }
