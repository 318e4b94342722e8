"""Fit some cells of the archive again, and compare their scores with the stored ones."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hashbench.analysis.summary import records
from hashbench.api.archive import is_embedded
from hashbench.api.job import prepare_job, run_job
from hashbench.execution.progress import Progress
from hashbench.execution.study import Study
from hashbench.plugins.numerical_tolerance import STEADY, tolerance
from hashbench.plugins.registry import Registry
from hashbench.plugins.selection import bare_name, full_name

if TYPE_CHECKING:
    import pandas as pd

#: The columns that identify a number of a cell.
NUMBER = ["task", "database", "codes", "measure"]


@dataclass(frozen=True)
class Compared:
    """A cell that was fitted again.

    Attributes
    ----------
    name : the cell
    difference : the largest difference of a score, nan if a score is missing
    allowed : what rounding may change of a score of the method
    failure : why there is nothing to compare, or nothing
    """

    name: str
    difference: float = 0.0
    allowed: float = 0.0
    failure: str = ""

    @property
    def agrees(self) -> bool:
        """Whether all scores are those of the archive up to rounding."""
        return not self.failure and self.difference <= self.allowed

    def __str__(self) -> str:
        if self.failure:
            return f"{self.name}: not compared: {self.failure}"
        outcome = "agrees" if self.agrees else "DIFFERS"
        return f"{self.name}: {outcome}, by {self.difference:.6f} (allowed: {self.allowed:.6f})"


def allowed_difference(method: str) -> float:
    """Return what rounding may change of a score: what was measured, and what tables round."""
    return max(tolerance(method), STEADY)


def choose_sample(table: pd.DataFrame, registry: Registry, count: int, seed: int) -> pd.DataFrame:
    """Return one row for each cell of a random sample of those that can be fitted again here.

    These are cells of embedded datasets whose method is here and is not tuned: a tuned cell is a
    cell with other parameters.
    """
    embedded = [name for name, plugin in registry.datasets.items() if is_embedded(plugin)]
    able = table["dataset"].map(bare_name).isin(embedded) & ~table["tuned"]
    able &= table["method"].isin(list(registry.methods))
    cells = table[able].drop_duplicates("cell").sort_values("cell")
    chosen = np.random.default_rng(seed).permutation(len(cells))[:count]
    return cells.iloc[np.sort(chosen)]


def rerun_sample(
    table: pd.DataFrame, registry: Registry, count: int, seed: int, progress: Progress
) -> list[Compared]:
    """Fit a random sample of cells again and compare every score of each with its rows."""
    found = []
    for row in records(choose_sample(table, registry, count, seed)):
        label = full_name(row.method, row.params)
        stored = table[table["cell"] == row.cell]
        study = Study(
            methods=(label,),
            datasets=(row.dataset,),
            bits=(int(row.bits),),
            seeds=(int(row.seed),),
            measures=tuple(dict.fromkeys(stored["measure"])),
        )
        name = f"{label} at {row.bits} bits on {row.dataset}, seed {row.seed}"
        with tempfile.TemporaryDirectory(prefix="hashbench-sample-") as folder:
            job = prepare_job(replace(study, out=folder), progress.message)
            results, _, runs = run_job(job, progress)
            failure = next((str(run["reason"]) for run in runs if run["status"] != "done"), "")
            if not failure and [cell.id for cell in results.cells] != [row.cell]:
                failure = "the data, the split or the parameters are others now"
            difference = float("nan") if failure else _difference(stored, results.scores())
        found.append(Compared(name, difference, allowed_difference(row.method), failure))
    return found


def _difference(stored: pd.DataFrame, scores: pd.DataFrame) -> float:
    """Return the largest difference of two tables of scores; inf if a number is missing."""
    old, new = (each.set_index(NUMBER)["value"] for each in (stored, scores))
    if not old.index.isin(new.index).all():
        return float("inf")
    gap = (old - new.reindex(old.index)).abs()
    return float(gap.fillna(0.0).max())  # nan: not defined, in both
