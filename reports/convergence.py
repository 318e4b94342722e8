"""The objective while a method trains, by iteration and by second."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from hashbench.analysis.summary import grouped
from hashbench.render import figures, text_layout, ticks
from hashbench.render.report import Exhibit, NothingToShowError, Picture, Report, slices
from hashbench.render.style import Look

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

    def draw(self, data: pd.DataFrame, look: Look) -> Sequence[Exhibit]:
        """Return a figure for each dataset, code length and axis; a line a seed."""
        pictures = []
        for axis in ("iteration", "second"):
            known = data.dropna(subset=axis)
            for (dataset, bits), group in grouped(known, "dataset", "bits"):
                for number, methods in enumerate(_sheets(look.ordered(group["method"]), look)):
                    caption = look.caption(
                        f"Objective by {axis} at {bits} bits, a line a seed; every method has an "
                        "objective of its own, values of two methods do not compare",
                        [dataset],
                        seeds=[int(group["seed"].nunique())],
                    )
                    part = group[group["method"].isin(methods)]
                    title = f"{axis} {dataset} {bits} bits{f' {number + 1}' if number else ''}"
                    headline = f"{text_layout.titled(look, dataset)}, {bits} bits"
                    figure = figures.later(_figure, part, axis, methods, headline, look)
                    notes = [*look.notes(methods), *_objective_notes(methods, look)]
                    pictures.append(Picture(title, caption, figure, notes, slices(part)))
        return pictures


def _objective_notes(methods: list[str], look: Look) -> list[str]:
    """Say what explains the shape of a method's objective."""
    known = ((look.methods[method].title, look.methods[method].objective) for method in methods)
    return [f"{title}: {note}" for title, note in known if note]


def _sheets(methods: list[str], look: Look) -> Iterator[list[str]]:
    room = ROWS * _columns(look)
    for start in range(0, len(methods), room):
        yield methods[start : start + room]


def _columns(look: Look) -> int:
    return 2 if look.width == "column" else 4


def _figure(data: pd.DataFrame, axis: str, methods: list[str], headline: str, look: Look) -> Any:
    figure, axes = figures.make_figure(look, len(methods), HEIGHT, columns=_columns(look))
    for panel, method in zip(axes, methods, strict=True):
        for _, line in grouped(data[data["method"] == method], "seed"):
            panel.plot(
                line[axis], line["objective"], color=look.methods[method].colour, linewidth=0.8
            )
        panel.set_title(text_layout.label(look, method))
        panel.locator_params(axis="y", nbins=4)
        panel.locator_params(axis="x", nbins=4, integer=axis == "iteration")
        panel.yaxis.set_major_formatter(ticks.number)
        panel.xaxis.set_major_formatter(ticks.number)
        panel.set_xlim(0, None)
    figures.outer_labels(axes, axis if axis == "iteration" else "training seconds", "objective")
    figures.headline(figure, look, headline)
    return figure
