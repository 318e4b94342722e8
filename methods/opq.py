"""OPQ: product quantisation after the rotation that makes its error small.

    min || Z R - V ||^2,   R'R = I,   V_j = B_j C_j for every part j of the columns

as in :mod:`hashbench.methods.pq`, with a rotation R (c, c) of each view. An iteration: R = the
Procrustes rotation from Z to V; then one step of k-means per part, from the codebooks of the
iteration before. No step raises the objective. The first R is the identity, so that the first
codebooks and the first value are those of PQ.

Cost: that of PQ, and two passes over (n, c) rows per iteration.

Deviations
----------
- This is the paper's non-parametric solution; the paper also begins it from the parametric one.
- The objective is the sum over views, which have nothing in common.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from hashbench import COUNT, Log, Paper
from hashbench.linalg import kmeans, procrustes, squared_norm
from hashbench.methods.pq import PQ, quantised


class OPQ(PQ):
    """Optimised product quantisation of regressed labels, compared with real queries.

    Parameters
    ----------
    n_bits : int
    ridge : float
        Penalty of the regression, relative to the mean eigenvalue of the scatter matrix.
    iterations : int
    random_state : int, Generator or None

    Attributes
    ----------
    codebooks_ : list of lists of (words, c_j) arrays
        Those of each view.
    rotations_ : list of (c, c) arrays
    """

    name = "opq"
    title = "OPQ"
    space: ClassVar = {"ridge": Log(1e-4, 1e2)}
    allowed: ClassVar = {"iterations": COUNT}
    supervised = True
    paper = Paper(
        "T. Ge, K. He, Q. Ke, J. Sun",
        "Optimized product quantization for approximate nearest neighbor search",
        "CVPR",
        2013,
        fidelity="paper only",
        fidelity_note="quantises regressed labels instead of image descriptors",
    )

    def __init__(
        self,
        n_bits: int = 16,
        ridge: float = 0.1,
        iterations: int = 20,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_bits, ridge, random_state)
        self.iterations = iterations

    def fit(self, views: Any, labels: Any = None) -> Self:
        """Regress, and learn rotation and codebooks of every view."""
        data = self.begin_fit(views, labels)
        self._regress(data)
        Z = [self._unit_rows(X, view) for view, X in enumerate(data.views)]
        C = [self._first_codebooks(z, data.rng) for z in Z]
        R: list[Any] = [np.eye(z.shape[1]) for z in Z]
        for _ in range(self.iterations):
            V = [quantised(z @ r, c) for z, r, c in zip(Z, R, C, strict=True)]
            self.record_objective(lambda: _objective(Z, R, V))
            R = [procrustes(z.T @ v, r) for z, v, r in zip(Z, V, R, strict=True)]
            C = [_step(z @ r, c) for z, r, c in zip(Z, R, C, strict=True)]
        self.codebooks_, self.rotations_ = C, R
        return self

    def _unit_rows(self, X, view):
        Z = super()._unit_rows(X, view)
        return Z @ self.rotations_[view].astype(Z.dtype) if hasattr(self, "rotations_") else Z


def _objective(Z, R, V):
    """sum over views of ||Z R - V||^2."""
    return sum(squared_norm(z @ r - v) for z, r, v in zip(Z, R, V, strict=True))


def _step(Z, books):
    """Return the codebooks after one step of k-means."""
    parts = np.array_split(Z, len(books), axis=1)
    return [kmeans(part, C, iterations=1) for part, C in zip(parts, books, strict=True)]
