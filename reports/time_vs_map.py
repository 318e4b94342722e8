"""What a better score costs: training time against a measure, with the Pareto front."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hashbench.analysis.summary import grouped, over_seeds, records
from hashbench.render import figures, ticks
from hashbench.render.colours import GREY, SOFT
from hashbench.render.label_placement import Label, label_points
from hashbench.render.report import Exhibit, NothingToShowError, Report
from hashbench.render.style import MethodStyle, Style
from hashbench.render.text_layout import label

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.analysis.results import Results


#: Of a panel with many points, in inches: their names need room.
HEIGHT = 2.2

#: Methods whose names have room in a small panel.
FEW = 5


class TimeVersusScore(Report):
    """Training time against the score, with the Pareto front."""

    name = "time-vs-map"
    title = "Training time and score"
    section = "Time and memory"

    def data(self, results: Results) -> pd.DataFrame:
        """Return mean time and score of every method, and whether it is on the front."""
        scores = results.scores([results.main_measure])
        scores = scores[scores["bits"].isin(results.figure_bits)]
        if scores.empty:
            raise NothingToShowError("no cell is done")
        times = results.runs()[["dataset", "method", "bits", "seed", "fit_seconds"]]
        joined = scores.merge(times, on=["dataset", "method", "bits", "seed"])
        table = over_seeds(joined, ["value", "fit_seconds"])
        table["front"] = False
        for _, group in grouped(table, "dataset", "bits", "task", "database", "codes"):
            front = on_front(group["fit_seconds"].to_numpy(), group["value"].to_numpy())
            table.loc[group.index, "front"] = front
        return table

    def draw(self, data: pd.DataFrame, style: Style) -> Sequence[Exhibit]:
        """Return a figure for each code length, database and kind of codes."""
        pictures = []
        for (bits, database, codes), group in grouped(data, "bits", "database", "codes"):
            for name, part in figures.paginate(group, style):
                measure = str(part["measure"].iloc[0])
                caption = style.summary(
                    f"Training time against score at {bits} bits; the line joins the methods that "
                    "no faster method beats; the vertical axis does not begin at zero",
                    measure=measure,
                    database=database,
                    codes=codes,
                    seeds=list(part["seeds"]),
                )
                title = f"{measure} {bits} bits {database} {codes} {name}"
                pictures.append(figures.picture(title, caption, style, part, _figure))
        return pictures


def on_front(seconds: Any, scores: Any) -> Any:
    """Say of every method whether no other is at least as fast and as good, and better in one."""
    faster = (seconds[:, None] <= seconds[None, :]) & (scores[:, None] >= scores[None, :])
    better = (seconds[:, None] < seconds[None, :]) | (scores[:, None] > scores[None, :])
    return ~(faster & better).any(axis=0)


def _figure(data: pd.DataFrame, style: Style) -> Any:
    panels, methods = figures.list_panels(data, style), style.ordered(data["method"])
    styles = style.figure_styles(methods)
    coloured = [method for method in methods if styles[method].colour != GREY]
    many = len(methods) > FEW
    height = HEIGHT if many else figures.PANEL_HEIGHT
    # two narrow panels have no room for names
    columns = 1 if many and style.width == "column" and len(panels) <= 2 else None
    figure, axes = figures.make_figure(style, len(panels), height, len(methods), columns)
    parts = [data[(data["dataset"] == d) & (data["task"] == t)] for d, t in panels]
    for panel, part in zip(axes, parts, strict=True):
        ticks.log_axis(panel, "x")
        front = part[part["front"]].sort_values("fit_seconds")
        steps: dict[str, Any] = {
            "where": "post",
            "color": SOFT,
            "linewidth": 0.8,
            "zorder": 1.2,
        }
        panel.step(front["fit_seconds"], front["value"], **steps)
        for row in records(part):
            panel.plot(row.fit_seconds, row.value, **_point(styles[row.method], bool(row.front)))
    _common_times(axes)
    figures.write_titles(style, axes, panels)
    figures.name_axes(axes, "training seconds", str(data["measure"].iloc[0]))
    keys = {
        "no faster method is as good": figures.key_style(),
        "a faster method is as good": figures.key_style(filled=False),
    }
    if len(coloured) < len(methods):
        others = f"{len(methods) - len(coloured)} other methods"
        keys[others] = figures.key_style() | {"color": GREY, "markerfacecolor": GREY}
    figures.add_legend(figure, style, keys)
    figures.run_layout(figure)
    for panel, part in zip(axes, parts, strict=True):
        labels = [
            Label(row.fit_seconds, row.value, label(style, row.method), _ink(styles[row.method]))
            for row in records(part[part["front"] | part["method"].isin(coloured)])
        ]
        label_points(panel, labels, panel.lines[1:], _corners(part))  # the first line is the front
    return figure


def _corners(part: pd.DataFrame) -> list[tuple[float, float]]:
    """Return the corners of the line that joins the front."""
    front = part[part["front"]].sort_values("fit_seconds")
    points = list(zip(front["fit_seconds"], front["value"], strict=True))
    steps = [(later[0], before[1]) for before, later in itertools.pairwise(points)]
    return [corner for pair in itertools.zip_longest(points, steps) for corner in pair if corner]


def _common_times(axes: Sequence[Any]) -> None:
    """Give all panels one axis of seconds, because datasets and tasks are compared.

    Names fit next to the points and above them.
    """
    least = min(panel.dataLim.minposx for panel in axes)
    most = max(panel.dataLim.x1 for panel in axes)
    factor = max(1.2, (most / least) ** 0.08)
    for panel in axes:
        panel.set_xlim(least / factor, most * factor)
        panel.margins(y=0.12)


def _ink(shown: MethodStyle) -> str:
    """Return the colour of a label: the method's own, or dark where its marker is grey."""
    return SOFT if shown.colour == GREY else shown.colour


def _point(shown: MethodStyle, filled: bool) -> dict[str, Any]:
    size = 6.5 if shown.highlighted else 3.0 if shown.colour == GREY else 4.5
    return {**figures.mark_style(shown, filled), "markersize": size}
