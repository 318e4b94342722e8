"""Find defects of datasets: copies across a split, rows without labels, constant columns.

Nothing here is repaired or refused. A query whose copy stands in the database is found by every
method at rank one; a row without labels is never relevant; a constant column carries nothing.
Such things are counted and reported.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hashbench.core.validation import BLOCK_ROWS, dense
from hashbench.plugins.dataset import Data, Split
from hashbench.plugins.protocol import Rows

Kind = Literal["duplicates", "unlabelled", "zero rows", "constant columns", "not finite"]
EXAMPLES = 3  # how many are named in a message


@dataclass(frozen=True)
class Finding:
    """One thing found, how often, and in which view (or in the labels)."""

    kind: Kind
    where: str
    count: int
    text: str

    def __str__(self) -> str:
        return f"{self.where}: {self.text}"


@dataclass(frozen=True)
class ViewScan:
    """What one pass over a view tells.

    Attributes
    ----------
    digests : (n,) a hash of each row
    zero : (n,) bool, rows of zeros
    constant : columns with a single value
    nonzero, not_finite : numbers of entries
    """

    digests: npt.NDArray[np.bytes_]
    zero: npt.NDArray[np.bool_]
    constant: Rows
    nonzero: int
    not_finite: int

    @property
    def copies(self) -> int:
        """Rows that are equal to an earlier row."""
        return len(self.digests) - len(np.unique(self.digests))


def scan(X: Any) -> ViewScan:
    """Look at every row of a view once, a bounded number at a time."""
    n, d = X.shape
    digests, zero = np.empty(n, "S16"), np.zeros(n, bool)
    low, high = np.full(d, np.inf), np.full(d, -np.inf)
    nonzero = finite = 0
    for start in range(0, n, BLOCK_ROWS):
        block = np.ascontiguousarray(dense(X[start : start + BLOCK_ROWS]))
        rows = slice(start, start + len(block))
        digests[rows] = row_digests(block)
        zero[rows] = ~block.any(axis=1)
        nonzero += int(np.count_nonzero(block))
        finite += int(np.count_nonzero(np.isfinite(block)))
        low, high = np.minimum(low, block.min(axis=0)), np.maximum(high, block.max(axis=0))
    return ViewScan(digests, zero, np.flatnonzero(low == high), nonzero, n * d - finite)


def inspect(data: Data, split: Split, scans: Sequence[ViewScan] | None = None) -> list[Finding]:
    """Return what is worth knowing about a dataset under a split, nothing if nothing is.

    Parameters
    ----------
    data, split : the dataset and its rows
    scans : one a view, where they have been made already
    """
    scans = [scan(X) for X in data.views] if scans is None else scans
    found: list[Finding] = []

    def report(kind: Kind, where: str, count: int, text: str) -> None:
        if count:
            found.append(Finding(kind, where, count, text))

    for name, view in zip(data.view_names, scans, strict=True):
        if not split.paired:
            report("duplicates", name, *_copies(view.digests, split))
        zero = np.flatnonzero(view.zero)
        report("zero rows", name, len(zero), f"rows of zeros: {len(zero)} ({_examples(zero)})")
        report(
            "constant columns",
            name,
            len(view.constant),
            f"constant columns: {len(view.constant)} ({_examples(view.constant)})",
        )
        report("not finite", name, view.not_finite, f"entries nan or infinite: {view.not_finite}")
    whole = functools.reduce(np.char.add, (view.digests for view in scans))
    if not split.paired:
        report("duplicates", "all views", *_copies(whole, split))
    bare = np.flatnonzero(~data.labels.any(axis=1)) if data.has_labels else np.empty(0, np.intp)
    report(
        "unlabelled", "labels", len(bare), f"rows without a label: {len(bare)} ({_examples(bare)})"
    )
    return found


def _copies(digests: npt.NDArray[np.bytes_], split: Split) -> tuple[int, str]:
    pairs = copy_pairs(digests, split)
    shown = [f"{query}={other}" for query, other in pairs]
    text = (
        f"queries that are copies of training or database rows: {len(pairs)} ({_examples(shown)})"
    )
    return len(pairs), text


def row_digests(X: npt.NDArray[Any]) -> npt.NDArray[np.bytes_]:
    """Return a hash of each row; equal rows have equal hashes, -0 is 0."""
    zero = X.dtype.type(0)
    # A bytes array drops trailing zero bytes, which would make two hashes one: hence hexadecimal.
    rows = (hashlib.sha256(row + zero).hexdigest()[:16] for row in X)
    return np.fromiter(rows, "S16", len(X))


def all_digests(scans: Iterable[ViewScan]) -> npt.NDArray[np.bytes_]:
    """Return the hashes of the rows of all views: (views, n)."""
    return np.stack([each.digests for each in scans])


def copied_queries(digests: npt.NDArray[np.bytes_], split: Split) -> npt.NDArray[np.bool_]:
    """Return which queries equal a row of the database, by view: (views, queries).

    Parameters
    ----------
    digests : (views, n) a hash of each row
    """
    return np.stack([np.isin(each[split.query], each[split.database]) for each in digests])


def copy_pairs(digests: npt.NDArray[np.bytes_], split: Split) -> list[tuple[int, int]]:
    """Return the queries that have a copy among training or database rows, with the first copy."""
    others: Rows = np.union1d(split.train, split.database)
    values, first = np.unique(digests[others], return_index=True)
    queries = digests[split.query]
    position = np.minimum(np.searchsorted(values, queries), len(values) - 1)
    same = values[position] == queries
    return [
        (int(query), int(others[first[p]]))
        for query, p in zip(split.query[same], position[same], strict=True)
    ]


def _examples(things: Sequence[str] | Rows) -> str:
    shown = ", ".join(str(thing) for thing in things[:EXAMPLES])
    return shown + (", ..." if len(things) > EXAMPLES else "")
