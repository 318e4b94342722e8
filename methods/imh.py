"""IMH: inter-media hashing by one spectral problem over the items.

    min sum_m [ ||F_m - X_m W_m||^2 + beta ||W_m||^2 + lambda tr(F_m' L_m F_m) ]
        + u sum_{m<l} ||F_m - F_l||^2        subject to F'F = I

X_m (n, d_m): features; F_m (n, k): relaxed codes; W_m (d_m, k): hash functions; L_m: Laplacian of
the nearest-neighbour graph of view m (weights 1, symmetrised by the mean of both directions);
u: so large that the views of an item share their code. A bit is [x'w > median of the training
rows].

With H_m = X_m (X_m'X_m + beta I)^-1 X_m' the minimisers F are eigenvectors of
sum_m (I - H_m + lambda L_m) for its smallest eigenvalues, that is, the leading ones of
sum_m (H_m - lambda L_m): sparse plus low rank, so Lanczos needs products with vectors alone. Then
W_m = (X_m'X_m + beta I)^-1 X_m'F. No iterations of its own, no randomness beyond the sample.

Cost: the neighbours take n^2 d operations, so the spectral problem is solved on a sample of the
rows; there one factorisation per view, and two passes over the sample per product with a vector (or
one dense decomposition where the sample is small). One more pass over all rows finds the medians.

Deviations
----------
- u is infinite here. With the finite u = 10^4 of the authors' program and K = I - H + lambda L
  of the second view, the matrix of the eigenproblem differs by K^2 / u to first order, that is by
  some 10^-4, and takes n x n inverses to write down.
- The program takes eigenvectors 2 to k + 1. On features that are not centred, as its driver
  feeds them, the first is constant and says nothing; on centred ones it is the best of all.
  So ``centred`` and ``skip`` belong together: (False, 1) by default, or (True, 0).
- The program thresholds at the median of whatever batch is encoded, queries included: the code
  of a query then depends on the other queries. ``batch_thresholds`` does that; by default the
  medians are those of the training rows.
- Rows beyond ``max_rows`` are not looked at by the spectral problem: published comparisons do the
  same where the data are large.
- More bits than the features have dimensions would come from the graphs alone, whose
  eigenvectors no linear function predicts: those bits are constant, with a warning.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np
import scipy

from hashbench import COUNT, COUNT_OR_ZERO, NON_NEGATIVE, Integer, LinearMethod, Log, Paper
from hashbench.linalg import (
    Ridge,
    anchor_rows,
    column_means,
    eigen,
    neighbour_graph,
    upright,
)

DENSE_ROWS = 2000  # up to here one dense decomposition (32 MB) takes less time than Lanczos


class IMH(LinearMethod):
    """Inter-media hashing.

    Parameters
    ----------
    n_bits : int
    beta : float
        Ridge of the hash functions, added to the diagonal of X_m'X_m (a sum over rows). One of the
        values that the authors' program scans.
    lam : float
        lambda, the weight of the neighbourhoods within each view.
    neighbours : int
    centred : bool
        Take the training means off the features.
    skip : int
        Leading eigenvectors to leave out; see Deviations.
    max_rows : int
        Training rows that the spectral problem sees, at random; all where there are fewer.
    batch_thresholds : bool
        Threshold at the medians of the batch that is encoded; see Deviations.
    random_state : int, Generator or None
    """

    name = "imh"
    title = "IMH"
    space: ClassVar = {"beta": Log(1e-5, 1e1), "lam": Log(1e-5, 1e1), "neighbours": Integer(3, 30)}
    allowed: ClassVar = {
        "beta": NON_NEGATIVE, "lam": NON_NEGATIVE, "neighbours": COUNT, "skip": COUNT_OR_ZERO,
        "max_rows": COUNT,
    }  # fmt: skip
    supervised = False
    paper = Paper(
        "J. Song, Y. Yang, Y. Yang, Z. Huang, H. T. Shen",
        "Inter-media hashing for large-scale retrieval from heterogeneous data sources",
        "SIGMOD",
        2013,
        fidelity="differs",
        fidelity_note=(
            "queries are thresholded at training medians, not at their own; equivalent with "
            "batch_thresholds=true"
        ),
    )

    def __init__(
        self,
        n_bits: int = 16,
        beta: float = 1e-3,
        lam: float = 1e-3,
        neighbours: int = 10,
        centred: bool = False,
        skip: int = 1,
        max_rows: int = 5000,
        batch_thresholds: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.beta = beta
        self.lam = lam
        self.neighbours = neighbours
        self.centred = centred
        self.skip = skip
        self.max_rows = max_rows
        self.batch_thresholds = batch_thresholds
        self.random_state = random_state

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Solve the spectral problem and regress its solution."""
        data = self.begin_fit(views, labels)
        views, rng = data.views, data.rng
        rows = np.sort(anchor_rows(len(views[0]), self.max_rows, rng))
        sampled = [X[rows].astype(np.float64) for X in views]
        if self.centred:
            self.means_ = column_means(views)
            sampled = [X - mean for X, mean in zip(sampled, self.means_, strict=True)]
        solvers = [Ridge(X, self.beta) for X in sampled]
        laplacian = sum(_laplacian(X, self.neighbours) for X in sampled)

        def product(V):  # sum_m (H_m - lambda L_m) V
            return sum(s.X @ s.solve(V) for s in solvers) - self.lam * (laplacian @ V)

        def whole():  # the same for V = I, where X_m'V is X_m' and takes no pass
            eye = np.eye(len(rows))
            share = sum(s.X @ s.solve_products(s.X.T, eye) for s in solvers)
            return share - self.lam * laplacian.toarray()

        limit = sum(min(X.shape) for X in sampled)
        found = min(self.n_bits, max(0, min(limit, len(rows)) - self.skip))
        count = min(found + self.skip, len(rows))
        F = _leading(product, whole, len(rows), count, rng)[:, self.skip :]
        if found < self.n_bits:
            warnings.warn(
                f"{self.name}: the features determine {found} directions; "
                f"{self.n_bits - found} of {self.n_bits} bits are constant",
                stacklevel=2,
            )
        self.projections_ = [np.zeros((X.shape[1], self.n_bits)) for X in views]
        for W, solver in zip(self.projections_, solvers, strict=True):
            W[:, :found] = solver.solve(F)
        self.offsets_ = [-np.median(self.project(X, m), axis=0) for m, X in enumerate(views)]
        return self

    def project(self, X: Any, view: int) -> Any:
        """Return the (n, n_bits) real values whose signs are the codes."""
        values = super().project(X, view)
        return values - np.median(values, axis=0) if self.batch_thresholds else values

    def encode(self, X: Any, view: int) -> Any:
        """Return the (n, n_bits) codes of rows seen through one view."""
        return self.project(X, view) > 0


def _laplacian(X, neighbours):
    graph = neighbour_graph(X, neighbours)
    graph = (graph + graph.T) / 2
    return scipy.sparse.diags_array(graph.sum(axis=1)) - graph


def _leading(product, whole, n, count, rng):
    """Return the eigenvectors of the ``count`` largest eigenvalues, largest first, (n, count)."""
    width = 4 * count + 20  # a wide Krylov space: products cost more than its orthogonalisation
    if n <= max(width, DENSE_ROWS):
        return eigen(whole(), count)[1]
    operator = scipy.sparse.linalg.LinearOperator(
        (n, n), lambda v: product(v.reshape(-1, 1)).ravel(), dtype=np.float64
    )
    values, vectors = scipy.sparse.linalg.eigsh(
        operator, count, which="LA", ncv=width, tol=1e-8, v0=rng.standard_normal(n)
    )
    return upright(vectors[:, np.argsort(-values, kind="stable")])
