"""LSSH: latent semantic sparse hashing, sparse codes of images tied to latent factors of texts.

    min ||X - S B||^2 + rho |S|_1 + mu sum_m ||T_m - A U_m||^2 + gamma ||A - S R||^2
    with no row of B, U_m, R longer than 1.

X (n, p): images; B (atoms, p): dictionary; S (n, atoms): sparse codes; T_m (n, q_m): texts;
U_m (k, q_m): bases; A (n, k): latent vectors, whose signs are a pair's code; R (atoms, k): link.
The paper writes items as columns; here they are rows.

In turn: A in closed form; U_m by least squares with bounded rows; S by a lasso on the stacked
dictionary [B, sqrt(gamma) R]; B and R by least squares with bounded rows. An image is encoded by
a lasso on B and sgn(s R), a text by sgn(t U'(U U' + gamma / mu I)^-1).

Before that every view is centred; images are reduced to ``components`` principal components; rows
of both are scaled to unit norm.

Cost: one pass over the images for their scatter matrix. At most ``max_rows`` training rows learn
the dictionary: 30 proximal steps per iteration, each of two products with the dictionary for all
rows together, in float32; that is nearly all of the time. One pass over the views and one more
lasso give the codes of all training rows. Memory beyond the features: S of ``max_rows`` rows.
Encoding an image costs a lasso, too.

Deviations
----------
- As in the authors' code, rho is a fraction of the smallest weight that would make a row of S
  zero, different for every row, and a lasso is 30 steps from zero, which is not convergence. So
  the objective, which is recorded as printed, need not fall.
- As in the authors' code, a text's hash function is the ridge form above, not the pseudo-inverse
  of U, and the codes of training pairs are the signs of A computed from S of B alone:
  (gamma / mu S R + sum_m T_m U_m')(sum_m U_m U_m' + gamma / mu I)^-1.
- Their line search meets an exact tie in its first step, which rounding decides: it doubles the
  bound of some rows and not of others. Here a tie always doubles it, so that a code does not
  depend on the rows that it is computed with.
- They solve the bounded least squares through the dual; here projected gradients find the same
  minimum.
- The defaults are the authors' settings for LabelMe. They fix the seed of the random start; here
  it varies with ``random_state``.
- With more than two views, those after the first are all treated as texts, with one A.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from hashbench import COUNT, POSITIVE, Bounds, Linear, Log, Method, Paper
from hashbench.core.validation import BLOCK_ROWS
from hashbench.linalg import (
    bounded_basis,
    column_means,
    lasso,
    pca,
    project,
    row_blocks,
    squared_norm,
    unit_rows,
)


class LSSH(Method):
    """Latent semantic sparse hashing.

    Parameters
    ----------
    n_bits : int
    mu : float
        Weight of reconstructing the texts.
    rho : float
        Weight of the sparse codes' l1 norm, as a fraction of the largest that makes sense.
    gamma : float
        Weight of the link between sparse codes and latent vectors.
    atoms : int
        Size of the dictionary.
    components : int
        Principal components of the images.
    iterations : int
    max_rows : int
        At most this many training rows, drawn at random, learn the dictionary.
    random_state : int, Generator or None
    """

    name = "lssh"
    title = "LSSH"
    space: ClassVar = {"mu": Linear(0.1, 0.9), "rho": Log(1e-2, 1), "gamma": Log(1e-2, 1e2)}
    allowed: ClassVar = {
        "mu": POSITIVE, "rho": Bounds(gt=0, le=1), "gamma": POSITIVE, "atoms": COUNT,
        "components": COUNT, "iterations": COUNT, "max_rows": COUNT,
    }  # fmt: skip
    supervised = False
    compiled = True
    paper = Paper(
        "J. Zhou, G. Ding, Y. Guo",
        "Latent semantic sparse hashing for cross-modal similarity search",
        "SIGIR",
        2014,
        fidelity="consistent",
    )

    def __init__(
        self,
        n_bits: int = 16,
        mu: float = 0.5,
        rho: float = 0.2,
        gamma: float = 1.0,
        atoms: int = 512,
        components: int = 64,
        iterations: int = 20,
        max_rows: int = 5000,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.mu = mu
        self.rho = rho
        self.gamma = gamma
        self.atoms = atoms
        self.components = components
        self.iterations = iterations
        self.max_rows = max_rows
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Learn dictionary, bases and link."""
        data = self.begin_fit(views, labels)
        views, rng = data.views, data.rng
        n, k = data.n, self.n_bits
        self.means_ = column_means(views)
        self.components_ = pca(views[0], self.components, self.means_[0])
        rows = (
            np.sort(rng.choice(n, self.max_rows, replace=False))
            if n > self.max_rows
            else slice(None)
        )
        X, *T = (self._features(V[rows], m) for m, V in enumerate(views))
        U = [rng.standard_normal((k, t.shape[1])) for t in T]
        B = rng.standard_normal((self.atoms, X.shape[1]))
        R = rng.standard_normal((self.atoms, k))

        S = lasso(B, X, self.rho)
        for _ in range(self.iterations):
            A = self._latent(S @ R, T, U)
            AA = A.T @ A
            U = [bounded_basis(A.T @ t, AA, u) for t, u in zip(T, U, strict=True)]
            weight = np.sqrt(self.gamma).astype(A.dtype)
            S = lasso(np.hstack([B, weight * R]), np.hstack([X, weight * A]), self.rho)
            SS = S.T @ S
            B = bounded_basis(S.T @ X, SS, B)
            R = bounded_basis(S.T @ A, SS, R)
            self.record_objective(lambda: self._objective(X, T, S, A, B, U, R))

        self.dictionary_, self.link_, self.bases_ = B, R, U
        self.codes_ = np.empty((n, k), bool)
        for rows in row_blocks(n, BLOCK_ROWS):
            X, *T = (self._features(V[rows], m) for m, V in enumerate(views))
            self.codes_[rows] = self._latent(self._linked(X), T, U) >= 0
        return self

    def encode(self, X: Any, view: Any) -> np.ndarray:
        """Return the (n, n_bits) codes of rows seen through one view."""
        X, view = self.check_encode(X, view)
        codes = np.empty((len(X), self.n_bits), bool)
        for rows in row_blocks(len(X), BLOCK_ROWS):
            F = self._features(X[rows], view)
            if view == 0:
                codes[rows] = self._linked(F) >= 0
            else:
                codes[rows] = self._latent(0, [F], [self.bases_[view - 1]]) >= 0
        return codes

    def _features(self, X, view):
        """Return rows centred, reduced if they are images, and of unit norm, in float32."""
        X = X - self.means_[view].astype(X.dtype)
        if view == 0:
            X = project(X, self.components_)
        return unit_rows(X).astype(np.float32)

    def _linked(self, X):
        """Return S R with the sparse codes S of images alone."""
        return lasso(self.dictionary_, X, self.rho) @ self.link_

    def _latent(self, linked, T, U):
        """A = (gamma / mu S R + sum_m T_m U_m')(sum_m U_m U_m' + gamma / mu I)^-1."""
        ratio = self.gamma / self.mu
        inverse = np.linalg.inv(sum(u @ u.T for u in U) + ratio * np.eye(self.n_bits))
        right = sum(t @ u.T for t, u in zip(T, U, strict=True)) + ratio * linked
        return right @ inverse

    def _objective(self, X, T, S, A, B, U, R):
        texts = sum(squared_norm(t - A @ u) for t, u in zip(T, U, strict=True))
        return (
            squared_norm(X - S @ B)
            + self.rho * np.abs(S).sum()
            + self.mu * texts
            + self.gamma * squared_norm(A - S @ R)
        )
