"""The cells that came to nothing, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hashbench.analysis.summary import grouped
from hashbench.render.report import Exhibit, Group, NothingToShowError, Report, Table, TableCell
from hashbench.render.style import Style

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.analysis.results import Results


class Failures(Report):
    """Every cell that failed, ran out of time or memory, was skipped, or has not run."""

    name = "failures"
    title = "What did not work"
    section = "Codes and failures"

    def data(self, results: Results) -> pd.DataFrame:
        """Return one row per cell that is not done."""
        runs = results.runs()
        wrong = runs[runs["status"] != "done"]
        if wrong.empty:
            raise NothingToShowError(f"all {len(runs)} cells are done")
        columns = ["dataset", "method", "bits", "seed", "status", "reason"]
        return wrong[columns].fillna({"reason": ""}).reset_index(drop=True)

    def draw(self, data: pd.DataFrame, style: Style) -> Sequence[Exhibit]:
        """Return one table, cells that ended alike on one line."""
        rows = []
        alike = grouped(data, "dataset", "method", "status", "reason")
        for (dataset, method, status, reason), group in alike:
            rows.append(
                [
                    TableCell(style.datasets[dataset].title),
                    TableCell(style.methods[method].title),
                    TableCell(_listed(group["bits"])),
                    TableCell(_listed(group["seed"])),
                    TableCell(status),
                    TableCell(reason),
                ]
            )
        header = [(name, 1) for name in ("dataset", "method", "bits", "seeds", "status", "reason")]
        caption = style.summary(f"{len(data)} cells without a result")
        return [Table("", caption, [header], [Group("", rows)], "lllllw")]


def _listed(numbers: pd.Series) -> str:
    return ", ".join(str(each) for each in sorted(set(numbers)))
