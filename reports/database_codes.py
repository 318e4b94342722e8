"""Learned against encoded database codes: how much a score owes to labels of the database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hashbench.analysis.summary import grouped, over_seeds, records
from hashbench.render import figures
from hashbench.render.report import (
    Entry,
    Exhibit,
    Group,
    NothingToShowError,
    Picture,
    Report,
    Table,
    slices,
)
from hashbench.render.style import Look, arrow

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.analysis.results import Results

KEYS = ["dataset", "method", "bits", "seed", "task", "measure"]


class DatabaseCodes(Report):
    """Scores with learned and with encoded database codes, side by side."""

    name = "database-codes"
    title = "Learned and encoded database codes"
    section = "Scores in detail"

    def data(self, results: Results) -> pd.DataFrame:
        """Return both scores and learned minus encoded, means over seeds."""
        scores = results.scores([results.main_measure])
        scores = scores[scores["bits"].isin(results.figure_bits)]
        wide = scores.pivot(index=KEYS, columns="database", values="value").reset_index()
        if "learned" not in wide or "encoded" not in wide:
            raise NothingToShowError("needs both learned and encoded codes of the database")
        wide = wide.dropna(subset=["encoded", "learned"])
        wide["difference"] = wide["learned"] - wide["encoded"]
        return over_seeds(wide, ["encoded", "learned", "difference"])

    def draw(self, data: pd.DataFrame, look: Look) -> Sequence[Exhibit]:
        """Return a table and a figure for each code length."""
        exhibits: list[Exhibit] = []
        for (measure, bits), group in grouped(data, "measure", "bits"):
            summary = look.summary(
                f"Learned codes of the database have seen its labels, encoded ones have not; "
                f"{bits} bits",
                measure=measure,
                seeds=list(group["seeds"]),
            )
            name, facts = f"{measure} {bits} bits", look.facts(group["dataset"])
            exhibits.append(_table(group, name, summary, look))
            for sheet, part in figures.sheets(group, look, rows=True):
                words = " ".join(
                    [summary, "Filled: learned; open: encoded.", *_absent(look), *facts]
                )
                figure = figures.later(_figure, part, look)
                notes = look.notes(part["method"])
                exhibits.append(
                    Picture(f"figure {name} {sheet}", words, figure, notes, slices(part))
                )
        return exhibits


def _absent(look: Look) -> list[str]:
    """Name the methods that are not there because they have no learned codes."""
    titles = ", ".join(look.methods[name].title for name in look.unlearned)
    return [f"Without learned codes, and so not shown: {titles}."] if titles else []


def _table(data: pd.DataFrame, name: str, summary: str, look: Look) -> Table:
    datasets = [each for each in look.datasets if each in set(data["dataset"])]
    methods = look.ordered(data["method"])
    found = {(row.task, row.method, row.dataset): row for row in records(data)}
    groups = []
    for task in dict.fromkeys(data["task"]):
        rows = []
        for method in methods:
            shown = look.methods[method]
            entries = [Entry(shown.title, mark=shown.mark)]
            for dataset in datasets:
                entries += _entries(found.get((task, method, dataset)))
            rows.append(entries)
        groups.append(Group(arrow(task), rows))
    header = [
        [("", 1), *((look.datasets[each].title, 3) for each in datasets)],
        [("", 1), *((word, 1) for _ in datasets for word in ("encoded", "learned", "difference"))],
    ]
    columns = "l" + "rrr" * len(datasets)
    notes = [*look.notes(methods), *_absent(look), *look.facts(datasets)]
    return Table(name, summary, header, groups, columns, notes, slices(data))


def _entries(row: Any) -> list[Entry]:
    if row is None:
        return [Entry("")] * 3
    return [
        Entry(f"{row.encoded:.4f}"),
        Entry(f"{row.learned:.4f}"),
        Entry(f"{row.difference:+.4f}".replace("-", "−")),
    ]


def _figure(data: pd.DataFrame, look: Look) -> Any:
    figure, panels, heights = figures.rows_figure(data, look)
    featured = look.featured(data["method"])
    for row in records(data):
        panel, colour = panels[row.dataset, row.task], look.drawn(row.method, featured).colour
        y = heights[row.method]
        panel.plot([row.encoded, row.learned], [y, y], color=colour, linewidth=1.2)
        panel.plot(row.encoded, y, "o", color=colour, markerfacecolor="white")
        panel.plot(row.learned, y, "o", color=colour)
    next(iter(panels.values())).set_xlim(0, None)
    figures.outer_labels(list(panels.values()), data["measure"].iloc[0], "")
    return figure
