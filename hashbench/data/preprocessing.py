"""Preprocessing of views, fitted on training rows.

A dataset declares one preprocessing per view, as names in the order they are applied, such as
``l2,centre``. Whatever is estimated (means, document frequencies) is estimated on training rows
only: a query that takes part in a mean has leaked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.core.errors import HashbenchError, unknown
from hashbench.core.validation import BLOCK_ROWS, Matrix, dense

#: A fitted preprocessing: rows in, the same rows transformed out.
Transform = Callable[[Any], Matrix]

#: What the names mean, for listings.
STEPS = {
    "none": "left as it is",
    "l2": "every row divided by its length",
    "centre": "the training rows' mean subtracted",
    "standardise": "minus the training rows' mean, every column divided by their spread",
    "tfidf": "counts weighted by the logarithm of how rare a word is in the training rows",
}


#: What a search tries for all views alike, besides what the dataset itself declares.
SEARCHED = ("none", "l2", "centre", "l2+centre", "standardise")


def parse(text: str) -> tuple[str, ...]:
    """Return the steps that a text such as ``l2,centre`` names, ``none`` left out.

    A plus sign separates as well as a comma, because a comma ends a parameter in a selection.

    Examples
    --------
    >>> parse("l2,centre"), parse("tfidf + l2"), parse("none")
    (('l2', 'centre'), ('tfidf', 'l2'), ())
    """
    steps = tuple(step.strip() for step in re.split(r"[,+]", text))
    for step in steps:
        if step not in STEPS:
            raise unknown("preprocessing", step, STEPS)
    return tuple(step for step in steps if step != "none")


def fit(text: str, X: Any, rows: npt.NDArray[np.intp]) -> Transform:
    """Fit a preprocessing to the training rows of a view.

    Parameters
    ----------
    text : the steps, see :func:`parse`
    X : (n, d) array, memory map or CSR matrix
    rows : the training rows

    Returns
    -------
    A function from rows of the view, in any number, to a dense array of the same rows; float64
    stays float64, everything else becomes float32.
    """
    fitted: list[Transform] = [_floating]

    def transform(block: Any) -> Matrix:
        for step in fitted:
            block = step(block)
        return block  # type: ignore[no-any-return]

    for name in parse(text):
        # A step is fitted to what the steps before it make of the training rows.
        if name == "l2":
            fitted.append(_unit_rows)
        else:
            fitted.append(_FITS[name](blocks(transform, X, rows)))
    return transform


def blocks(transform: Transform, X: Any, rows: npt.NDArray[np.intp]) -> Iterator[Matrix]:
    """Yield the chosen rows of a view, transformed, a bounded number at a time."""
    for start in range(0, len(rows), BLOCK_ROWS):
        yield transform(X[rows[start : start + BLOCK_ROWS]])


def steps_by_view(text: str | Sequence[str], views: Sequence[str]) -> tuple[str, ...]:
    """Return one preprocessing per view: one text applies to all views, or names some of them.

    Examples
    --------
    >>> steps_by_view("l2", ["image", "text"]), steps_by_view(("l2", "none"), ["image", "text"])
    (('l2', 'l2'), ('l2', 'none'))
    >>> steps_by_view("text:tfidf+l2", ["image", "text"])
    ('none', 'tfidf+l2')
    """
    if isinstance(text, str) and ":" in text:
        by_view = dict.fromkeys(views, "none")
        for item in text.split(","):
            view, _, steps = item.partition(":")
            if view.strip() not in by_view:
                raise HashbenchError(f"preprocess={text}: {unknown('view', view.strip(), views)}")
            by_view[view.strip()] = steps.strip()
        texts = tuple(by_view.values())
    else:
        texts = (text,) * len(views) if isinstance(text, str) else tuple(text)
    if len(texts) != len(views):
        raise HashbenchError(
            f"preprocessing: found {len(texts)} for {len(views)} views; one a view"
        )
    for each in texts:
        parse(each)
    return texts


def _floating(block: Any) -> Matrix:
    rows: Matrix = np.asarray(dense(block))
    return rows if rows.dtype == np.float64 else rows.astype(np.float32, copy=False)


def _unit_rows(block: Matrix) -> Matrix:
    lengths = np.linalg.norm(block, axis=1, keepdims=True)
    return np.asarray(block / np.where(lengths > 0, lengths, 1))


def _fit_centre(training: Iterator[Matrix]) -> Transform:
    total: Any = 0.0
    count = 0
    for block in training:
        total = total + block.sum(axis=0, dtype=np.float64)
        count += len(block)
    mean = total / count
    return lambda block: block - mean.astype(block.dtype)


def _fit_standardise(training: Iterator[Matrix]) -> Transform:
    origin: Any = None
    total: Any = 0.0
    squares: Any = 0.0
    count, rounding = 0, 0.0
    for block in training:
        # Sums around the first row: features far from zero keep their digits.
        origin = block[0].astype(np.float64) if origin is None else origin
        shifted = block - origin
        total = total + shifted.sum(axis=0)
        squares = squares + np.square(shifted).sum(axis=0)
        count, rounding = count + len(block), 8 * float(np.finfo(block.dtype).eps)
    mean = origin + total / count
    spread = np.sqrt(np.maximum(squares / count - np.square(total / count), 0.0))
    # A column that is constant but for rounding carries nothing that could be made larger.
    spread = np.where(spread > rounding * np.abs(mean), spread, 1.0)
    return lambda block: ((block - mean) / spread).astype(block.dtype)


def _fit_tfidf(training: Iterator[Matrix]) -> Transform:
    containing: Any = 0
    count = 0
    for block in training:
        if (block < 0).any():
            raise HashbenchError("preprocessing tfidf: found negative entries; allowed: counts")
        containing = containing + np.count_nonzero(block, axis=0)
        count += len(block)
    # As if one more item had every word: a word that no training row has keeps a finite weight.
    weight = np.log((1 + count) / (1 + containing)) + 1
    return lambda block: block * weight.astype(block.dtype)


_FITS = {"centre": _fit_centre, "standardise": _fit_standardise, "tfidf": _fit_tfidf}
