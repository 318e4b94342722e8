"""Comparisons of every two methods in every slice, as the page shows them.

The numbers are those of `hashbench compare`, computed for all pairs together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.analysis.compare import LEAST_P, compare_all
from hashbench.analysis.evidence import Evidence, find_evidence
from hashbench.analysis.results import Results
from hashbench.analysis.summary import BySeed, by_seed
from hashbench.analysis.tests import LEAST_BLOCKS, Floats, corrected_test, holm
from hashbench.data.splits import Searched
from hashbench.site.positions import SLICE, Positions

Ints = npt.NDArray[np.int64]


@dataclass
class PairTable:
    """All pairs of methods in one slice, in the order of `np.triu_indices`.

    Attributes
    ----------
    first, second : mean scores over the seeds that both methods have done; nan if there is none
    low, high : 95 % interval of the difference, first minus second; nan if it was not tested
    p_value : two-sided; nan if it was not tested
    won, lost, splits : distinct splits
    test : "splits" or "queries"
    """

    first: Floats
    second: Floats
    low: Floats
    high: Floats
    p_value: Floats
    won: Ints
    lost: Ints
    splits: Ints
    test: str


def comparisons(results: Results, positions: Positions, measure: str) -> dict[str, Any]:
    """Compare every two methods by one measure.

    Datasets with too few splits for a test over them are tested over queries, by the study's first
    measure only: for others the values of every query would have to be computed again.

    Returns
    -------
    dict
        "slices": each slice's position and test. "pairs": by the positions of two methods, as
        "0-3", one row per slice: slice, first, second, low, high, p_value as a text, won, lost,
        splits. P-values are Holm-corrected over the rows of a pair.
    """
    evidence = find_evidence(results)
    scores = results.scores()
    slices, tables = [], []
    for values, wide in by_seed(scores[scores["measure"] == measure], SLICE):
        names = dict(zip(SLICE, values, strict=True))
        table = _over_splits(wide, positions.methods, evidence, names["dataset"])
        if evidence.count(names["dataset"]) < LEAST_BLOCKS:
            table.test = "queries"
            if measure == results.main_measure:
                _test_over_queries(table, results, positions.methods, names)
        slices.append({"at": positions.of(names), "test": table.test})
        tables.append(table)
    first, second = np.triu_indices(len(positions.methods), 1)
    pairs = {
        f"{i}-{j}": _pair_rows(tables, pair)
        for pair, (i, j) in enumerate(zip(first.tolist(), second.tolist(), strict=True))
    }
    return {"slices": slices, "pairs": pairs}


def _over_splits(wide: BySeed, methods: list[str], evidence: Evidence, dataset: str) -> PairTable:
    """Compare all pairs by t-tests over splits, corrected for the rows that splits share."""
    values = np.full((len(wide.seeds), len(methods)), np.nan)
    values[:, [methods.index(name) for name in wide.methods]] = wide.values
    first, second = (values[:, each] for each in np.triu_indices(len(methods), 1))
    common = ~np.isnan(first - second)
    differences = evidence.averaged(first - second, wide.seeds, dataset)
    low, high, p_value = np.full((3, differences.shape[1]), np.nan)
    done = ~np.isnan(differences)
    for splits in np.unique(done, axis=1).T:  # pairs that have done the same splits, together
        if splits.sum() >= LEAST_BLOCKS:
            pairs = (done == splits[:, None]).all(axis=0)
            test = corrected_test(differences[splits][:, pairs], evidence.overlaps[dataset])
            low[pairs], high[pairs] = test.interval()
            p_value[pairs] = test.p_value
    counts = common.sum(axis=0)
    with np.errstate(invalid="ignore"):  # pairs without a common seed
        means = np.where(common, [first, second], 0).sum(axis=1) / counts
    won, lost = (differences > 0).sum(axis=0), (differences < 0).sum(axis=0)
    return PairTable(means[0], means[1], low, high, p_value, won, lost, done.sum(axis=0), "splits")


def _test_over_queries(
    table: PairTable, results: Results, methods: list[str], names: dict[str, Any]
) -> None:
    """Fill in the bootstrap over queries, for methods that have done the same seeds as most."""
    compared = compare_all(results, names["dataset"], names["bits"], results.main_measure)
    about = (names["task"], Searched(names["database"], names["codes"]))
    if about not in compared:
        return
    tested, pairs = compared[about]
    row_of_pair = np.zeros((len(methods), len(methods)), int)
    row_of_pair[np.triu_indices(len(methods), 1)] = np.arange(len(table.p_value))
    position = np.array([methods.index(name) for name in tested])
    first, second = (position[each] for each in np.triu_indices(len(tested), 1))
    swapped = first > second
    rows = row_of_pair[np.minimum(first, second), np.maximum(first, second)]
    table.low[rows] = np.where(swapped, -pairs.high, pairs.low)
    table.high[rows] = np.where(swapped, -pairs.low, pairs.high)
    table.p_value[rows] = pairs.p_value


def _pair_rows(tables: list[PairTable], pair: int) -> list[list[Any]]:
    """Return the rows of one pair of methods: one per slice that both have done."""
    known = [number for number, table in enumerate(tables) if table.splits[pair]]
    raw = np.array([tables[number].p_value[pair] for number in known])
    least = np.array([LEAST_P if tables[number].test == "queries" else 0.0 for number in known])
    tested = ~np.isnan(raw)
    # the p-value of a row that was not tested may be anything up to 1
    corrected = holm(np.where(tested, np.maximum(raw, least), 1.0))
    at_most = ((raw <= least) & (least > 0)) | (not tested.all() and len(tested) > 0)
    rows = []
    for row, number in enumerate(known):
        table = tables[number]
        bound = "≤ " if at_most[row] and corrected[row] < 1 else ""
        numbers = (each[pair] for each in (table.first, table.second, table.low, table.high))
        rows.append(
            [
                number,
                *(None if np.isnan(each) else round(float(each), 5) for each in numbers),
                f"{bound}{corrected[row]:.2g}" if tested[row] else None,
                *(int(each[pair]) for each in (table.won, table.lost, table.splits)),
            ]
        )
    return rows
