"""Blocks: the units over which methods are compared.

A block is a distinct split of a dataset, with other queries. Seeds with the same split differ only
in the methods' random numbers: they are one block, and their scores are averaged. Random splits of
one dataset share rows, for which tests over splits are corrected.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hashbench.analysis.tests import Floats

if TYPE_CHECKING:
    from hashbench.analysis.results import Results


@dataclass(frozen=True)
class Evidence:
    """The blocks of a study: which seeds share a split, and how much splits overlap.

    Attributes
    ----------
    blocks : (dataset, seed) -> the block's number; seeds of one number have the same split
    overlaps : dataset -> queries per other row of a split, Nadeau and Bengio's n2 / n1
    """

    blocks: Mapping[tuple[str, int], int]
    overlaps: Mapping[str, float]

    def count(self, dataset: str) -> int:
        """Return the number of distinct splits of a dataset."""
        return len({number for (name, _), number in self.blocks.items() if name == dataset})

    def seeds(self, dataset: str) -> int:
        """Return the number of seeds of a dataset."""
        return sum(name == dataset for name, _ in self.blocks)

    def averaged(self, wide: Floats, seeds: Iterable[int], dataset: str) -> Floats:
        """Average an array with one row per seed to one row per block, without nan."""
        numbers = np.array([self.blocks[dataset, int(seed)] for seed in seeds])
        known = ~np.isnan(wide)
        each = [numbers == number for number in np.unique(numbers)]
        with np.errstate(invalid="ignore"):  # nothing is known of a method in a block
            means = [np.nansum(wide[own], axis=0) / known[own].sum(axis=0) for own in each]
        return np.array(means).reshape(len(each), wide.shape[1])


def find_evidence(results: Results) -> Evidence:
    """Return the blocks of a study, from the splits of its done cells.

    Seeds with the same queries are one block, also if they train on other rows or labels.

    The overlap counts all rows that are not queries. Nadeau and Bengio train on all of them; with
    fewer training rows (a subset, few labelled rows) splits share no more, and counting only the
    training rows would give tests that never reject.
    """
    blocks: dict[tuple[str, int], int] = {}
    known: dict[tuple[str, bytes], int] = {}
    sizes: dict[str, dict[str, float]] = {}
    for stored in results.done():
        cell = stored.cell
        own = sizes.setdefault(cell.dataset, {})
        if cell.split not in own:
            split = results.split(cell.split)
            others = len(np.union1d(split.train, split.database))
            own[cell.split] = len(split.query) / others
            queries = (cell.dataset, np.asarray(split.query).tobytes())
            blocks[cell.dataset, cell.seed] = known.setdefault(queries, cell.seed)
        elif (cell.dataset, cell.seed) not in blocks:
            queries = (cell.dataset, np.asarray(results.split(cell.split).query).tobytes())
            blocks[cell.dataset, cell.seed] = known[queries]
    return Evidence(blocks, {name: max(found.values()) for name, found in sizes.items()})


def split_words(blocks: int, seeds: int) -> str:
    """Return what scores of one dataset are averaged over.

    Examples
    --------
    >>> split_words(1, 8), split_words(10, 10)
    ('one split, 8 seeds of initialisation', '10 random splits')
    """
    if blocks == 1:
        return f"one split, {seeds} seeds of initialisation" if seeds > 1 else "one split, one seed"
    more = f", {seeds} seeds" if seeds > blocks else ""
    return f"{blocks} random splits{more}"
