"""The objective while a method trains, by iteration and by second."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from hashbench.analysis.summary import grouped
from hashbench.render import figures, text_layout, ticks
from hashbench.render.report import Exhibit, NothingToShowError, Picture, Report, slices
from hashbench.render.style import Style

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.analysis.results import Results

#: Small panels, one a method: objectives have no common scale.
HEIGHT = 1.15
ROWS = 7


class Convergence(Report):
    """Each method's own objective by iteration and by second of training."""

    name = "convergence"
    title = "Convergence"
    section = "Curves for print"

    def data(self, results: Results) -> pd.DataFrame:
        """Return the objective after every iteration of every cell."""
        history = results.history()
        if history.empty:
            raise NothingToShowError("no method of the study records an objective")
        return history

    def draw(self, data: pd.DataFrame, style: Style) -> Sequence[Exhibit]:
        """Return a figure for each dataset, code length and axis, with one line per seed."""
        pictures = []
        for axis in ("iteration", "second"):
            known = data.dropna(subset=axis)
            for (dataset, bits), group in grouped(known, "dataset", "bits"):
                for number, methods in enumerate(_sheets(style.ordered(group["method"]), style)):
                    caption = style.caption(
                        f"Objective by {axis} at {bits} bits, one line per seed; every method has "
                        "its own objective, so that values of two methods do not compare",
                        [dataset],
                        seeds=[int(group["seed"].nunique())],
                    )
                    part = group[group["method"].isin(methods)]
                    title = f"{axis} {dataset} {bits} bits{f' {number + 1}' if number else ''}"
                    heading = f"{text_layout.panel_title(style, dataset)}, {bits} bits"
                    figure = figures.deferred(_figure, part, axis, methods, heading, style)
                    notes = [*style.notes(methods), *_objective_notes(methods, style)]
                    pictures.append(Picture(title, caption, figure, notes, slices(part)))
        return pictures


def _objective_notes(methods: list[str], style: Style) -> list[str]:
    """Say what explains the shape of a method's objective."""
    known = ((style.methods[method].title, style.methods[method].objective) for method in methods)
    return [f"{title}: {note}" for title, note in known if note]


def _sheets(methods: list[str], style: Style) -> Iterator[list[str]]:
    panels = ROWS * _columns(style)
    for start in range(0, len(methods), panels):
        yield methods[start : start + panels]


def _columns(style: Style) -> int:
    return 2 if style.width == "column" else 4


def _figure(data: pd.DataFrame, axis: str, methods: list[str], heading: str, style: Style) -> Any:
    figure, axes = figures.make_figure(style, len(methods), HEIGHT, columns=_columns(style))
    for panel, method in zip(axes, methods, strict=True):
        for _, line in grouped(data[data["method"] == method], "seed"):
            panel.plot(
                line[axis], line["objective"], color=style.methods[method].colour, linewidth=0.8
            )
        panel.set_title(text_layout.label(style, method))
        panel.locator_params(axis="y", nbins=4)
        panel.locator_params(axis="x", nbins=4, integer=axis == "iteration")
        panel.yaxis.set_major_formatter(ticks.number)
        panel.xaxis.set_major_formatter(ticks.number)
        panel.set_xlim(0, None)
    figures.name_axes(axes, axis if axis == "iteration" else "training seconds", "objective")
    figures.add_heading(figure, style, heading)
    return figure
