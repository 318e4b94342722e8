"""Comparing methods: over independent blocks, and two of them query by query.

A block is one dataset split by one seed. Tasks and code lengths of a split share its rows, so
that their scores are averaged within the block, never counted as further blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hashbench.base.errors import HashbenchError, unknown
from hashbench.plugins.selection import bare_name
from hashbench.results import stats

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.results.results import Results
    from hashbench.studies.store import Stored

SAMPLES = 10_000
ALPHA = 0.05


def blocks(scores: pd.DataFrame) -> pd.DataFrame:
    """Return a row a block and a column a method: scores averaged over tasks and code lengths.

    Methods that lack a score somewhere are left out; a mean over other cells would not compare.

    Parameters
    ----------
    scores : of one measure and one kind of database codes
    """
    cells = scores.pivot_table(
        index=["dataset", "seed", "bits", "task"], columns="method", values="value"
    )
    complete = cells.loc[:, cells.notna().all()]
    return complete.groupby(["dataset", "seed"]).mean()


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
    """Compare two methods query by query, for every dataset, code length and task.

    A query that is asked under several seeds counts once, with its mean over them: the interval
    says how far the difference depends on which items were asked.

    Returns
    -------
    DataFrame
        dataset, bits, task, database, measure, first, second (means), difference (first minus
        second), low and high (95 % interval of a bootstrap over queries), p_value (of the same,
        two-sided), p_holm (corrected over all rows), at_most (whether the p-values are as small as
        the resamples can tell), queries, seeds, seeds_won (by the first)
    """
    import pandas as pd

    cells: dict[tuple[str, int], list[tuple[Stored, Stored]]] = {}
    done = {(s.cell.label, s.cell.dataset, s.cell.bits, s.cell.seed): s for s in results.done()}
    for (label, dataset, bits, seed), stored in done.items():
        other = done.get((second, dataset, bits, seed))
        if label == first and other is not None:
            cells.setdefault((dataset, bits), []).append((stored, other))
    rows = [
        row
        for (dataset, bits), pairs in cells.items()
        for task in results.tasks
        for database in results.databases
        for row in _compared(results, pairs, dataset, bits, task, database, measure)
    ]
    if not rows:
        raise HashbenchError(f"{first} and {second}: found no cell that both have done")
    table = pd.DataFrame(rows)
    # a bootstrap cannot tell a p-value from a smaller one below what its samples resolve
    table["at_most"] = table["p_value"] <= 2 / SAMPLES
    table["p_value"] = table["p_value"].clip(lower=2 / SAMPLES)
    table["p_holm"] = stats.holm(table["p_value"].to_numpy())
    return table


def _compared(
    results: Results,
    pairs: list[tuple[Stored, Stored]],
    dataset: str,
    bits: int,
    task: str,
    database: str,
    measure: str,
) -> list[dict[str, Any]]:
    """Return one row, or none if the methods do not both have such codes."""
    from hashbench.results.per_query import (
        per_query,  # it computes: listing reports should not wait for it
    )

    sums: dict[int, npt.NDArray[np.float64]] = {}
    won = 0
    for pair in pairs:
        values = [per_query(results, stored, task, database, measure) for stored in pair]
        if values[0] is None or values[1] is None:
            return []
        both = np.column_stack([values[0], values[1]])
        queries = results.split(pair[0].cell.split).query
        counted = np.isfinite(both).all(axis=1)
        won += bool(both[counted, 0].mean() > both[counted, 1].mean())
        for query, scores in zip(queries[counted], both[counted], strict=True):
            total = sums.setdefault(int(query), np.zeros(3))
            total += (*scores, 1)
    if not sums:
        return []
    totals = np.array(list(sums.values()))
    means = totals[:, :2] / totals[:, 2:]
    rng = np.random.default_rng(0)
    outcome = stats.paired_bootstrap(means[:, 0], means[:, 1], rng, SAMPLES)
    row = {
        "dataset": dataset,
        "bits": bits,
        "task": task,
        "database": database,
        "measure": measure,
        "first": means[:, 0].mean(),
        "second": means[:, 1].mean(),
        **outcome._asdict(),
        "queries": len(means),
        "seeds": len(pairs),
        "seeds_won": won,
    }
    return [row]
