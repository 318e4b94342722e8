"""Scaling of the features that a network sees, with statistics of the training rows.

The scale of the input matters more than any parameter of a network: a learning rate that suits
rows of length ten trains next to nothing on rows of length one. Neural methods therefore scale
features themselves, after the preprocessing of the study.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hashbench.core.errors import unknown
from hashbench.core.validation import BLOCK_ROWS, Matrix

Floats = npt.NDArray[np.float32]

#: Scalings by name.
SCALINGS = {
    "rows": "the training mean subtracted, rows of length sqrt(columns)",
    "unit": "the training mean subtracted, rows of length one",
    "zscore": "columns with mean zero and variance one on the training rows",
    "none": "unchanged",
}


class InputScaler:
    """A scaling, fitted to the training rows of one view.

    Parameters
    ----------
    X : (n, d) array or memory map, the training rows
    scaling : one of :data:`SCALINGS`
    """

    def __init__(self, X: Matrix, scaling: str) -> None:
        if scaling not in SCALINGS:
            raise unknown("scaling", scaling, SCALINGS)
        self.scaling = scaling
        d = X.shape[1]
        mean = X.mean(axis=0, dtype=np.float64) if scaling != "none" else np.zeros(d)
        self.mean = mean.astype(np.float32)
        self.factor = np.ones(d, np.float32)
        if scaling == "zscore":
            squares = sum(
                np.square(X[start : start + BLOCK_ROWS] - mean).sum(axis=0)
                for start in range(0, X.shape[0], BLOCK_ROWS)
            )
            deviation = np.sqrt(squares / X.shape[0])
            # Columns that vary by rounding errors only become zero.
            varies = deviation > 1e-6 * np.maximum(np.abs(mean), np.finfo(np.float32).tiny)
            self.factor = np.where(varies, 1 / np.where(varies, deviation, 1), 0).astype(np.float32)
        elif scaling == "rows":
            self.factor *= np.sqrt(np.float32(d))

    def transform(self, X: Matrix) -> Floats:
        """Return the scaled rows."""
        rows = np.asarray(X, np.float32) - self.mean
        if self.scaling in ("rows", "unit"):
            lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
            rows /= np.where(lengths > 0, lengths, 1)[:, None]
        if self.scaling in ("rows", "zscore"):
            rows *= self.factor
        return rows
