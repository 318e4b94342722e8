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
                "Seen database: learned codes are those that training itself gave these rows, "
                "encoded ones come from hash functions that were trained on the same rows; "
                f"{bits} bits",
                measure=measure,
                seeds=list(group["seeds"]),
            )
            name, facts = f"{measure} {bits} bits", style.facts(group["dataset"])
            exhibits.append(_table(group, name, summary, style))
            for sheet, part in figures.paginate(group, style, rows=True):
                words = " ".join(
                    [summary, "Filled: learned; open: encoded.", *_absent(style), *facts]
                )
                figure = figures.deferred(_figure, part, style)
                notes = style.notes(part["method"])
                exhibits.append(
                    Picture(f"figure {name} {sheet}", words, figure, notes, slices(part))
                )
        return exhibits


def _absent(style: Style) -> list[str]:
    """Name the methods that are not there because they have no learned codes."""
    titles = ", ".join(style.methods[name].title for name in style.unlearned)
    return [f"Without learned codes, and so not shown: {titles}."] if titles else []


def _table(data: pd.DataFrame, name: str, summary: str, style: Style) -> Table:
    datasets = [each for each in style.datasets if each in set(data["dataset"])]
    methods = style.ordered(data["method"])
    found = {(row.task, row.method, row.dataset): row for row in records(data)}
    groups = []
    for task in dict.fromkeys(data["task"]):
        rows = []
        for method in methods:
            shown = style.methods[method]
            entries = [TableCell(shown.title, mark=shown.mark)]
            for dataset in datasets:
                entries += _entries(found.get((task, method, dataset)))
            rows.append(entries)
        groups.append(Group(arrow(task), rows))
    header = [
        [("", 1), *((style.datasets[each].title, 3) for each in datasets)],
        [("", 1), *((word, 1) for _ in datasets for word in ("encoded", "learned", "difference"))],
    ]
    columns = "l" + "rrr" * len(datasets)
    notes = [*style.notes(methods), *_absent(style), *style.facts(datasets)]
    return Table(name, summary, header, groups, columns, notes, slices(data))


def _entries(row: Any) -> list[TableCell]:
    if row is None:
        return [TableCell("")] * 3
    return [
        TableCell(f"{row.encoded:.4f}"),
        TableCell(f"{row.learned:.4f}"),
        TableCell(f"{row.difference:+.4f}".replace("-", "−")),
    ]


def _figure(data: pd.DataFrame, style: Style) -> Any:
    figure, panels, heights = plots.row_figure(data, style)
    coloured = style.coloured(data["method"])
    for row in records(data):
        panel, y = panels[row.dataset, row.task], heights[row.method]
        colour = style.method_style(row.method, coloured).colour
        panel.plot([row.encoded, row.learned], [y, y], color=colour, linewidth=1.2)
        panel.plot(row.encoded, y, "o", color=colour, markerfacecolor="white")
        panel.plot(row.learned, y, "o", color=colour)
    next(iter(panels.values())).set_xlim(0, None)
    figures.name_axes(list(panels.values()), data["measure"].iloc[0], "")
    return figure
