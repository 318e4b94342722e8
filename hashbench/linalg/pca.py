"""Principal directions from the d x d scatter matrix: one pass over the rows."""

from __future__ import annotations

import numpy as np

from hashbench.base.validation import Matrix
from hashbench.linalg.ridge import gram
from hashbench.linalg.spectral import eigen


def pca(X: Matrix, k: int, mean: Matrix | None = None) -> Matrix:
    """Return the leading principal directions of the rows of X - 1 mean', (d, min(k, d)).

    Directions beyond the rank of the data are zero rather than rounding noise.
    """
    values, vectors = eigen(gram(X, mean))
    values, vectors = values[:k], vectors[:, :k]
    precision = np.finfo(X.dtype).eps * max(X.shape)
    return np.asarray(np.where(values > max(values[0], 0.0) * precision, vectors, 0.0))
