"""How long training takes: a table by dataset, and dots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from hashbench.analysis.summary import grouped, outcomes, over_seeds, records
from hashbench.render import figures, text_layout, ticks
from hashbench.render.report import (
    Exhibit,
    Group,
    NothingToShowError,
    Report,
    Table,
    TableCell,
    method_cell,
    slices,
)
from hashbench.render.style import Style
from hashbench.render.tables import number_text

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.analysis.results import Results


class TrainingTime(Report):
    """Seconds of training by method and dataset; recording the objective does not count."""

    name = "training-time"
    title = "Training time"
    section = "Time and memory"

    def data(self, results: Results) -> pd.DataFrame:
        """Return mean seconds and peak memory; ``alone`` if nothing else ran meanwhile."""
        runs = results.runs()
        runs = runs[runs["bits"].isin(results.figure_bits)]
        done = runs[runs["status"] == "done"]
        if done.empty:
            raise NothingToShowError("no cell is done")
        keys, values = ["dataset", "method", "bits"], ["fit_seconds", "encode_seconds"]
        columns = [*keys, "seed", *values, "peak_memory"]
        table = over_seeds(done[columns], [*values, "peak_memory"])
        where = [group for _, group in grouped(done, *keys)]
        table["alone"] = [bool(group["alone"].eq(True).all()) for group in where]
        table["threads"] = [group["threads"].max() for group in where]
        table["cpu"] = ["; ".join(sorted(set(group["cpu"].dropna()))) for group in where]
        grid = outcomes(results)
        grid = grid[grid["bits"].isin(results.figure_bits)]
        return grid.merge(table, on=keys, how="left")

    def draw(self, data: pd.DataFrame, style: Style) -> Sequence[Exhibit]:
        """Return a table and a figure for each code length."""
        exhibits: list[Exhibit] = []
        for bits, group in grouped(data, "bits"):
            caption = style.summary(
                f"Training time in seconds at {bits} bits; {_circumstances(group)}",
                seeds=[int(seeds) for seeds in group["seeds"].dropna()],
            )
            exhibits.append(_table(group, f"{bits} bits", caption, style))
            for name, part in _sheets(group, style):
                done = part.dropna(subset="fit_seconds")
                title = f"dots {bits} bits {name}"
                exhibits.append(figures.picture(title, caption, style, done, _figure))
        return exhibits


def _circumstances(data: pd.DataFrame) -> str:
    threads = sorted({int(each) for each in data["threads"].dropna()})
    where = sorted({cpu for cpu in data["cpu"].dropna() if cpu})
    plural = "" if threads == [1] else "s"
    words = [f"{' or '.join(map(str, threads))} thread{plural}"] if threads else []
    words += [" and ".join(where)] if where else []
    alone = data.loc[data["status"] == "done", "alone"].eq(True).all()
    words.append("cells ran one at a time" if alone else "other cells ran at the same time")
    return ", ".join(words)


def _table(data: pd.DataFrame, name: str, caption: str, style: Style) -> Table:
    datasets = style.ordered_datasets(data["dataset"])
    methods = style.ordered(data["method"])
    rows = {(row.method, row.dataset): row for row in records(data)}
    lines = []
    for method in methods:
        entries = [method_cell(style, method)]
        for dataset in datasets:
            row = rows.get((method, dataset))
            if row is None:
                entries.append(TableCell(""))
            elif row.fit_seconds == row.fit_seconds:
                some = f"{row.seeds:.0f}/{row.planned}" if row.seeds < row.planned else ""
                entries.append(TableCell(number_text(row.fit_seconds), mark=some))
            else:
                entries.append(TableCell(f"– {row.status}"))
        lines.append(entries)
    header = [("", 1), *((style.datasets[each].title, 1) for each in datasets)]
    columns, notes = "l" + "r" * len(datasets), style.marks(methods)
    return Table(name, caption, [header], [Group("", lines)], columns, notes, slices(data))


def _sheets(data: pd.DataFrame, style: Style) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the datasets whose dots stand in one figure."""
    datasets = style.ordered_datasets(data["dataset"])
    across = 1 if style.width == "column" else 3
    for start in range(0, len(datasets), across):
        chosen = datasets[start : start + across]
        name = "" if len(datasets) <= across else " ".join(chosen)
        yield name, data[data["dataset"].isin(chosen)]


def _figure(done: pd.DataFrame, style: Style) -> Any:
    """Draw a dot a method with its value beside it: a bar has no origin on a logarithmic axis."""
    datasets = style.ordered_datasets(done["dataset"])
    most = int(done.groupby("dataset")["method"].nunique().max())
    styles = style.figure_styles(done["method"])
    figure, axes = figures.make_figure(style, len(datasets), figures.row_panel_height(most))
    for panel, dataset in zip(axes, datasets, strict=True):
        part = done[done["dataset"] == dataset].sort_values("fit_seconds", ascending=False)
        ticks.log_axis(panel, "x")
        for y, row in enumerate(records(part)):
            colour = styles[row.method].colour
            spread = row.fit_seconds_std if row.fit_seconds_std == row.fit_seconds_std else 0.0
            low = max(row.fit_seconds - spread, row.fit_seconds / 10)
            panel.hlines(y, low, row.fit_seconds + spread, color=colour, linewidth=1.0)
            panel.plot(row.fit_seconds, y, "o", color=colour, markersize=4)
            panel.annotate(
                number_text(row.fit_seconds),
                (row.fit_seconds + spread, y),
                (4, 0),
                textcoords="offset points",
                va="center",
                fontsize=text_layout.SMALLEST,
            )
        names = [text_layout.label(style, method) for method in part["method"]]
        panel.set_yticks(range(len(part)), names)
        panel.tick_params(axis="y", length=0)
        panel.set(title=text_layout.panel_title(style, dataset), ylim=(-0.6, len(part) - 0.4))
        panel.set_xlabel("training seconds")
    ends = [panel.get_xlim() for panel in axes]
    for panel in axes:  # one scale for all datasets, with room for the last value
        panel.set_xlim(min(low for low, _ in ends), 2.5 * max(high for _, high in ends))
    return figure
