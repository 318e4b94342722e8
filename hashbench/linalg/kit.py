"""Small words that method files are written in: what a formula leaves out and a program needs.

Features may be float32 while means and small solutions are float64. A product with the features
stays in the features' precision, or a pass over them would take twice the memory; sums over rows
end in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from hashbench.base import shelf
from hashbench.base.validation import Matrix
from hashbench.linalg.discrete import signs
from hashbench.linalg.sweep import Sweep, is_large
from hashbench.linalg.threads import add_up, row_blocks

T = TypeVar("T")

#: Rows of large features that are summed in their own precision.
SUMMED_ROWS = 64


def together(*lists: Iterable[Any]) -> Iterator[Any]:
    """Go through lists of one length, one item of each at a time: what belongs to one view."""
    return zip(*lists, strict=True)


def each(function: Callable[..., T], *lists: Iterable[Any]) -> list[T]:
    """Return what a function gives for every view, from lists with one argument a view."""
    return [function(*arguments) for arguments in together(*lists)]


def column_means(views: Sequence[Matrix]) -> list[Matrix]:
    """Return the column means of every view, (d_m,) in float64."""
    return [shelf.fetch("mean", [X], [], partial(_mean, X))[0] for X in views]


def _mean(X: Matrix) -> tuple[Matrix]:
    if not is_large(X):
        return (X.mean(axis=0, dtype=np.float64),)

    def part(rows: slice) -> tuple[Matrix]:
        """Sum few rows at a time in their own precision: converting every number takes longer."""
        total = np.zeros(X.shape[1])
        for block in row_blocks(rows, SUMMED_ROWS):
            total += X[block].sum(axis=0)
        return (total,)

    return (add_up(part, len(X))[0] / len(X),)


def times(X: Matrix, W: Matrix) -> Matrix:
    """Return X W in the precision of X."""
    return Sweep(X, W.shape[1] if W.ndim > 1 else 1).values(X, W)


def project(X: Matrix, W: Matrix, mean: Matrix) -> Matrix:
    """Return (X - 1 mean') W in the precision of X, without a centred copy of X."""
    shift: Matrix = mean @ W
    return times(X, W) - shift.astype(X.dtype, copy=False)


def inner(left: Matrix, right: Matrix) -> Matrix:
    """Return left'right, computed in their own precision, in float64."""
    product: Matrix = left.T @ right
    return product.astype(np.float64, copy=False)


def squared_norm(M: Matrix) -> float:
    """Return the sum of the squares of all entries."""
    return float(np.square(M).sum(dtype=np.float64))


def gaussian(rng: np.random.Generator, n: int, k: int, dtype: npt.DTypeLike) -> Matrix:
    """Return an (n, k) matrix of standard normal numbers."""
    values: Matrix = rng.standard_normal((n, k)).astype(dtype, copy=False)
    return values


def random_codes(rng: np.random.Generator, n: int, k: int, dtype: npt.DTypeLike) -> Matrix:
    """Return an (n, k) matrix of random signs, -1 and +1."""
    return signs(gaussian(rng, n, k, np.float64)).astype(dtype, copy=False)
