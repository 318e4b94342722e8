"""What a better score costs: training time against a measure, with the Pareto front."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hashbench.plugins.report import Exhibit, NothingToShowError, Picture, Report
from hashbench.printing import figures, ticks
from hashbench.printing.style import Look
from hashbench.results.summary import grouped, over_seeds, records

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.results.results import Results


class TimeVersusScore(Report):
    """Training time against the score; the front joins what nothing faster beats."""

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
        joined = scores.drop(columns=["low", "high", "chance"]).merge(
            times, on=["dataset", "method", "bits", "seed"]
        )
        table = over_seeds(joined, ["value", "fit_seconds"])
        table["front"] = False
        for _, group in grouped(table, "dataset", "bits", "task", "database"):
            front = on_front(group["fit_seconds"].to_numpy(), group["value"].to_numpy())
            table.loc[group.index, "front"] = front
        return table

    def draw(self, data: pd.DataFrame, look: Look) -> Sequence[Exhibit]:
        """Return a figure for each code length and kind of database codes."""
        pictures = []
        for (bits, database), group in grouped(data, "bits", "database"):
            for name, part in figures.sheets(group, look):
                measure = str(part["measure"].iloc[0])
                caption = look.caption(
                    f"Training time against score at {bits} bits; the line joins the methods that "
                    "no faster method beats",
                    part["dataset"],
                    measure=measure,
                    database=database,
                    seeds=list(part["seeds"]),
                )
                title = f"{measure} {bits} bits {database} {name}"
                pictures.append(
                    Picture(title, caption, _figure(part, look), look.notes(part["method"]))
                )
        return pictures


def on_front(seconds: Any, scores: Any) -> Any:
    """Say of every method whether no other is at least as fast and as good, and better in one."""
    faster = (seconds[:, None] <= seconds[None, :]) & (scores[:, None] >= scores[None, :])
    better = (seconds[:, None] < seconds[None, :]) | (scores[:, None] > scores[None, :])
    return ~(faster & better).any(axis=0)


def _figure(data: pd.DataFrame, look: Look) -> Any:
    from matplotlib.lines import Line2D

    panels, methods = figures.pairs(data, look), look.ordered(data["method"])
    figure, axes = figures.make_figure(look, len(panels), figures.PANEL_HEIGHT, len(methods))
    for panel, (dataset, task) in zip(axes, panels, strict=True):
        part = data[(data["dataset"] == dataset) & (data["task"] == task)]
        ticks.log_axis(panel, "x")
        front = part[part["front"]].sort_values("fit_seconds")
        panel.step(
            front["fit_seconds"], front["value"], where="post", color="#999999", linewidth=0.8
        )
        for row in records(part):
            panel.plot(row.fit_seconds, row.value, **_point(look, row.method, bool(row.front)))
        figures.start_at_zero(panel)
    figures.write_titles(look, axes, panels)
    figures.outer_labels(axes, "training seconds", str(data["measure"].iloc[0]))
    handles = {name: Line2D([], [], **_point(look, name, True)) for name in methods}
    figures.shared_legend(figure, look, methods, handles)
    return figure


def _point(look: Look, method: str, filled: bool) -> dict[str, Any]:
    shown = look.methods[method]
    return {
        "marker": shown.marker,
        "color": shown.colour,
        "markerfacecolor": shown.colour if filled else "white",
        "linestyle": "",
        "markersize": 4.5,
    }
