"""Comparing methods: over blocks, and two of them dataset by dataset.

A block is a distinct split of a dataset (`hashbench.results.blocks`). Tasks and code lengths of a
split share its rows, so that their scores are averaged within the block, never counted as further
blocks. Means are those of tables: over the queries of a split, then over seeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hashbench.base.errors import HashbenchError, unknown
from hashbench.plugins.selection import bare_name
from hashbench.results import probabilities, stats
from hashbench.results.blocks import Evidence, find_evidence
from hashbench.results.resampling import SAMPLES, paired_bootstrap

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.results.results import Results
    from hashbench.studies.store import Stored

Pair = tuple["Stored", "Stored"]


def blocks(scores: pd.DataFrame, evidence: Evidence) -> pd.DataFrame:
    """Return a row a block and a column a method: scores averaged over tasks and code lengths.

    Methods that lack a score somewhere are left out; a mean over other cells would not compare.

    Parameters
    ----------
    scores : of one measure and one kind of database codes
    """
    cells = scores.pivot_table(
        index=["dataset", "seed", "bits", "task"], columns="method", values="value", sort=False
    )
    complete = cells.loc[:, cells.notna().all()]
    seeds = complete.groupby(["dataset", "seed"], sort=False).mean().reset_index()
    seeds["block"] = [
        evidence.blocks[key] for key in zip(seeds["dataset"], seeds["seed"], strict=True)
    ]
    return seeds.drop(columns="seed").groupby(["dataset", "block"], sort=False).mean()


def find_method(results: Results, name: str) -> str:
    """Return the method of the results that is called so, with or without its parameters."""
    labels = list(dict.fromkeys(cell.label for cell in results.cells))
    if name in labels:
        return name
    same = [label for label in labels if bare_name(label) == name]
    if len(same) > 1:
        raise HashbenchError(f"method {name!r}: found {', '.join(same)}; allowed: one of them")
    if not same:
        raise unknown("method", name, labels)
    return same[0]


def compare(results: Results, first: str, second: str, measure: str) -> pd.DataFrame:
    """Compare two methods for every dataset, code length and task.

    From three distinct splits up by a t-test over splits, corrected for the rows that they share;
    otherwise by a bootstrap over the items that ask, which says how far the difference depends on
    them and nothing about training on other rows.

    Returns
    -------
    DataFrame
        dataset, bits, task, database, measure, first, second (means, as in tables), difference
        (first minus second), low and high (its 95 % interval), p_value (two-sided), p_holm
        (corrected over all rows), test ("splits" or "queries"), at_most (whether the p-values are
        as small as resampling can tell), better, equal, worse (probabilities over splits; nan
        otherwise), queries (items that ask), seeds, blocks (distinct splits), blocks_won (by the
        first)
    """
    import pandas as pd

    evidence = find_evidence(results)
    rows = [
        row
        for (dataset, bits), pairs in _pairs(results, first, second).items()
        for task in results.tasks
        for database in results.databases
        for row in _compared(results, evidence, pairs, (dataset, bits, task, database), measure)
    ]
    if not rows:
        raise HashbenchError(f"{first} and {second}: found no cell that both have done")
    table = pd.DataFrame(rows)
    # a bootstrap cannot tell a p-value from a smaller one below what its samples resolve
    table["at_most"] = (table["test"] == "queries") & (table["p_value"] <= 2 / SAMPLES)
    table["p_value"] = table["p_value"].where(~table["at_most"], 2 / SAMPLES)
    table["p_holm"] = stats.holm(table["p_value"].to_numpy())
    return table


def over_items(results: Results, first: str, second: str, measure: str) -> dict[str, Any]:
    """Compare two methods on one dataset over the items that ask, all tasks and lengths together.

    An item is drawn whole: its values for all tasks, code lengths and seeds are averaged.
    """
    asked = [
        _asked(results, pair, task, database, measure)
        for pairs in _pairs(results, first, second).values()
        for pair in pairs
        for task in results.tasks
        for database in results.databases
    ]
    items = _clustered([each for each in asked if each is not None])
    found = paired_bootstrap(items.difference, np.random.default_rng(0), items.weights)
    least = 2 / SAMPLES
    return {
        **found._asdict(),
        "p_value": max(found.p_value, least),
        "at_most": found.p_value <= least,
        "queries": len(items.difference),
    }


class _Asked(NamedTuple):
    """One ranking of two methods: rows that ask, and the values of both, (rows, 2)."""

    seed: int
    rows: Any
    values: Any


class _Items(NamedTuple):
    difference: stats.Floats
    weights: stats.Floats


def _pairs(results: Results, first: str, second: str) -> dict[tuple[str, int], list[Pair]]:
    """Return the cells that both methods have done, by dataset and code length, as asked for."""
    asked = list(dict.fromkeys(cell.dataset for cell in results.plan.cells))
    done = {(s.cell.label, s.cell.dataset, s.cell.bits, s.cell.seed): s for s in results.done()}
    cells: dict[tuple[str, int], list[Pair]] = {}
    for (label, dataset, bits, seed), stored in done.items():
        other = done.get((second, dataset, bits, seed))
        if label == first and other is not None:
            cells.setdefault((dataset, bits), []).append((stored, other))
    return dict(sorted(cells.items(), key=lambda each: (asked.index(each[0][0]), each[0][1])))


def _asked(results: Results, pair: Pair, task: str, database: str, measure: str) -> _Asked | None:
    """Return what a task gives, or None if the methods do not both have such codes."""
    # it computes: listing reports should not wait for it
    from hashbench.results.per_query import per_query

    values = [per_query(results, stored, task, database, measure) for stored in pair]
    if values[0] is None or values[1] is None:
        return None
    both = np.column_stack([values[0], values[1]])
    counted = np.isfinite(both).all(axis=1)
    if not counted.any():
        return None
    cell = pair[0].cell
    return _Asked(cell.seed, results.split(cell.split).query[counted], both[counted])


def _clustered(asked: Iterable[_Asked]) -> _Items:
    """Return the difference of every item and how much it counts in the mean of the means."""
    each = list(asked)
    if not each:
        return _Items(np.empty(0), np.empty(0))
    _, place = np.unique(np.concatenate([one.rows for one in each]), return_inverse=True)
    shares = np.concatenate([np.full(len(one.rows), 1 / len(one.rows)) for one in each])
    values = np.concatenate([one.values[:, 0] - one.values[:, 1] for one in each])
    weights = np.bincount(place, shares).astype(np.float64)
    return _Items(np.bincount(place, shares * values) / weights, weights)


def _compared(
    results: Results,
    evidence: Evidence,
    pairs: Sequence[Pair],
    about: tuple[str, int, str, str],
    measure: str,
) -> list[dict[str, Any]]:
    """Return one row, or none if the methods do not both have such codes."""
    dataset, bits, task, database = about
    asked = [_asked(results, pair, task, database, measure) for pair in pairs]
    found = [one for one in asked if one is not None]
    if not found or len(found) < len(asked):
        return []
    means: dict[int, list[Any]] = {}
    for one in found:
        means.setdefault(evidence.blocks[dataset, one.seed], []).append(one.values.mean(axis=0))
    over_blocks = np.array([np.mean(each, axis=0) for each in means.values()])
    difference = over_blocks[:, 0] - over_blocks[:, 1]
    whole = np.mean([one.values.mean(axis=0) for one in found], axis=0)
    items = _clustered(found)
    row: dict[str, Any] = {
        "dataset": dataset, "bits": bits, "task": task, "database": database, "measure": measure,
        "first": whole[0], "second": whole[1], "difference": whole[0] - whole[1],
        "queries": len(items.difference), "seeds": len(found), "blocks": len(means),
        "blocks_won": int((difference > 0).sum()),
    }  # fmt: skip
    if len(means) >= stats.LEAST_BLOCKS:
        test = stats.corrected_test(difference, evidence.overlaps[dataset])
        low, high = test.interval()
        chances = probabilities.over_splits(difference, evidence.overlaps[dataset])
        row |= {"test": "splits", "low": float(low), "high": float(high)}
        row |= {"p_value": float(test.p_value)}
        row |= {name: float(value) for name, value in chances._asdict().items()}
    else:
        outcome = paired_bootstrap(items.difference, np.random.default_rng(0), items.weights)
        row |= {"test": "queries", "low": outcome.low, "high": outcome.high}
        row |= {"p_value": outcome.p_value, "better": np.nan, "equal": np.nan, "worse": np.nan}
    return [row]
