"""Plots that several reports share: lines with bands, and panels with one row per method."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hashbench.analysis.summary import grouped, records
from hashbench.render import figures
from hashbench.render.colours import GREY, MARKERS, SHADE
from hashbench.render.label_placement import Label, label_ends
from hashbench.render.style import MethodStyle, Style
from hashbench.render.text_layout import POINTS, SMALLEST, fit_text, label, text_width

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BAND = 0.12  # opacity

#: Between two markers of a dense line, as a share of the panel's diagonal.
SPACING = 0.18

#: Share of a panel's width that the longest name at the ends of lines may take.
NAMES_SHARE = 0.4


def line_figure(
    data: pd.DataFrame,
    style: Style,
    x: str,
    y: str,
    axis_names: tuple[str, str],
    prepare: Callable[[Axes], object],
    dense: bool = False,
) -> Figure:
    """Return a figure with one panel per dataset and task and one line per method.

    Parameters
    ----------
    data : columns dataset, task, method, `x`, `y` and the spread, `y` with "_std" or just "std"
    x, y : columns
    axis_names : names of the axes
    prepare : called with each panel before anything is drawn on it
    dense : whether there are too many points to mark each; such lines have a legend, others have
        their names at their ends
    """
    panels, methods = figures.list_panels(data, style), style.ordered(data["method"])
    styles = style.figure_styles(methods)
    coloured = [method for method in methods if styles[method].colour != GREY]
    figure, axes = figures.make_figure(style, len(panels), figures.PANEL_HEIGHT, len(methods))
    if not dense:
        figures.share_axes(axes, panels, "y")
    spread = f"{y}_std" if f"{y}_std" in data else "std"
    parts = [data[(data["dataset"] == d) & (data["task"] == task)] for d, task in panels]
    for panel, part in zip(axes, parts, strict=True):
        prepare(panel)
        lines = dict(grouped(part, "method"))
        for method in sorted(lines, key=coloured.__contains__):
            line = lines[method]
            plot_line(panel, styles[method], line[x], line[y], dense)
            if method in coloured:
                plot_band(panel, styles[method], line[x], line[y], line[spread], bounds=(0, 1))
    if dense:
        top = 1.05 * max(panel.dataLim.y1 for panel in axes)
        for panel in axes:
            panel.set_ylim(0, top)
    figures.write_titles(style, axes, panels)
    figures.name_axes(axes, *axis_names)
    if dense:
        figures.shared_legend(figure, style, figures.by_value(data, y))
        return figure
    if len(coloured) < len(methods):
        figures.add_grey_note(figure, len(methods) - len(coloured))
    most = NAMES_SHARE * style.inches * POINTS / figures.count_columns(axes)
    names = {method: fit_text(figure, label(style, method), most, SMALLEST) for method in coloured}
    widest = max(text_width(figure, name, SMALLEST) for name in names.values())
    _reserve_right_margin(figure, axes, widest + 10)
    for panel, part in zip(axes, parts, strict=True):
        last = part[part["method"].isin(coloured)].groupby("method", sort=False).tail(1)
        ends = zip(last["method"], last[x], last[y], strict=True)
        label_ends(panel, [Label(x, y, names[m], styles[m].colour) for m, x, y in ends])
    return figure


def _reserve_right_margin(figure: Figure, axes: Sequence[Axes], points: float) -> None:
    """Lay out a figure with a margin right of every panel."""
    for panel in axes:
        panel.annotate(
            " ", (1, 0.5), (points, 0), xycoords="axes fraction", textcoords="offset points"
        )
    figures.run_layout(figure)


def dot_figure(
    data: pd.DataFrame,
    style: Style,
    filled: str,
    opened: str,
    axis_name: str,
) -> Figure:
    """Return a figure with one row per method and two dots in it, joined by a line.

    Parameters
    ----------
    data : columns dataset, task, method and the two with numbers
    filled, opened : columns of the filled and of the open dots; methods are sorted by the first
    axis_name : name of the horizontal axis
    """
    figure, panels, heights = row_figure(data, style, figures.by_value(data, filled))
    styles = style.figure_styles(data["method"])
    for row in records(data):
        panel, y, method = panels[row.dataset, row.task], heights[row.method], styles[row.method]
        values = getattr(row, filled), getattr(row, opened)
        width = 2.4 if method.highlighted else 1.2
        panel.plot(values, [y, y], color=method.colour, linewidth=width)
        for value, face in ((values[1], "white"), (values[0], method.colour)):
            panel.plot(value, y, "o", color=method.colour, markerfacecolor=face)
    next(iter(panels.values())).set_xlim(0, None)
    figures.name_axes(list(panels.values()), axis_name, "")
    keys = {filled: figures.key_style(), opened: figures.key_style(filled=False)}
    figures.add_legend(figure, style, keys)
    return figure


def row_figure(
    data: pd.DataFrame, style: Style, methods: Sequence[str]
) -> tuple[Figure, dict[tuple[str, str], Axes], dict[str, int]]:
    """Return a figure with one row per method in every panel and one horizontal axis for all.

    ``methods`` are the rows from the top.

    Returns
    -------
    figure, the panel of each dataset and task, and the height of each method's row
    """
    panels = figures.list_panels(data, style)
    height = figures.row_panel_height(len(methods))
    figure, axes = figures.make_figure(style, len(panels), height)
    columns = figures.count_columns(axes)
    heights = {method: -row for row, method in enumerate(methods)}
    names = [label(style, method) for method in methods]
    for index, panel in enumerate(axes):
        panel.set_yticks(list(heights.values()), names if index % columns == 0 else [])
        panel.set(ylim=(0.3 - len(methods), 0.7))
        panel.tick_params(axis="y", length=0)
        panel.locator_params(axis="x", nbins=4 if style.inches / columns < 3 else 8)
        mark_rows(panel, style, methods, heights.values())
    widest = max(text_width(figure, name) for name in names)
    figures.write_titles(style, axes, panels, widest / columns + 12)
    for other in axes[1:]:
        other.sharex(axes[0])
    return figure, dict(zip(panels, axes, strict=True)), heights


def mark_rows(panel: Axes, style: Style, methods: Sequence[str], heights: Iterable[float]) -> None:
    """Shade the rows of highlighted methods."""
    for method, height in zip(methods, heights, strict=True):
        if style.methods[method].highlighted:
            panel.axhspan(height - 0.5, height + 0.5, color=SHADE, linewidth=0, zorder=0)


def plot_line(axes: Axes, method: MethodStyle, x: Any, y: Any, dense: bool = False) -> None:
    """Draw a method's line; a grey one is thin, without markers and behind the others.

    Markers of dense lines are spaced evenly and shifted by method, so that the markers of lines
    that coincide can be seen.
    """
    if method.colour == GREY:
        axes.plot(x, y, color=GREY, linewidth=0.6, zorder=1.5)
        return
    phase = MARKERS.index(method.marker) / len(MARKERS)
    every = (SPACING * phase, SPACING) if dense and len(x) > 2 else None
    axes.plot(x, y, **figures.line_style(method), markevery=every)


def plot_band(
    axes: Axes,
    method: MethodStyle,
    x: Any,
    y: Any,
    spread: Any,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> None:
    """Draw the spread on both sides of a method's line, within the bounds of the values."""
    low, high = np.clip(np.subtract(y, spread), *bounds), np.clip(np.add(y, spread), *bounds)
    if np.nansum(spread) > 0:
        axes.fill_between(x, low, high, color=method.colour, alpha=BAND, linewidth=0)
