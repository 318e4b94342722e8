"""Statistics of codes: balance and correlation of bits, and collisions of items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hashbench.core.codes import Words, unpack
from hashbench.core.validation import BLOCK_ROWS
from hashbench.measures import kernels


@dataclass(frozen=True)
class CodeStatistics:
    """Balance, correlation and collisions of one set of codes.

    Attributes
    ----------
    items : int
        Number of codes.
    ones : float
        Mean share of ones.
    imbalance : float
        Mean distance of a bit's share of ones from one half: 0 (balanced) to 0.5 (constant).
    constant : int
        Bits that never change.
    correlation : float or None
        Mean absolute correlation of two bits that do change; None if fewer than two do.
    largest_correlation : float or None
        The largest absolute correlation of two such bits.
    distinct : int
        Number of distinct codes.
    collisions : int
        Pairs of items that have the same code.
    collisions_apart : int or None
        Pairs with the same code that share no label; None without labels.
    """

    items: int
    ones: float
    imbalance: float
    constant: int
    correlation: float | None
    largest_correlation: float | None
    distinct: int
    collisions: int
    collisions_apart: int | None


def code_statistics(words: Words, n_bits: int, labels: Words | None = None) -> CodeStatistics:
    """Return the statistics of packed codes, read in blocks of rows.

    Parameters
    ----------
    words : (n, ceil(bits / 64)) uint64
        Codes as `hashbench.core.codes.pack` makes them.
    n_bits : int
    labels : (n, label words) uint64, optional
        Labels as `hashbench.measures.labels.label_words` makes them.
    """
    both = np.zeros((n_bits, n_bits))  # items in which bits i and j are both 1
    for start in range(0, len(words), BLOCK_ROWS):
        bits = unpack(words[start : start + BLOCK_ROWS], n_bits).astype(np.float32)
        both += bits.T @ bits  # exact: whole numbers far below 2**24
    ones = np.diagonal(both) / len(words)
    changing = (ones > 0) & (ones < 1)
    correlations = _correlations(both[np.ix_(changing, changing)] / len(words))
    counts = _group(words)[1]
    return CodeStatistics(
        items=len(words),
        ones=float(ones.mean()),
        imbalance=float(np.abs(ones - 0.5).mean()),
        constant=int((~changing).sum()),
        correlation=float(correlations.mean()) if correlations.size else None,
        largest_correlation=float(correlations.max()) if correlations.size else None,
        distinct=len(counts),
        collisions=int((counts * (counts - 1) // 2).sum()),
        collisions_apart=None if labels is None else _apart(words, labels),
    )


def _correlations(both: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the absolute correlations of all pairs of bits from their shares of common ones."""
    ones = np.diagonal(both)
    deviation = np.sqrt(ones * (1 - ones))
    matrix = (both - np.outer(ones, ones)) / np.outer(deviation, deviation)
    return np.asarray(np.abs(matrix[np.triu_indices(len(matrix), 1)]))


def _group(words: Words) -> tuple[Words, npt.NDArray[np.int64]]:
    """Return the distinct rows in sorted order and how often each occurs."""
    rows, counts = np.unique(words, axis=0, return_counts=True)
    return rows, counts.astype(np.int64)


def _apart(words: Words, labels: Words) -> int:
    """Return how many pairs of items have the same code and no label in common."""
    n_words = words.shape[1]
    entries, counts = _group(np.hstack([words, labels]))
    codes = entries[:, :n_words]
    last = np.append((codes[1:] != codes[:-1]).any(axis=1), True)
    places = np.flatnonzero(last)
    ends = places[np.searchsorted(places, np.arange(len(codes)))] + 1
    masks = np.ascontiguousarray(entries[:, n_words:])
    return int(kernels.pairs_apart(masks, counts, ends.astype(np.int64)))
