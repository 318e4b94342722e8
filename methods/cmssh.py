"""CMSSH: boosted pairs of linear hash functions that agree on like items and differ on others.

Bit t is sgn(p_t'x + a_t) for an image and sgn(q_t'y + b_t) for a text. Over weighted pairs (x, y)
with s = +1 where the two share a class and s = -1 where they do not, AdaBoost finds one bit after
another: each maximises the agreement

    r_t = sum_pairs w s sgn(p_t'x + a_t) sgn(q_t'y + b_t),

and pairs that it gets wrong weigh more for the next: w <- w exp(-alpha_t s xi_t eta_t), where
xi_t, eta_t are the two bits and alpha_t = log((1 + r_t) / (1 - r_t)) / 2. Directions come from
the relaxation without signs: the leading singular vectors of the weighted covariance
C = sum w s (x - mean)(y - mean)'. Then a_t and b_t are searched for exactly, one given the other.

The objective is the mean exponential loss over the pairs, which boosting lowers with every bit.

Cost: pairs are the entries of a sparse matrix Omega, rows of X and Y that are in no pair are left
out, and C is never formed: a bit costs some tens of products C Q = X'(Omega (Y Q)) with few columns
Q, each one pass over those rows, and a few sorts of their projections for the thresholds. Memory:
the rows in pairs.

Deviations
----------
- No code was released, and the number of pairs and their drawing are not known: half are drawn
  from items with a class in common and half from items with none.
- A threshold lies between two projections, so that no bit is constant on the training pairs.
- The weights alpha_t serve the boosting alone: codes are compared by plain Hamming distance.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import scipy

from hashbench import Bounds, Integer, LinearMethod, Paper
from hashbench.core.errors import DeclinedError
from hashbench.linalg import (
    project,
    signs,
    singular,
    turns,
)

SEARCHES = 5  # of one threshold given the other; they settle after two or three
SUBSPACE, POWERS = 8, 30  # columns and iterations, at most, that a singular vector is sought with


class CMSSH(LinearMethod):
    """Cross-modality similarity-sensitive hashing.

    Parameters
    ----------
    n_bits : int
    pairs : int
        Pairs to draw; half with a class in common.
    random_state : int, Generator or None
    """

    name = "cmssh"
    title = "CMSSH"
    space: ClassVar = {"pairs": Integer(5000, 40000)}
    allowed: ClassVar = {"pairs": Bounds(ge=2, whole=True)}
    supervised = True
    paper = Paper(
        "M. M. Bronstein, A. M. Bronstein, F. Michel, N. Paragios",
        "Data fusion through cross-modality metric learning using similarity-sensitive hashing",
        "IEEE Conference on Computer Vision and Pattern Recognition",
        2010,
        fidelity="paper only",
        fidelity_note=(
            "The algorithm follows the paper and is well determined; how many pairs are drawn, and "
            "how, is inferred."
        ),
    )

    def __init__(self, n_bits: int = 16, pairs: int = 20_000, random_state: Any = None) -> None:
        self.n_bits = n_bits
        self.pairs = pairs
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Learn the hash functions, bit by bit."""
        data = self.begin_fit(views, labels)
        views, Y, rng = data.views, data.labels, data.rng
        if len(views) != 2:
            raise DeclinedError(f"cmssh: found {len(views)} views; pairs are of exactly two")
        first, second, s = _draw_pairs(Y, self.pairs, rng)
        X, i, mean_x = _rows_in_pairs(views[0], first)
        T, j, mean_t = _rows_in_pairs(views[1], second)

        w, loss = np.full(len(s), 1 / len(s)), 1.0
        self.projections_ = [np.zeros((V.shape[1], self.n_bits)) for V in (X, T)]
        self.offsets_ = [np.zeros(self.n_bits) for _ in (X, T)]
        for bit in range(self.n_bits):
            Omega = scipy.sparse.csr_matrix((w * s, (i, j)), shape=(len(X), len(T)))
            means = [_sum(np.bincount(rows, w, len(V)), V) for V, rows in ((X, i), (T, j))]
            p, q = _leading(X, T, Omega, means, rng)
            u, v = project(X, p), project(T, q)
            a, b, r = _thresholds(u, v, Omega, means[0] @ p, means[1] @ q)
            if r < 0:
                q, v, b, r = -q, -v, -b, -r
            for view, (direction, offset) in enumerate(((p, a), (q, b))):
                self.projections_[view][:, bit], self.offsets_[view][bit] = direction, offset
            r = min(r, 1 - 1e-10)
            alpha = 0.5 * np.log((1 + r) / (1 - r))
            w = w * np.exp(-alpha * s * signs(u + a)[i] * signs(v + b)[j])
            loss *= w.sum()
            w /= w.sum()
            self.record_objective(loss)
        self.means_ = [mean_x, mean_t]
        return self


def _draw_pairs(Y, count, rng):
    """Return (i, j, s): half the pairs share a class, half do not, as far as there are any."""
    n, half = len(Y), max(1, count // 2)
    by_item, by_class = scipy.sparse.csr_matrix(Y), scipy.sparse.csc_matrix(Y)
    i = rng.integers(n, size=half)
    labelled = np.diff(by_item.indptr)[i] > 0
    c = _random_member(by_item, i[labelled], rng)
    j = i.copy()  # an item without a class is like itself alone
    j[labelled] = _random_member(by_class, c, rng)
    others = [rng.integers(n, size=(2, 0))]
    for _ in range(20):  # rejection: nearly all pairs may share a class
        drawn = rng.integers(n, size=(2, half))
        others.append(drawn[:, np.einsum("ij,ij->i", Y[drawn[0]], Y[drawn[1]]) == 0])
        if sum(pairs.shape[1] for pairs in others) >= half:
            break
    k, l = np.hstack(others)[:, :half]
    k, l = k[k != l], l[k != l]  # an item without a class does not differ from itself
    s = np.concatenate([np.ones(len(i)), -np.ones(len(k))])
    return np.concatenate([i, k]), np.concatenate([j, l]), s


def _random_member(M, rows, rng):
    """Return a random nonzero position of each of the rows (columns, in CSC) of a sparse matrix."""
    start, stop = M.indptr[rows], M.indptr[rows + 1]
    return M.indices[start + (rng.random(len(rows)) * (stop - start)).astype(np.intp)]


def _rows_in_pairs(X, rows):
    """Return the rows of X that are in pairs, centred, where they stand now, and their mean."""
    used, where = np.unique(rows, return_inverse=True)
    X = X[used]  # a copy
    mean = X.mean(axis=0, dtype=np.float64)
    X -= mean.astype(X.dtype)
    return X, where, mean


def _leading(X, T, Omega, means, rng):
    """Return the leading left and right singular vectors of C by subspace iteration."""
    mx, mt = means
    Q = np.linalg.qr(rng.standard_normal((T.shape[1], min(SUBSPACE, X.shape[1], T.shape[1]))))[0]
    strength = 0.0
    for _ in range(POWERS):
        P = np.linalg.qr(_covary(Omega, X, mx, T, mt, Q))[0]
        # C is P (C'P)' as far as the subspace reaches.
        left, values, right = singular(_covary(Omega.T, T, mt, X, mx, P).T)
        if values[0] - strength <= 1e-4 * values[0]:
            break
        strength, Q = values[0], right.T
    p, turn = P @ left[:, :1], turns(P @ left[:, :1])
    return (p * turn)[:, 0], right[0] * turn


def _covary(Omega, X, mx, T, mt, Q):
    """C Q = (X - 1 mx')' Omega (T - 1 mt') Q, (d, b), the rows in their own precision."""
    Z = Omega @ (T @ Q - mt @ Q)
    return X.T @ Z.astype(X.dtype) - np.outer(mx, Z.sum(axis=0))


def _sum(weights, X):
    """The weighted sum of the rows of X, without a copy of X in another precision."""
    return (weights.astype(X.dtype) @ X).astype(np.float64)


def _thresholds(u, v, Omega, mean_u, mean_v):
    """Return a, b and the agreement r that alternating exact searches find."""
    a, b, r = -float(mean_u), -float(mean_v), 0.0
    for _ in range(SEARCHES):
        a, _ = _search(u, Omega @ signs(v + b))
        b, new = _search(v, Omega.T @ signs(u + a))
        if abs(new - r) < 1e-12:
            break
        r = new
    return a, b, float(signs(u + a) @ (Omega @ signs(v + b)))


def _search(u, c):
    """Return the offset a, and the value, that make |sum_i c_i sgn(u_i + a)| largest."""
    order = np.argsort(u, kind="stable")
    sorted_u, below = u[order].astype(np.float64), np.cumsum(c[order])
    # Between two different neighbours: those below count negatively, the others positively.
    # Equal rows may have projections that differ by rounding errors; no threshold separates them.
    rounding = 32 * np.finfo(u.dtype).eps * np.abs(sorted_u[[0, -1]]).max()
    gaps = np.flatnonzero(np.diff(sorted_u) > rounding)
    if not len(gaps):
        return 0.0, float(c.sum())
    values = below[-1] - 2 * below[gaps]
    best = gaps[np.argmax(np.abs(values))]
    return -(sorted_u[best] + sorted_u[best + 1]) / 2, float(values[np.argmax(np.abs(values))])
