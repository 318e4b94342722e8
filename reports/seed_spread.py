"""Every seed as a dot: which differences between means are larger than what chance moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hashbench.analysis.summary import grouped
from hashbench.render import figures, text_layout
from hashbench.render.report import Exhibit, NothingToShowError, Report
from hashbench.render.style import Style

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.analysis.results import Results


class SeedSpread(Report):
    """The score of every seed, with the mean and the standard deviation over seeds."""

    name = "seed-spread"
    title = "Every seed"
    section = "Scores in detail"

    def data(self, results: Results) -> pd.DataFrame:
        """Return the first measure of every cell, at the code lengths of figures."""
        scores = results.scores([results.main_measure])
        scores = scores[scores["bits"].isin(results.figure_bits)]
        if scores.empty:
            raise NothingToShowError("no cell is done")
        if scores["seed"].nunique() < 2:
            raise NothingToShowError("one seed; two or more have a spread")
        return scores

    def draw(self, data: pd.DataFrame, style: Style) -> Sequence[Exhibit]:
        """Return a figure for each code length, database and kind of codes."""
        pictures = []
        for (bits, database, codes), group in grouped(data, "bits", "database", "codes"):
            for name, part in figures.paginate(group, style, rows=True):
                measure = str(part["measure"].iloc[0])
                seeds = part.groupby(["dataset", "method"])["seed"].nunique()
                caption = style.summary(
                    f"The score of every seed at {bits} bits, with mean and standard deviation; "
                    "the horizontal axis does not begin at zero",
                    measure=measure,
                    database=database,
                    codes=codes,
                    seeds=[int(count) for count in seeds],
                )
                title = f"{measure} {bits} bits {database} {codes} {name}"
                pictures.append(figures.picture(title, caption, style, part, _figure))
        return pictures


def _figure(data: pd.DataFrame, style: Style) -> Any:
    panels = figures.list_panels(data, style)
    most = int(data.groupby("dataset")["method"].nunique().max())
    across = 1 if style.width == "column" else figures.choose_columns(style, len(panels), most)
    figure, axes = figures.make_figure(
        style, len(panels), figures.row_panel_height(most), columns=across
    )
    figures.share_axes(axes, panels, "x")
    styles = style.figure_styles(data["method"])
    colours = {name: shown.colour for name, shown in styles.items()}
    for panel, (dataset, task) in zip(axes, panels, strict=True):
        part = data[(data["dataset"] == dataset) & (data["task"] == task)]
        values = part.groupby("method", sort=False)["value"]
        means = values.mean().sort_values(ascending=False, kind="stable")
        spread = values.std().reindex(means.index).fillna(0.0)
        order = list(means.index)
        row_colours, rows = [colours[name] for name in order], range(len(order))
        panel.scatter(
            part["value"],
            part["method"].map({name: row for row, name in enumerate(order)}),
            s=6,
            c=list(part["method"].map(colours)),
            alpha=0.45,
            linewidth=0,
        )
        panel.hlines(rows, means - spread, means + spread, color=row_colours, linewidth=0.9)
        panel.scatter(means, rows, s=45, c=row_colours, marker="|", linewidth=1.1)
        panel.set_ylim(len(order) - 0.5, -0.5)
        panel.set_yticks(range(len(order)), [text_layout.label(style, name) for name in order])
        panel.tick_params(axis="y", length=0)
    figures.write_titles(style, axes, panels, margin=60)
    figures.name_axes(axes, data["measure"].iloc[0], "")
    return figure
