"""Comparisons of every two methods in every slice, as the page shows them.

The numbers are those of `hashbench compare`, computed for all pairs together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.analysis.range_tests import RangeTests
from hashbench.analysis.results import Results
from hashbench.analysis.summary import BySeed, by_seed
from hashbench.analysis.tests import Floats
from hashbench.data.splits import SEARCHED, Searched
from hashbench.render.comparison import p_text
from hashbench.site.positions import SLICE, Positions

Ints = npt.NDArray[np.int64]


@dataclass
class PairTable:
    """All pairs of methods in one slice, in the order of `np.triu_indices`.

    Attributes
    ----------
    first, second : mean scores over the seeds that both methods have done; nan if there is none
    half : half the width of the 95 % interval of the difference; nan if it was not tested
    p_value : two-sided; nan if it was not tested
    won, lost, splits : distinct splits
    over : what the test is over: "splits", "initialisations" or "" without a test
    """

    first: Floats
    second: Floats
    half: Floats
    p_value: Floats
    won: Ints
    lost: Ints
    splits: Ints
    over: str


def comparisons(results: Results, positions: Positions, measure: str) -> dict[str, Any]:
    """Compare every two methods by one measure.

    Returns
    -------
    dict
        "slices": each slice's position and what its test is over. "pairs": by the positions of two
        methods, as "0-3", one row per slice: slice, first, second, low, high, p_value as a text,
        won, lost, splits.
    """
    range_tests = RangeTests(results)
    scores = results.scores()
    slices, tables = [], []
    for values, wide in by_seed(scores[scores["measure"] == measure], SLICE):
        names = dict(zip(SLICE, values, strict=True))
        table = _all_pairs(wide, positions.methods, range_tests, names, measure)
        slices.append({"at": positions.of(names), "test": table.over})
        tables.append(table)
    first, second = np.triu_indices(len(positions.methods), 1)
    pairs = {
        f"{i}-{j}": _pair_rows(tables, pair)
        for pair, (i, j) in enumerate(zip(first.tolist(), second.tolist(), strict=True))
    }
    return {"slices": slices, "pairs": pairs}


def _all_pairs(
    wide: BySeed, methods: list[str], range_tests: RangeTests, names: dict[str, Any], measure: str
) -> PairTable:
    """Return means, tests and splits won of all pairs in one slice."""
    dataset = names["dataset"]
    values = np.full((len(wide.seeds), len(methods)), np.nan)
    values[:, [methods.index(name) for name in wide.methods]] = wide.values
    pairs = np.triu_indices(len(methods), 1)
    first, second = (values[:, each] for each in pairs)
    common = ~np.isnan(first - second)
    differences = range_tests.evidence.averaged(first - second, wide.seeds, dataset)
    counts = common.sum(axis=0)
    with np.errstate(invalid="ignore"):  # pairs without a common seed
        means = np.where(common, [first, second], 0).sum(axis=1) / counts
    searched = Searched(*(names[each] for each in SEARCHED))
    found = range_tests.compare(wide, dataset, [(names["task"], names["bits"], searched)], measure)
    p_values, half = np.full((2, len(methods), len(methods)), np.nan)
    if found.test is not None:
        tested = [methods.index(name) for name in found.methods]
        p_values[np.ix_(tested, tested)] = found.test.p_values
        half[np.ix_(tested, tested)] = found.test.half_widths
    won, lost = (differences > 0).sum(axis=0), (differences < 0).sum(axis=0)
    splits = (~np.isnan(differences)).sum(axis=0)
    test = half[pairs], p_values[pairs]
    return PairTable(means[0], means[1], *test, won, lost, splits, found.over)


def _pair_rows(tables: list[PairTable], pair: int) -> list[list[Any]]:
    """Return the rows of one pair of methods: one per slice that both have done."""
    rows = []
    for number, table in enumerate(tables):
        if not table.splits[pair]:
            continue
        first, second = table.first[pair], table.second[pair]
        half, p_value = table.half[pair], table.p_value[pair]
        numbers = (first, second, first - second - half, first - second + half)
        rows.append(
            [
                number,
                *(round(float(each), 5) if np.isfinite(each) else None for each in numbers),
                None if np.isnan(p_value) else p_text(p_value),
                *(int(each[pair]) for each in (table.won, table.lost, table.splits)),
            ]
        )
    return rows
