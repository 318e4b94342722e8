"""How training time and memory grow with the number of rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hashbench.analysis.summary import grouped, over_seeds, records
from hashbench.plugins.selection import bare_name, without
from hashbench.render import figures, plots, ticks
from hashbench.render.colours import GREY, SOFT
from hashbench.render.report import (
    Exhibit,
    Group,
    NothingToShowError,
    Picture,
    Report,
    Table,
    TableCell,
    method_cell,
)
from hashbench.render.style import Style

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.analysis.results import Results

QUANTITIES = {"fit_seconds": "training seconds", "own_memory": "memory in MB"}


class Scaling(Report):
    """Training seconds and peak memory against training rows, with the fitted exponents."""

    name = "scaling"
    title = "Growth with the rows"
    section = "Time and memory"

    def data(self, results: Results) -> pd.DataFrame:
        """Return seconds and memory for each number of rows, and the slope of their logarithms.

        Sizes of one dataset (``rows`` or ``train_rows`` set differently) are one curve. Memory is
        what the process took beyond its start.
        """
        runs = results.runs()
        done = runs[(runs["status"] == "done") & runs["bits"].isin(results.figure_bits)].copy()
        done["size_of"] = done["dataset"]
        done["dataset"] = [without(label, "rows") for label in done["dataset"]]
        done["shown"] = done["method"]
        done["method"] = [without(label, "train_rows") for label in done["method"]]
        keys = ["dataset", "method", "bits"]
        sizes = done.groupby(keys)["train_rows"].transform("nunique")
        done = done[sizes > 1]
        if done.empty:
            raise NothingToShowError("one size of each dataset; set rows or train_rows differently")
        done["own_memory"] = done["own_memory"] / 1e6
        values = list(QUANTITIES)
        table = over_seeds(done[[*keys, "size_of", "shown", "train_rows", "seed", *values]], values)
        for name in values:
            table[f"{name}_slope"] = np.nan
            for (dataset, method, bits), group in grouped(done, *keys):
                same = table[keys].eq([dataset, method, bits]).all(axis=1)
                table.loc[same, f"{name}_slope"] = slope(group["train_rows"], group[name])
        return table.sort_values([*keys, "train_rows"], kind="stable", ignore_index=True)

    def draw(self, data: pd.DataFrame, style: Style) -> Sequence[Exhibit]:
        """Return a figure and a table of exponents for each dataset and code length."""
        exhibits: list[Exhibit] = []
        for (dataset, bits), group in grouped(data, "dataset", "bits"):
            summary = style.summary(
                f"Training time and memory against training rows at {bits} bits",
                seeds=list(group["seeds"]),
            )
            about = style.datasets[group["size_of"].iloc[0]]
            # its title without the size
            title = about.title.partition(" [")[0] + " " + dataset.removeprefix(bare_name(dataset))
            facts = [f"{title.rstrip()}: {about.facts}."]
            notes = style.marks(group["shown"])
            words = " ".join([summary, *facts])
            name = f"{dataset} {bits} bits"
            figure = figures.deferred(_figure, group, style, f"{title.rstrip()}, {bits} bits")
            exhibits.append(Picture(name, words, figure, notes))
            exhibits.append(_table(group, f"exponents {name}", [*notes, *facts], style, bits))
        return exhibits


def slope(rows: Iterable[float], values: Iterable[float]) -> float:
    """Return the exponent b of values = a rows^b, by least squares on logarithms."""
    x, y = np.array(list(rows), float), np.array(list(values), float)
    good = (y > 0) & np.isfinite(y)
    if len(set(x[good])) < 2:
        return float("nan")
    return float(np.polyfit(np.log(x[good]), np.log(y[good]), 1)[0])


def _figure(data: pd.DataFrame, style: Style, heading: str) -> Any:
    shown = dict(zip(data["method"], data["shown"], strict=True))
    styles = style.figure_styles(shown.values())
    figure, axes = figures.make_figure(style, 2, 1.9, len(shown))
    for panel, (name, words) in zip(axes, QUANTITIES.items(), strict=True):
        ticks.log_axis(panel, "x")
        ticks.log_axis(panel, "y")
        for method, line in grouped(data, "method"):
            plot_style = styles[shown[method]]
            line_data = plot_style, line["train_rows"], line[name]
            plots.plot_line(panel, *line_data)
            if plot_style.colour != GREY:
                plots.plot_band(panel, *line_data, line[f"{name}_std"])
        ends = np.array([data["train_rows"].min(), data["train_rows"].max()])
        linear = data[name].median() * ends / np.sqrt(ends.prod())
        panel.plot(ends, linear, color=SOFT, linewidth=0.7, linestyle="--")
        sizes = sorted(set(data["train_rows"]))
        panel.set_xticks(sizes, [ticks.number(size) for size in sizes])
        panel.minorticks_off()
        panel.set(xlabel="training rows", ylabel=words)
    figures.add_heading(figure, style, heading)
    order = [shown[method] for method in figures.by_value(data, "fit_seconds")]
    linear_key = {"linear growth": figures.key_style("", line="--")}
    figures.shared_legend(figure, style, order, more=linear_key)
    return figure


def _table(data: pd.DataFrame, name: str, notes: list[str], style: Style, bits: int) -> Table:
    rows = []
    for row in records(data.drop_duplicates("method")):
        exponents = (row.fit_seconds_slope, row.own_memory_slope)
        numbers = [TableCell(f"{value:.2f}" if value == value else "–") for value in exponents]
        rows.append([method_cell(style, row.shown), *numbers])
    least, most = data["train_rows"].min(), data["train_rows"].max()
    caption = style.summary(
        f"Exponent b of seconds and of memory growing as rows to the power of b, from {least:.0f} "
        f"to {most:.0f} training rows at {bits} bits",
        seeds=list(data["seeds"]),
    )
    header = [("", 1), ("seconds", 1), ("memory", 1)]
    return Table(name, caption, [header], [Group("", rows)], "lrr", notes)
