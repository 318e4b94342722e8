"""Comparing methods: over blocks, and two of them dataset by dataset.

A block is a distinct split of a dataset (`hashbench.analysis.evidence`). Tasks and code lengths
of a split share its rows, so that their scores are averaged within the block, never counted as
further blocks. Means are those of tables: over the queries of a split, then over seeds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hashbench.analysis.evidence import Evidence
from hashbench.analysis.range_tests import RangeTests
from hashbench.analysis.summary import by_seed
from hashbench.core.errors import HashbenchError, unknown
from hashbench.data.splits import SEARCHED, Searched
from hashbench.plugins.selection import bare_name

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.analysis.results import Results


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

    Intervals and p-values are those of all methods of the study compared at once, as in tables.

    Returns
    -------
    DataFrame
        dataset, bits, task, database, codes, measure, first, second (means over the seeds that
        both have done), difference (first minus second), low and high (its 95 % interval), p_value
        (two-sided), over (what the test is over: "splits", "initialisations", or "" without a
        test, where low, high and p_value are nan), methods (how many were compared), seeds, blocks
        (distinct splits), blocks_won (by the first)
    """
    import pandas as pd

    range_tests = RangeTests(results)
    scores = results.scores([measure])
    keys = ["dataset", "bits", "task", *SEARCHED]
    rows = []
    for (dataset, bits, task, *which), wide in by_seed(scores, keys):
        if not {first, second} <= set(wide.methods):
            continue
        pair = wide.values[:, [wide.methods.index(name) for name in (first, second)]]
        common = np.asarray(np.isfinite(pair).all(axis=1))
        if not common.any():
            continue
        searched = Searched(*which)
        found = range_tests.compare(wide, dataset, [(task, bits, searched)], measure)
        means = pair[common].mean(axis=0)
        difference = means[0] - means[1]
        seeds = [seed for seed, done in zip(wide.seeds, common.tolist(), strict=True) if done]
        over_blocks = range_tests.evidence.averaged(pair[common], seeds, dataset)
        test: dict[str, Any] = dict.fromkeys(("low", "high", "p_value"), np.nan) | {"over": ""}
        if found.test is not None and {first, second} <= set(found.methods):
            i, j = (found.methods.index(name) for name in (first, second))
            half = found.test.half_widths[i, j]
            test = {"low": difference - half, "high": difference + half}
            test |= {"p_value": float(found.test.p_values[i, j]), "over": found.over}
        rows.append(
            {
                "dataset": dataset, "bits": bits, "task": task, **searched._asdict(),
                "measure": measure, "first": means[0], "second": means[1],
                "difference": difference, **test, "methods": len(found.methods),
                "seeds": len(seeds), "blocks": len(over_blocks),
                "blocks_won": int((over_blocks[:, 0] > over_blocks[:, 1]).sum()),
            }
        )  # fmt: skip
    if not rows:
        raise HashbenchError(f"{first} and {second}: found no cell that both have done")
    order = list(dict.fromkeys(cell.dataset for cell in results.plan.cells))
    rows.sort(key=lambda row: (order.index(row["dataset"]), row["bits"]))
    return pd.DataFrame(rows)
