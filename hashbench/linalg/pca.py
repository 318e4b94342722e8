"""Principal directions from the d x d scatter matrix: one pass over the rows."""

from __future__ import annotations

import numpy as np

from hashbench.base.validation import Matrix
from hashbench.linalg.ridge import gram


def pca(X: Matrix, k: int, mean: Matrix | None = None) -> Matrix:
    """Return the leading principal directions of the rows of X - 1 mean', (d, min(k, d)).

    Directions beyond the rank of the data are zero rather than rounding noise. The largest entry
    of each direction is positive, so that the result does not depend on the linear algebra
    library.
    """
    values, vectors = np.linalg.eigh(gram(X, mean))
    order = np.argsort(values)[::-1][:k]
    values, vectors = values[order], vectors[:, order]
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0)
    vectors = vectors * np.where(largest < 0, -1.0, 1.0)
    precision = np.finfo(X.dtype).eps * max(X.shape)
    return np.asarray(np.where(values > max(values[0], 0.0) * precision, vectors, 0.0))
