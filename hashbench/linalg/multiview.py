"""Directions along which any number of views agree, from their scatter matrices.

For two views this is canonical correlation analysis. For more, every pair of views counts: with
whitening M_m (M_m'(C_mm + ridge I) M_m = I) and a_m = M_m u_m,

    max sum_{m != l} a_m' C_ml a_l   subject to   sum_m a_m'(C_mm + ridge I) a_m = number of views

is the symmetric eigenproblem of the blocks M_m' C_ml M_l with zero blocks on the diagonal. For
two views its eigenvalues are plus and minus the canonical correlations, so both forms agree.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hashbench.core.validation import Matrix
from hashbench.linalg.cca import cca, scatter_whitening
from hashbench.linalg.products import cross_product
from hashbench.linalg.spectral import eigen, turns


def correlated_directions(
    views: Sequence[Matrix],
    k: int,
    means: Sequence[Matrix],
    whiteners: Sequence[Matrix],
) -> tuple[list[Matrix], Matrix]:
    """Return k directions per view, strongest agreement first, and their correlations.

    One pass over the rows for each pair of views.

    Parameters
    ----------
    views : list of (n, d_m)
    k : int
    means : list of (d_m,)
        Subtracted from the rows without copying them.
    whiteners : list of (d_m, r_m)
        M_m, see :func:`~hashbench.linalg.scatter_whitening`; the ridge is part of them.

    Returns
    -------
    directions : list of (d_m, k) in float64
        Columns beyond the number of correlated directions are zero: they would only be rounding
        errors.
    correlations : (k,)
        Mean over the pairs of views; zero for the zero columns.
    """
    M = whiteners
    if len(views) == 2:
        pair = (means[0], means[1])
        found = cca(views[0], views[1], k, means=pair, whiteners=(M[0], M[1]))
        return [found.left, found.right], found.correlations
    edges = np.cumsum([0] + [m.shape[1] for m in M])
    blocks = np.zeros((edges[-1], edges[-1]))
    for i in range(len(views)):
        for j in range(i):
            C = cross_product(views[i], views[j], means[i], means[j])
            blocks[edges[i] : edges[i + 1], edges[j] : edges[j + 1]] = M[i].T @ C @ M[j]
    wanted = min(k, int(edges[-1]))
    values, vectors = eigen(blocks, wanted)
    values = values / (len(views) - 1)
    vectors = vectors * np.sqrt(len(views))
    precision = max(float(np.finfo(X.dtype).eps) * max(X.shape) for X in views)
    rank = int((values > values.max(initial=0.0) * precision).sum())
    correlations = np.zeros(k)
    correlations[:rank] = values[:rank]
    directions: list[Matrix] = []
    for m, start, stop in zip(M, edges[:-1], edges[1:], strict=True):
        padded = np.zeros((m.shape[0], k))
        padded[:, :rank] = m @ vectors[start:stop, :rank]
        directions.append(padded)
    turn = turns(directions[0])
    return [a * turn for a in directions], correlations


def noise_directions(
    X: Matrix, count: int, ridge: float, mean: Matrix, rng: np.random.Generator
) -> Matrix:
    """Return (d, count) random directions of one view, a'(C + ridge I) a = 1, C its scatter.

    Solvers return such directions beyond the rank of the data, where only rounding errors decide:
    as long as canonical ones, but unrelated to the directions of another view. One pass over X.
    """
    M = scatter_whitening(X, mean, ridge)
    U = rng.standard_normal((M.shape[1], count))
    return np.asarray(M @ (U / np.maximum(np.linalg.norm(U, axis=0), np.finfo(float).tiny)))
