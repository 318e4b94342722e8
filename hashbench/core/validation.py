"""Check views, labels and code lengths once, where they are received."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from hashbench.core.errors import HashbenchError

Matrix = npt.NDArray[np.floating[Any]]

#: Rows looked at together, so that a memory map is never loaded whole: a block of 4096 columns in
#: float32 stays below 128 MB.
BLOCK_ROWS = 8192

#: With more classes than this, half as many as rows are too many.
MANY_CLASSES = 64


def dense(X: Any) -> Any:
    """Return a sparse matrix as an array, and anything else as it is."""
    return X.toarray() if scipy.sparse.issparse(X) else X  # type: ignore[attr-defined]


def check_matrix(X: Any, what: str) -> Matrix:
    """Return one view as a dense 2-D array of float32 or float64 with finite entries.

    Parameters
    ----------
    X : array-like or sparse matrix, (n, d)
        float32 and float64 keep their precision (and a memory map stays one); everything else
        becomes float32.
    what : str
        How the message names the matrix.
    """
    X = dense(X)
    X = np.asanyarray(X)
    if X.dtype.kind not in "fiub":
        raise HashbenchError(f"{what}: found {X.dtype} entries; allowed: real numbers")
    if X.ndim != 2:
        raise HashbenchError(f"{what}: found {X.ndim} dimensions; allowed: 2 (rows are items)")
    if X.shape[0] < 1 or X.shape[1] < 1:
        raise HashbenchError(f"{what}: found shape {X.shape}; at least one row and one column")
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float32)
    for start in range(0, X.shape[0], BLOCK_ROWS):
        block = X[start : start + BLOCK_ROWS]
        with np.errstate(over="ignore", invalid="ignore"):
            total = block.sum()  # at the pace of reading; nothing cancels an infinite entry
        if not np.isfinite(total) and not np.isfinite(block).all():
            row, column = np.argwhere(~np.isfinite(block))[0]
            raise HashbenchError(
                f"{what}: found {X[start + row, column]} in row {start + row}, column {column}; "
                "allowed: finite numbers"
            )
    return np.asarray(X)


def check_views(views: Sequence[Any]) -> list[Matrix]:
    """Return the views as dense float arrays with one number of rows, two views at least."""
    if not isinstance(views, Sequence) or len(views) < 2:
        found = len(views) if isinstance(views, Sequence) else type(views).__name__
        raise HashbenchError(f"views: found {found}; allowed: a list of two or more matrices")
    checked = [check_matrix(X, f"view {m}") for m, X in enumerate(views)]
    rows = [X.shape[0] for X in checked]
    if len(set(rows)) > 1:
        raise HashbenchError(f"views: found {rows} rows; every view must have the same number")
    return checked


def check_labels(labels: Any, n_rows: int) -> npt.NDArray[np.uint8]:
    """Return labels as an (n_rows, c) array of 0 and 1; class numbers and texts are converted."""
    labels = class_columns(labels)[0]
    if labels.ndim != 2:
        raise HashbenchError(
            f"labels: found shape {labels.shape}; allowed: (rows, classes) with a 0/1 entry "
            "per class, or one class number or text per row"
        )
    if labels.shape[0] != n_rows:
        raise HashbenchError(
            f"labels: found {labels.shape[0]} rows, the views have {n_rows}; must be equal"
        )
    if labels.dtype.kind not in "fiub" or not ((labels == 0) | (labels == 1)).all():
        raise HashbenchError("labels: found entries other than 0 and 1; allowed: 0 and 1")
    return np.asarray(labels, np.uint8)


def class_columns(labels: Any) -> tuple[npt.NDArray[Any], tuple[str, ...]]:
    """Return one column per class for class numbers or texts; return other labels unchanged.

    One column of 0 and 1 is one class that is there or not, as everywhere in the suite.

    Returns
    -------
    The labels, and the names of the classes where the labels tell them.

    Examples
    --------
    >>> columns, names = class_columns(["cat", "dog", "cat"])
    >>> columns.tolist(), names
    ([[1, 0], [0, 1], [1, 0]], ('cat', 'dog'))
    >>> class_columns([3, 7])[0].tolist()
    [[1, 0], [0, 1]]
    """
    array = np.asarray(dense(labels))
    texts = array.dtype.kind in "US" or (
        array.dtype == object and all(isinstance(each, str) for each in array.flat)
    )
    one_each = array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1)
    if not one_each or array.size == 0 or (array.dtype.kind not in "fiub" and not texts):
        return array, ()
    if array.ndim == 2 and not texts and np.isin(array, (0, 1)).all():
        return array, ()
    return numbered_classes(array)


def numbered_classes(labels: npt.NDArray[Any]) -> tuple[npt.NDArray[np.uint8], tuple[str, ...]]:
    """Return one column per class for labels with one class per row, and the class names."""
    flat = labels.ravel()
    if flat.dtype.kind == "f" and not (np.isfinite(flat) & (flat == np.floor(flat))).all():
        odd = flat[~(np.isfinite(flat) & (flat == np.floor(flat)))][0]
        raise HashbenchError(f"labels: found {odd}; allowed: 0 and 1, or whole class numbers")
    if flat.dtype.kind not in "fiub":
        flat = flat.astype(np.str_)
        if (flat == "").any():
            row = int(np.flatnonzero(flat == "")[0])
            raise HashbenchError(f"labels: found no text in row {row}; allowed: one class per row")
    elif flat.dtype.kind == "f":
        flat = flat.astype(np.int64)
    classes, index = np.unique(flat, return_inverse=True)
    if len(classes) > max(MANY_CLASSES, len(flat) // 2):
        raise HashbenchError(
            f"labels: found {len(classes)} classes in {len(flat)} rows; allowed: classes that "
            "rows share (are these row numbers?)"
        )
    columns = np.zeros((len(flat), len(classes)), np.uint8)
    columns[np.arange(len(flat)), index] = 1
    return columns, tuple(map(str, classes))


def is_file_name(name: str) -> bool:
    """Say whether a name can be that of a file or folder, inside the folder where it is put."""
    return name.strip() not in ("", ".", "..") and not set(name) & {"/", "\\", "\0"}


def check_bits(n_bits: Any) -> int:
    """Return the code length as an int that is at least 1."""
    if isinstance(n_bits, bool) or not isinstance(n_bits, int | np.integer) or n_bits < 1:
        raise HashbenchError(f"n_bits: found {n_bits!r}; allowed: whole numbers from 1 up")
    return int(n_bits)


def listed(value: Any) -> list[Any]:
    """Return a list where one or several values may be given.

    Examples
    --------
    >>> listed("edsh"), listed(16), listed((16, 32)), listed(None)
    (['edsh'], [16], [16, 32], [])
    """
    if value is None:
        return []
    several = isinstance(value, list | tuple | range | np.ndarray)
    return list(value) if several else [value]
