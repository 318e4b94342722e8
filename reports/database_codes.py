"""Learned against encoded codes of seen rows: what training itself does to a score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hashbench.analysis.summary import grouped, over_seeds, records
from hashbench.plugins.protocol import SEEN
from hashbench.render import figures, plots
from hashbench.render.report import (
    Exhibit,
    Group,
    NothingToShowError,
    Picture,
    Report,
    Table,
    TableCell,
    method_cell,
    slices,
)
from hashbench.render.style import Style, arrow

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.analysis.results import Results

KEYS = ["dataset", "method", "bits", "seed", "task", "measure"]


class DatabaseCodes(Report):
    """Scores with learned and with encoded codes of seen rows, side by side."""

    name = "database-codes"
    title = "Learned and encoded codes"
    section = "Scores in detail"
    every_database = True

    def data(self, results: Results) -> pd.DataFrame:
        """Return both scores and learned minus encoded, means over seeds."""
        scores = results.scores([results.main_measure])
        scores = scores[scores["bits"].isin(results.figure_bits) & scores["database"].eq(SEEN)]
        wide = scores.pivot(index=KEYS, columns="codes", values="value").reset_index()
        if "learned" not in wide or "encoded" not in wide:
            raise NothingToShowError("needs both learned and encoded codes of seen rows")
        wide = wide.dropna(subset=["encoded", "learned"])
        wide["difference"] = wide["learned"] - wide["encoded"]
        return over_seeds(wide, ["encoded", "learned", "difference"])

    def draw(self, data: pd.DataFrame, style: Style) -> Sequence[Exhibit]:
        """Return a table and a figure for each code length."""
        exhibits: list[Exhibit] = []
        for (measure, bits), group in grouped(data, "measure", "bits"):
            summary = style.summary(
                "Scores on seen rows with the codes that training itself gave them (learned) and "
                f"with those of the hash functions (encoded) at {bits} bits",
                measure=measure,
                seeds=list(group["seeds"]),
            )
            name = f"{measure} {bits} bits"
            exhibits.append(_table(group, name, summary, style))
            for sheet, part in figures.paginate(group, style, rows=True):
                figure = figures.deferred(
                    plots.dot_figure, part, style, "learned", "encoded", measure
                )
                notes = [*style.marks(part["method"]), *_absent(style)]
                exhibits.append(
                    Picture(f"figure {name} {sheet}", summary, figure, notes, slices(part))
                )
        return exhibits


def _absent(style: Style) -> list[str]:
    """Name the methods that are not there because they have no learned codes."""
    titles = ", ".join(style.methods[name].title for name in style.unlearned)
    return [f"Without learned codes, and so not shown: {titles}."] if titles else []


def _table(data: pd.DataFrame, name: str, summary: str, style: Style) -> Table:
    datasets = style.ordered_datasets(data["dataset"])
    methods = style.ordered(data["method"])
    found = {(row.task, row.method, row.dataset): row for row in records(data)}
    groups = []
    for task in dict.fromkeys(data["task"]):
        rows = []
        for method in methods:
            entries = [method_cell(style, method)]
            for dataset in datasets:
                entries += _entries(found.get((task, method, dataset)))
            rows.append(entries)
        groups.append(Group(arrow(task), rows))
    header = [
        [("", 1), *((style.datasets[each].title, 3) for each in datasets)],
        [("", 1), *((word, 1) for _ in datasets for word in ("encoded", "learned", "difference"))],
    ]
    columns = "l" + "rrr" * len(datasets)
    notes = [*style.marks(methods), *_absent(style)]
    return Table(name, summary, header, groups, columns, notes, slices(data))


def _entries(row: Any) -> list[TableCell]:
    if row is None:
        return [TableCell("")] * 3
    return [
        TableCell(f"{row.encoded:.4f}"),
        TableCell(f"{row.learned:.4f}"),
        TableCell(f"{row.difference:+.4f}".replace("-", "−")),
    ]
