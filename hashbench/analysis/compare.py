"""Comparing methods: over blocks, and two of them dataset by dataset.

A block is a distinct split of a dataset (`hashbench.analysis.evidence`). Tasks and code lengths
of a split share its rows, so that their scores are averaged within the block, never counted as
further blocks. Means are those of tables: over the queries of a split, then over seeds.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hashbench.analysis import bayesian_tests, tests
from hashbench.analysis.bootstrap import (
    SAMPLES,
    Pairs,
    all_pairs,
    paired_bootstrap,
    resampled_means,
)
from hashbench.analysis.evidence import Evidence, find_evidence
from hashbench.core.errors import HashbenchError, unknown
from hashbench.data.splits import Searched
from hashbench.plugins.selection import bare_name

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.analysis.results import Results
    from hashbench.execution.store import Stored

Pair = tuple["Stored", "Stored"]

#: The smallest p-value of a bootstrap: smaller ones cannot be resolved by its samples.
LEAST_P = 2 / SAMPLES


def blocks(scores: pd.DataFrame, evidence: Evidence) -> pd.DataFrame:
    """Return scores averaged over tasks and code lengths: one row per block, one column per method.

    Methods that lack a score somewhere are left out; a mean over other cells would not compare.

    Parameters
    ----------
    scores : of one measure, one part of the database and one kind of codes
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
    """Return the full name of a method of the results, given with or without its parameters."""
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
    otherwise by a bootstrap over queries, which is no evidence about training on other rows.

    Returns
    -------
    DataFrame
        dataset, bits, task, database, codes, measure, first, second (means, as in tables),
        difference (first minus second), low and high (its 95 % interval), p_value (two-sided),
        p_holm (corrected over all rows), test ("splits" or "queries"), at_most (whether the p-value
        is the smallest of the bootstrap), better, equal, worse (probabilities over splits; nan
        otherwise), queries (distinct items), seeds, blocks (distinct splits), blocks_won (by the
        first)
    """
    import pandas as pd

    evidence = find_evidence(results)
    rows = [
        row
        for (dataset, bits), pairs in _pairs(results, first, second).items()
        for task in results.tasks
        for searched in results.searched
        for row in _compared(results, evidence, pairs, (dataset, bits, task, searched), measure)
    ]
    if not rows:
        raise HashbenchError(f"{first} and {second}: found no cell that both have done")
    table = pd.DataFrame(rows)
    table["at_most"] = (table["test"] == "queries") & (table["p_value"] <= LEAST_P)
    table["p_value"] = table["p_value"].where(~table["at_most"], LEAST_P)
    table["p_holm"] = tests.holm(table["p_value"].to_numpy())
    return table


def over_items(results: Results, first: str, second: str, measure: str) -> dict[str, Any]:
    """Compare two methods on one dataset by a bootstrap over query items.

    The values of an item for all tasks, code lengths and seeds are averaged.
    """
    requested = [
        _read_values(results, pair, task, searched, measure)
        for pairs in _pairs(results, first, second).values()
        for pair in pairs
        for task in results.tasks
        for searched in results.searched
    ]
    items = _average_items([each for each in requested if each is not None])
    found = paired_bootstrap(items.difference, np.random.default_rng(0), items.weights)
    return {
        **found._asdict(),
        "p_value": max(found.p_value, LEAST_P),
        "at_most": found.p_value <= LEAST_P,
        "queries": len(items.difference),
    }


class Compared(NamedTuple):
    """Methods, and the comparisons of every two of them."""

    methods: list[str]
    pairs: Pairs


def compare_all(
    results: Results, dataset: str, bits: int, measure: str
) -> dict[tuple[str, Searched], Compared]:
    """Compare every two methods over query items, as `compare` does for one pair.

    All pairs share the resampled items, which is faster than one bootstrap per pair. Methods whose
    seeds differ from those of most are left out.

    Returns
    -------
    dict
        By task and what is searched.
    """
    # by method and seed; one cell after the other, so that its values are read once
    found: dict[tuple[str, Searched], dict[str, dict[int, _Values]]] = {}
    for stored in results.done():
        if (stored.cell.dataset, stored.cell.bits) != (dataset, bits):
            continue
        for about in itertools.product(results.tasks, results.searched):
            one = _read_values(results, [stored], *about, measure)
            if one is not None:
                seeds = found.setdefault(about, {}).setdefault(stored.cell.label, {})
                seeds[stored.cell.seed] = one
    alike = {about: _same_queries(by_method) for about, by_method in found.items()}
    # slices whose items have equal weights share the resampled items
    groups: dict[bytes, list[tuple[str, Searched]]] = {}
    for about, (_, items) in alike.items():
        groups.setdefault(items.weights.tobytes(), []).append(about)
    compared = {}
    for abouts in groups.values():
        values = np.hstack([alike[about][1].values for about in abouts])
        weights = alike[abouts[0]][1].weights
        means = resampled_means(values, np.random.default_rng(0), weights)
        for about in abouts:
            methods = alike[about][0]
            compared[about] = Compared(methods, all_pairs(means[: len(methods)]))
            means = means[len(methods) :]
    return compared


def _same_queries(by_method: dict[str, dict[int, _Values]]) -> tuple[list[str], _Items]:
    """Return the methods with the most common queries, and their values for every item."""
    groups: dict[tuple[tuple[int, bytes], ...], list[str]] = {}
    for name, seeds in by_method.items():
        requested = tuple((seed, one.rows.tobytes()) for seed, one in sorted(seeds.items()))
        groups.setdefault(requested, []).append(name)
    methods = max(groups.values(), key=len)
    return methods, _average_items(
        _Values(seed, one.rows, np.hstack([by_method[name][seed].values for name in methods]))
        for seed, one in by_method[methods[0]].items()
    )


class _Values(NamedTuple):
    """Values of one task for some methods: rows of the queries, and values (rows, methods)."""

    seed: int
    rows: Any
    values: Any


class _Items(NamedTuple):
    """Query items: the values of each method, (items, methods), and the weights of items."""

    values: tests.Floats
    weights: tests.Floats

    @property
    def difference(self) -> tests.Floats:
        """The values of the first method minus those of the second."""
        difference: tests.Floats = self.values[:, 0] - self.values[:, 1]
        return difference


def _pairs(results: Results, first: str, second: str) -> dict[tuple[str, int], list[Pair]]:
    """Return the cells that both methods have done, by dataset and code length."""
    requested = list(dict.fromkeys(cell.dataset for cell in results.plan.cells))
    done = {(s.cell.label, s.cell.dataset, s.cell.bits, s.cell.seed): s for s in results.done()}
    cells: dict[tuple[str, int], list[Pair]] = {}
    for (label, dataset, bits, seed), stored in done.items():
        other = done.get((second, dataset, bits, seed))
        if label == first and other is not None:
            cells.setdefault((dataset, bits), []).append((stored, other))
    return dict(sorted(cells.items(), key=lambda each: (requested.index(each[0][0]), each[0][1])))


def _read_values(
    results: Results, cells: Sequence[Stored], task: str, searched: Searched, measure: str
) -> _Values | None:
    """Return the values of a task, or None if a method does not have such codes."""
    # a slow import, which listing reports does not need
    from hashbench.analysis.per_query import per_query

    found = [per_query(results, stored, task, searched, measure) for stored in cells]
    values = [each for each in found if each is not None]
    if len(values) < len(found):
        return None
    together = np.column_stack(values)
    counted = np.isfinite(together).all(axis=1)
    if not counted.any():
        return None
    cell = cells[0].cell
    return _Values(cell.seed, results.split(cell.split).query[counted], together[counted])


def _average_items(requested: Iterable[_Values]) -> _Items:
    """Return the mean values of every item and its weight in the mean of the means."""
    each = list(requested)
    if not each:
        return _Items(np.empty((0, 2)), np.empty(0))
    _, position = np.unique(np.concatenate([one.rows for one in each]), return_inverse=True)
    shares = np.concatenate([np.full(len(one.rows), 1 / len(one.rows)) for one in each])
    values = np.concatenate([one.values for one in each])
    weights = np.bincount(position, shares).astype(np.float64)
    sums = [np.bincount(position, shares * column) for column in values.T]
    return _Items(np.column_stack(sums) / weights[:, None], weights)


def _compared(
    results: Results,
    evidence: Evidence,
    pairs: Sequence[Pair],
    about: tuple[str, int, str, Searched],
    measure: str,
) -> list[dict[str, Any]]:
    """Return one row, or none if the methods do not both have such codes."""
    dataset, bits, task, searched = about
    requested = [_read_values(results, pair, task, searched, measure) for pair in pairs]
    found = [one for one in requested if one is not None]
    if not found or len(found) < len(requested):
        return []
    means: dict[int, list[Any]] = {}
    for one in found:
        means.setdefault(evidence.blocks[dataset, one.seed], []).append(one.values.mean(axis=0))
    over_blocks = np.array([np.mean(each, axis=0) for each in means.values()])
    difference = over_blocks[:, 0] - over_blocks[:, 1]
    overall = np.mean([one.values.mean(axis=0) for one in found], axis=0)
    items = _average_items(found)
    row: dict[str, Any] = {
        "dataset": dataset, "bits": bits, "task": task, **searched._asdict(),
        "measure": measure,
        "first": overall[0], "second": overall[1], "difference": overall[0] - overall[1],
        "queries": len(items.difference), "seeds": len(found), "blocks": len(means),
        "blocks_won": int((difference > 0).sum()),
    }  # fmt: skip
    if len(means) >= tests.LEAST_BLOCKS:
        test = tests.corrected_test(difference, evidence.overlaps[dataset])
        low, high = test.interval()
        chances = bayesian_tests.over_splits(difference, evidence.overlaps[dataset])
        row |= {"test": "splits", "low": float(low), "high": float(high)}
        row |= {"p_value": float(test.p_value)}
        row |= {name: float(value) for name, value in chances._asdict().items()}
    else:
        outcome = paired_bootstrap(items.difference, np.random.default_rng(0), items.weights)
        row |= {"test": "queries", "low": outcome.low, "high": outcome.high}
        row |= {"p_value": outcome.p_value, "better": np.nan, "equal": np.nan, "worse": np.nan}
    return [row]
