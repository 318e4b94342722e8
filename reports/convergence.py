"""The objective while a method trains, by iteration and by second."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from hashbench.analysis.summary import grouped
from hashbench.core.errors import unknown
from hashbench.render import figures, text_layout, ticks
from hashbench.render.report import Exhibit, NothingToShowError, Picture, Report, slices
from hashbench.render.style import Style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from hashbench.analysis.results import Results

#: Small panels, one per method: objectives have no common scale.
HEIGHT = 1.15
ROWS = 7

PANELS = ("method", "dataset")

#: Panels side by side that a figure of fewer has room for.
FEWEST = {"page": 3, "column": 1}

#: Names of the horizontal axes.
AXES = {"iteration": "iteration", "second": "seconds after the first iteration"}

#: A rise of the objective below this share of its first value is rounding.
ROUNDING = 1e-6


class Convergence(Report):
    """Each method's own objective by iteration and by second of training.

    Parameters
    ----------
    panels : "method" for one figure per dataset, "dataset" for one figure per method
    """

    name = "convergence"
    title = "Convergence"
    section = "Curves for print"

    def __init__(self, panels: str = "method") -> None:
        self.panels = panels

    def data(self, results: Results) -> pd.DataFrame:
        """Return the objective after every iteration of every cell."""
        history = results.history()
        if history.empty:
            raise NothingToShowError("no method of the study records an objective")
        return history

    def draw(self, data: pd.DataFrame, style: Style) -> Sequence[Exhibit]:
        """Return a figure for each dataset or method, code length and axis."""
        if self.panels not in PANELS:
            raise unknown("panels", self.panels, PANELS)
        by_dataset = self.panels == "dataset"
        pictures = []
        for axis in AXES:
            known = data.dropna(subset=axis)
            for (one, bits), group in grouped(known, "method" if by_dataset else "dataset", "bits"):
                title = style.methods[one].label if by_dataset else style.datasets[one].title
                several = group["dataset" if by_dataset else "method"]
                names = (style.ordered_datasets if by_dataset else style.ordered)(several)
                for number, shown in enumerate(_sheets(names, style)):
                    part = group[several.isin(shown)]
                    caption = style.summary(
                        f"Objective of {'' if by_dataset else 'methods on '}{title} at {bits} bits "
                        f"by {axis}, one line per seed; objectives of two methods do not compare",
                        seeds=[int(group["seed"].nunique())],
                    )
                    name = f"{axis} {one} {bits} bits{f' {number + 1}' if number else ''}"
                    heading = f"{text_layout.printable(title)}, {bits} bits"
                    figure = figures.deferred(draw, part, axis, self.panels, heading, style)
                    notes = style.marks(part["method"])
                    pictures.append(Picture(name, caption, figure, notes, slices(part)))
        return pictures


def _sheets(names: list[str], style: Style) -> Iterator[list[str]]:
    panels = ROWS * _columns(style)
    for start in range(0, len(names), panels):
        yield names[start : start + panels]


def _columns(style: Style) -> int:
    return 2 if style.width == "column" else 4


def draw(data: pd.DataFrame, axis: str, panels: str, heading: str, style: Style) -> Any:
    """Draw one panel per method, or per dataset, with one line per seed."""
    known = style.ordered if panels == "method" else style.ordered_datasets
    shown = known(data[panels])
    columns = min(_columns(style), len(shown))
    height = HEIGHT if columns > 3 or style.width == "column" else figures.PANEL_HEIGHT
    figure, axes = figures.make_figure(style, len(shown), height, columns=columns)
    inches = style.inches / max(columns, FEWEST[style.width])
    figure.set_figwidth(inches * columns)
    for panel, name in zip(axes, shown, strict=True):
        part = data[data[panels] == name]
        rises = False
        for (method, _), line in grouped(part.sort_values("iteration"), "method", "seed"):
            # what comes before the first iteration is preparation, not convergence
            x = line[axis] - (line[axis].iloc[0] if axis == "second" else 0)
            panel.plot(x, line["objective"], color=style.methods[method].colour, linewidth=0.8)
            rises |= bool(line["objective"].diff().max() > ROUNDING * line["objective"].iloc[0])
        title = style.methods[name].label if panels == "method" else style.datasets[name].title
        panel.set_title(text_layout.printable(title))
        panel.locator_params(axis="y", nbins=4)
        panel.locator_params(axis="x", nbins=4, integer=axis == "iteration")
        panel.yaxis.set_major_formatter(ticks.number)
        panel.xaxis.set_major_formatter(ticks.number)
        panel.set_xlim(0, None)
        if rises and (note := style.methods[part["method"].iloc[0]].objective):
            _explain(panel, note, inches, height)
    figures.name_axes(axes, AXES[axis], "objective")
    figures.add_heading(figure, style, heading)
    return figure


def _explain(panel: Axes, note: str, width: float, height: float) -> None:
    """Write why an objective rises, above its lines; sizes of the panel are in inches."""
    letters = int(width * text_layout.POINTS / text_layout.SMALLEST * 1.3)
    lines = textwrap.wrap(note, letters)
    low, high = panel.get_ylim()
    share = 1.25 * text_layout.SMALLEST * len(lines) / (height * text_layout.POINTS - 32)
    panel.set_ylim(low, high + share / (1 - share) * (high - low))
    place: dict[str, Any] = {"transform": panel.transAxes, "ha": "right", "va": "top"}
    panel.text(0.99, 0.99, "\n".join(lines), fontsize=text_layout.SMALLEST, **place)
