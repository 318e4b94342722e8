"""Labels from the user: multi-hot rows or class numbers, packed like codes.

Two items are relevant to each other by the labels they share, so labels are kept as bit masks of
64 classes to a word and relevance is a bitwise and.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.core.codes import Words, as_array, n_words, pack
from hashbench.core.errors import HashbenchError
from hashbench.core.validation import BLOCK_ROWS


def label_words(query_labels: Any, database_labels: Any) -> tuple[Words, Words]:
    """Return the labels of queries and database, packed over the same classes.

    Parameters
    ----------
    query_labels, database_labels : (n, classes) array-like of 0 and 1
        Or one class number per item: (n,), or (n, 1) with numbers other than 0 and 1.

    Returns
    -------
    two (n, ceil(classes / 64)) uint64 arrays
    """
    query = _check_shape(query_labels, "query labels")
    database = _check_shape(database_labels, "database labels")
    if (
        _one_column(query)
        and _one_column(database)
        and (_are_class_numbers(query) or _are_class_numbers(database))
    ):
        numbers = [
            _check_class_numbers(query, "query labels"),
            _check_class_numbers(database, "database labels"),
        ]
        classes, index = np.unique(np.concatenate(numbers), return_inverse=True)
        masks = _one_each(index, len(classes))
        return masks[: len(query)], masks[len(query) :]
    if query.ndim != 2 or database.ndim != 2 or query.shape[1] != database.shape[1]:
        raise HashbenchError(
            f"labels: found shapes {query.shape} for queries and {database.shape} for the "
            "database; allowed: (items, classes) with the same classes, or one class number each"
        )
    return _pack_multi_hot(query, "query labels"), _pack_multi_hot(database, "database labels")


def _check_shape(labels: Any, what: str) -> npt.NDArray[Any]:
    array = as_array(labels, what)
    if array.ndim not in (1, 2) or 0 in array.shape or array.dtype.kind not in "biuf":
        raise HashbenchError(
            f"{what}: found shape {array.shape} of {array.dtype}; allowed: (items, classes) of 0 "
            "and 1, or one class number per item"
        )
    return array


def _one_column(labels: npt.NDArray[Any]) -> bool:
    return labels.ndim == 1 or labels.shape[1] == 1


def _are_class_numbers(labels: npt.NDArray[Any]) -> bool:
    """Return whether labels in one column are class numbers, not 0/1 of a single class."""
    return labels.ndim == 1 or not bool(np.isin(labels, (0, 1)).all())


def _check_class_numbers(labels: npt.NDArray[Any], what: str) -> npt.NDArray[Any]:
    flat = labels.reshape(-1)
    if labels.dtype.kind == "f":
        odd = flat[~(flat == np.floor(flat))]
        if odd.size:
            raise HashbenchError(f"{what}: found {odd[0]}; allowed: whole class numbers")
    return flat


def _one_each(classes: npt.NDArray[np.intp], n_classes: int) -> Words:
    """Return masks with one class set."""
    masks = np.zeros((len(classes), n_words(n_classes)), np.uint64)
    bit = np.uint64(1) << (classes % 64).astype(np.uint64)
    masks[np.arange(len(classes)), classes // 64] = bit
    return masks


def _pack_multi_hot(labels: npt.NDArray[Any], what: str) -> Words:
    masks = np.empty((len(labels), n_words(labels.shape[1])), np.uint64)
    for start in range(0, len(labels), BLOCK_ROWS):
        block = np.asarray(labels[start : start + BLOCK_ROWS])
        ones = block == 1
        other = ~(ones | (block == 0))
        if other.any():
            raise HashbenchError(f"{what}: found {block[other][0]}; allowed: 0 and 1")
        masks[start : start + len(block)] = pack(ones)
    return masks
