"""SePH: codes whose distances follow the label similarity as a distribution, then kernel logistic
regression for the hash functions.

First, real codes H minimise the divergence between two distributions over pairs of items

    sum_{i != j} P_ij log(P_ij / Q_ij) + a || |H| - 1 ||^2,    a = alpha / (k n),
    P_ij ~ g_i'g_j,    Q_ij ~ n_ij = 1 / (1 + ||h_i - h_j||^2 / 4),

with g_i the labels of item i at unit norm, H (n, k), by gradient descent with momentum and a gain
for every entry. The codes are the signs of H. Second, a logistic regression for every view and
bit learns them from the RBF kernel exp(-D / s) to some kernel points, s being the mean squared
distance between training rows.

A query's code comes from its own view. An item of which all views are known gets one code from
the posteriors p_v of its views and the bit's prior p, the sign of
prod p_v / p^(M-1) - prod (1 - p_v) / (1 - p)^(M-1): see ``encode_pairs``.

Cost: O(n^2 (k + c)) an iteration, which is why no more than ``max_rows`` random rows learn; but
no n x n array: similarities and distances are made in tiles that stay in cache, each serving its
rows and, by symmetry, its columns, for gradient and divergence at once. O(n (k + c)) memory
beside the kernels.

Deviations
----------
- As in the released code, the iterate kept is the one with the least penalty plus divergence of
  the iterate before it.
- The logistic regressions are solved by Newton's method to their optimum; the released code stops
  a quasi-Newton method short of it.
- Tiles are in float32, the sums over them in float64.
- Training rows that were not among the ``max_rows`` have the code of ``encode_pairs``.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np

from hashbench import Citation, LinearMethod
from hashbench.errors import HashbenchError, unknown
from hashbench.linalg import RBF, anchor_rows, mean_squared_distance, unit_rows
from hashbench.linalg.logistic import kernel_logistic
from hashbench.method import Bits
from hashbench.validation import check_views

TILE = 512  # rows and columns of a tile: four of them in float32 stay in cache
STEP, MOMENTUM = 500.0, 0.5


class SePH(LinearMethod):
    """Semantics-preserving hashing.

    Parameters
    ----------
    n_bits : int
    alpha : float
        Weight of the codes' closeness to -1 and +1, before division by bits and rows.
    points : int
        Kernel points of each view.
    points_by : "kmeans" or "random"
        Centroids of each view, or the same random training rows in every view.
    penalty : float
        Of the logistic regressions.
    max_rows : int
        Random training rows that codes and hash functions are learned from, where there are more.
    iterations : int
        Of the gradient descent.
    random_state : int, Generator or None

    Attributes
    ----------
    log_priors_ : (n_bits,) array
        Logarithm of how many times more +1 than -1 a bit has in the codes learned.
    """

    name = "seph"
    title = "SePH"
    supervised = True
    kernel = True
    scalable = False
    fidelity = "verified"
    paper = Citation(
        "Z. Lin, G. Ding, M. Hu, J. Wang",
        "Semantics-preserving hashing for cross-view retrieval",
        "IEEE Conference on Computer Vision and Pattern Recognition",
        2015,
    )

    log_priors_: np.ndarray

    def __init__(
        self,
        n_bits: int = 16,
        alpha: float = 0.01,
        points: int = 500,
        points_by: str = "kmeans",
        penalty: float = 0.01,
        max_rows: int = 5000,
        iterations: int = 100,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.alpha = alpha
        self.points = points
        self.points_by = points_by
        self.penalty = penalty
        self.max_rows = max_rows
        self.iterations = iterations
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Learn codes and hash functions."""
        views, Y, rng = self.begin_fit(views, labels)
        if self.points_by not in ("kmeans", "random"):
            raise unknown("points_by of seph", self.points_by, ["kmeans", "random"])
        n = len(Y)
        rows = np.sort(anchor_rows(n, self.max_rows, rng))
        learning = views if len(rows) == n else [X[rows] for X in views]

        T = np.where(self._codes(Y[rows], rng) >= 0, 1.0, -1.0)
        shared = np.sort(anchor_rows(len(rows), self.points, rng))
        self.maps_, self.projections_ = [], []
        for X in learning:
            centres = X[shared] if self.points_by == "random" else _centroids(X, self.points, rng)
            phi = RBF(centres, mean_squared_distance(X), centred=False)
            K = phi.fit_transform(X)
            W = kernel_logistic(K, phi.transform(centres), T, self.penalty)
            self.maps_.append(phi)
            self.projections_.append(W)

        # A bit that is the same in all rows has no finite prior: half a row is lent to it.
        positive = np.clip((T > 0).mean(axis=0), 0.5 / len(T), 1 - 0.5 / len(T))
        self.log_priors_ = np.log(positive / (1 - positive))
        self.codes_ = self.encode_pairs(views) if len(rows) < n else np.empty(T.shape, bool)
        self.codes_[rows] = T > 0
        return self

    def _codes(self, Y, rng):
        """Return real codes H, (n, k)."""
        n, k = len(Y), self.n_bits
        G, a = unit_rows(Y.astype(np.float32)), self.alpha / (k * n)
        H = 1e-4 * rng.standard_normal((n, k))
        gains, increment = np.ones((n, k)), np.zeros((n, k))
        best, least = H, np.inf
        for _ in range(self.iterations):
            gradient, divergence = _divergence(G, H)
            self.record(lambda: divergence + a * np.square(np.abs(H) - 1).sum())  # noqa: B023
            gradient += 2 * a * (np.abs(H) - 1) * np.sign(H)
            turned = np.sign(gradient) != np.sign(increment)
            gains = np.maximum(np.where(turned, gains + 0.2, gains * 0.8), 0.01)
            increment = MOMENTUM * increment - STEP * gains * gradient
            H = H + increment
            H -= H.mean(axis=0)
            cost = divergence + a * np.square(np.abs(H) - 1).sum()
            if cost < least:
                best, least = H, cost
        return best

    def encode_pairs(self, views: Any) -> Bits:
        """Return the (n, n_bits) codes of items of which every view is known.

        Parameters
        ----------
        views : list of (n, d_m) arrays
            As many as ``fit`` saw.
        """
        views = check_views(views)
        if len(views) != len(self.projections_):
            raise HashbenchError(
                f"seph: found {len(views)} views; fit saw {len(self.projections_)}"
            )
        # The value of a logistic regression is the logarithm of the odds p_v / (1 - p_v).
        odds = sum(self.project(X, view).astype(np.float64) for view, X in enumerate(views))
        return np.asarray(odds >= (len(views) - 1) * self.log_priors_)


def _divergence(G, H):
    """Return the gradient, (n, k), of the divergence between P and Q at H, and its value.

    With N = sum n_ij and S = sum g_i'g_j over pairs, the gradient of row i is
    sum_j (g_i'g_j / S - n_ij / N) n_ij (h_i - h_j), and the value is the entropy term of P, minus
    sum_ij P_ij log n_ij, plus log N. A pair of an item with itself adds nothing to either but its
    n_ii = 1 to N, which is taken off.
    """
    n = len(H)
    # A last column of ones makes every product with H bring the row sums along.
    rows = np.hstack([H, np.ones((n, 1))]).astype(np.float32)
    X, squares = rows[:, :-1], np.square(H).sum(axis=1).astype(np.float32)
    pull, push = np.zeros(rows.shape), np.zeros(rows.shape)
    total = entropy = logs = 0.0
    for first in range(0, n, TILE):
        I = slice(first, first + TILE)
        for second in range(first, n, TILE):
            J = slice(second, second + TILE)
            twice = 1 if first == second else 2
            P = G[I] @ G[J].T
            N = X[I] @ (X[J].T * np.float32(-0.5))
            N += 0.25 * squares[I, None] + 1
            N += 0.25 * squares[J]
            np.reciprocal(N, out=N)
            total += twice * float(N.sum(dtype=np.float64))
            logs += twice * float(np.vdot(P, np.log(N)))
            P *= N
            N *= N
            pull[I] += P @ rows[J]
            push[I] += N @ rows[J]
            if first != second:
                pull[J] += P.T @ rows[I]
                push[J] += N.T @ rows[I]
    # sum over pairs of P is sum_ij g_i'g_j without the items themselves.
    S = max(float(np.square(G.sum(axis=0, dtype=np.float64)).sum() - np.square(G).sum()), 1e-300)
    N_total = max(total - n, 1e-300)
    gradient = (H * pull[:, -1:] - pull[:, :-1]) / S - (H * push[:, -1:] - push[:, :-1]) / N_total
    return gradient, entropy - logs / S + np.log(N_total)


def _centroids(X, count, rng):
    from sklearn.cluster import KMeans

    model = KMeans(
        min(count, len(X)),
        init="random",
        n_init=1,
        max_iter=100,
        random_state=int(rng.integers(2**31)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer distinct rows than centroids do no harm
        return model.fit(X).cluster_centers_
