"""A score over a grid of a method's parameters."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from hashbench.analysis.summary import grouped, over_seeds, records
from hashbench.execution.cell import DISTANCE, HAMMING
from hashbench.plugins.selection import format_value
from hashbench.render import figures, plots, text_layout
from hashbench.render.report import Exhibit, NothingToShowError, Picture, Report, slices
from hashbench.render.style import Style

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.analysis.results import Results

KEYS = ["dataset", "bits", "task", "database", "codes", "measure"]


class Sensitivity(Report):
    """The score over the values of one parameter, or as a map over two."""

    name = "sensitivity"
    title = "Sensitivity to parameters"
    section = "Scores in detail"

    def data(self, results: Results) -> pd.DataFrame:
        """Return the score for each value, or pair of values, of what a method varies.

        With more than two parameters varied, each pair has the best over the others.
        """
        import pandas as pd

        table = over_seeds(results.scores([results.main_measure]))
        settings = {
            (cell.dataset, cell.label): (cell.method, {DISTANCE: HAMMING, **cell.parameters})
            for cell in results.cells
        }
        rows = []
        for (dataset, *_), group in grouped(table, *KEYS):
            families: dict[str, list[Any]] = {}
            for row in records(group):
                families.setdefault(settings[dataset, row.method][0], []).append(row)
            for method, members in families.items():
                grid = [(settings[dataset, row.method][1], row) for row in members]
                rows += [{**each, "method": method} for each in _pairs(grid)]
        if not rows:
            raise NothingToShowError("no method runs with two values of a parameter")
        order = ["method", *KEYS, "x_parameter", "x", "y_parameter", "y", "mean", "std", "seeds"]
        return pd.DataFrame(rows)[[*order, "label"]]

    def draw(self, data: pd.DataFrame, style: Style) -> Sequence[Exhibit]:
        """Return a figure for each method, parameters, code length and kind of codes."""
        pictures = []
        keys = ("method", "x_parameter", "y_parameter", "measure", "bits", "database", "codes")
        for (method, x, y, measure, bits, database, codes), group in grouped(data, *keys):
            title = style.methods[group["label"].iloc[0]].title.partition(" [")[0]
            caption = style.summary(
                f"{title} at {bits} bits over {f'{x} and {y}' if y else x}"
                + ("" if not y else "; the best over all other parameters that vary"),
                measure=measure,
                database=database,
                codes=codes,
                seeds=list(group["seeds"]),
            )
            figure = figures.deferred(_maps if y else _curves, group, style)
            name = f"{method} {x} {y} {measure} {bits} bits {database} {codes}"
            pictures.append(
                Picture(name, caption, figure, style.marks(group["label"]), slices(group))
            )
        return pictures


def _pairs(grid: Sequence[tuple[dict[str, Any], Any]]) -> Iterable[dict[str, Any]]:
    """Yield the best score for each value of one varied parameter, or of each pair of them."""
    values = {
        name: {format_value(params.get(name)) for params, _ in grid}
        for name in sorted({name for params, _ in grid for name in params})
    }
    varied = [name for name, found in values.items() if len(found) > 1]
    pairs = [(varied[0], "")] if len(varied) == 1 else list(itertools.combinations(varied, 2))
    for x, y in pairs:
        best: dict[tuple[str, str], Any] = {}
        for params, row in grid:
            point = (format_value(params.get(x)), format_value(params[y]) if y else "")
            if point not in best or row.mean > best[point].mean:
                best[point] = row
        for point, row in best.items():
            yield {
                **{key: getattr(row, key) for key in (*KEYS, "mean", "std", "seeds")},
                "label": row.method,
                "x_parameter": x,
                "x": point[0],
                "y_parameter": y,
                "y": point[1],
            }


def ordered(values: Iterable[str]) -> list[str]:
    """Return the values of a parameter, numbers by their size, then words."""

    def order(text: str) -> tuple[int, float, str]:
        try:
            return (0, float(text), text)
        except ValueError:
            return (1, 0.0, text)

    return sorted(set(values), key=order)


def _curves(data: pd.DataFrame, style: Style) -> Any:
    panels = figures.list_panels(data, style)
    figure, axes = figures.make_figure(style, len(panels), figures.PANEL_HEIGHT)
    figures.share_axes(axes, panels, "y")
    values = ordered(data["x"])
    plot_style = style.methods[data["label"].iloc[0]]
    for panel, (dataset, task) in zip(axes, panels, strict=True):
        part = data[(data["dataset"] == dataset) & (data["task"] == task)]
        part = part.assign(position=[values.index(x) for x in part["x"]]).sort_values("position")
        line_data = plot_style, part["position"], part["mean"]
        plots.plot_line(panel, *line_data)
        plots.plot_band(panel, *line_data, part["std"])
        panel.set_xticks(range(len(values)), [text_layout.printable(value, 10) for value in values])
    figures.write_titles(style, axes, panels)
    figures.name_axes(
        axes, text_layout.printable(data["x_parameter"].iloc[0]), data["measure"].iloc[0]
    )
    return figure


def _maps(data: pd.DataFrame, style: Style) -> Any:
    import seaborn

    panels = figures.list_panels(data, style)
    across, down = ordered(data["x"]), ordered(data["y"])
    figure, axes = figures.make_figure(style, len(panels), max(1.2, 0.3 * len(down) + 0.6))
    # one scale of colours for all panels: they are compared
    low, high = data["mean"].min(), data["mean"].max()
    for panel, (dataset, task) in zip(axes, panels, strict=True):
        part = data[(data["dataset"] == dataset) & (data["task"] == task)]
        grid = part.pivot(index="y", columns="x", values="mean").reindex(down[::-1], columns=across)
        seaborn.heatmap(
            grid,
            ax=panel,
            cmap="cividis",
            vmin=low,
            vmax=high,
            annot=True,
            fmt=".3f",
            annot_kws={"fontsize": text_layout.SMALLEST},
            cbar=False,
            linewidths=0.4,
            xticklabels=[text_layout.printable(value, 10) for value in across],
            yticklabels=[text_layout.printable(value, 10) for value in down[::-1]],
        )
        panel.set(xlabel="", ylabel="")
        panel.tick_params(length=0)
        panel.tick_params(axis="y", rotation=0)
        panel.grid(visible=False)  # where there is no cell
    figures.write_titles(style, axes, panels)
    names = (text_layout.printable(data[f"{axis}_parameter"].iloc[0]) for axis in "xy")
    figures.name_axes(axes, *names)
    return figure
