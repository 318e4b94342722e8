"""Figures ready for a two-column paper: sizes, text, panels and legends that all reports share.

Nothing here touches matplotlib's global state: figures are made and saved within `plot_context`.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from hashbench.render.label_placement import Named, label_ends
from hashbench.render.style import GREY, MARKERS, MethodStyle, Style, distinct
from hashbench.render.text_layout import (
    FONT,
    NAME_SIZE,
    POINTS,
    SMALLEST,
    TITLE_SIZE,
    fitted,
    fitted_titles,
    label,
    plain,
    text_points,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Of the names of axes, in points.
LABEL_SIZE = 8

RC: dict[Any, Any] = {
    "font.family": FONT,
    "font.size": 8,
    "axes.titlesize": TITLE_SIZE,
    "axes.labelsize": LABEL_SIZE,
    "xtick.labelsize": NAME_SIZE,
    "ytick.labelsize": NAME_SIZE,
    "legend.fontsize": NAME_SIZE,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.4,
    "axes.axisbelow": True,
    "lines.linewidth": 1.0,
    "lines.markersize": 3.0,
    "lines.markeredgewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.size": 1.5,
    "legend.frameon": False,
    "legend.handlelength": 2.4,
    "legend.columnspacing": 1.2,
    "legend.handletextpad": 0.4,
    "figure.constrained_layout.h_pad": 0.04,
    "figure.constrained_layout.w_pad": 0.04,
    "pdf.fonttype": 42,  # real fonts: what publishers ask for
    "svg.hashsalt": "hashbench",  # the same figure, the same bytes
    "text.parse_math": False,  # a dollar in a name is a dollar
    "savefig.dpi": 200,
}

#: More methods than these need larger panels to be told apart.
CROWDED = 10
CROWDED_HEIGHT = 1.4

#: How strongly bands of the spread are painted.
BAND = 0.12

#: Of a panel's width, what names at the ends of lines may take.
NAMES_SHARE = 0.4

PANEL_HEIGHT = 1.55  # inches
ROW_HEIGHT = 0.13  # of a line of its own for every method
PAGE_HEIGHT = 7.5  # of panels; legend and caption need the rest


@contextlib.contextmanager
def plot_context() -> Iterator[None]:
    """Make figures and save them in here."""
    import matplotlib

    with matplotlib.rc_context(RC), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        yield


def deferred(draw: Callable[..., Figure], *arguments: Any, **more: Any) -> Callable[[], Figure]:
    """Return what draws a figure, in this style, when it is called."""

    def drawn() -> Figure:
        with plot_context():
            return draw(*arguments, **more)

    return drawn


def write_titles(
    style: Style,
    axes: Sequence[Axes],
    panels: Sequence[tuple[str, str]],
    side_points: float = 30,
) -> None:
    """Write above each panel its dataset and task, and make room if that takes two lines.

    ``side_points`` are the points of a panel's width that its numbers and names take.
    """
    figure: Any = axes[0].figure
    columns = columns_of(axes)
    titles = fitted_titles(style, figure, panels, style.inches * POINTS / columns - side_points)
    for panel, text in zip(axes, titles, strict=True):
        panel.set_title(text)
    if any("\n" in text for text in titles):
        grow(figure, 10 * -(-len(axes) // columns))


def start_at_zero(axes: Sequence[Axes], panels: object = None) -> None:
    """Let vertical axes begin at zero and end above everything drawn: the same for all panels."""
    top = 1.05 * max(panel.dataLim.y1 for panel in axes)
    for panel in axes:
        panel.set_ylim(0, top)


def common_limits(axes: Sequence[Axes], panels: Sequence[tuple[str, str]]) -> None:
    """Give the panels of a dataset one vertical axis: its tasks are compared."""
    for dataset in dict.fromkeys(dataset for dataset, _ in panels):
        own = [panel for panel, pair in zip(axes, panels, strict=True) if pair[0] == dataset]
        low, high = (
            min(panel.dataLim.y0 for panel in own),
            max(panel.dataLim.y1 for panel in own),
        )
        margin = 0.05 * (high - low) or 0.05
        for panel in own:
            panel.set_ylim(low - margin, high + margin)


def columns_of(axes: Sequence[Axes]) -> int:
    """Return how many panels stand side by side."""
    grid = axes[0].get_gridspec()
    return 1 if grid is None else grid.ncols


def make_figure(
    style: Style, panels: int, height: float, methods: int = 0, columns: int | None = None
) -> tuple[Figure, list[Axes]]:
    """Return a figure with a number of panels, each of the given height in inches.

    With many methods in each panel, panels are twice as wide and higher. `columns` of them stand
    side by side, or as many as fit.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    across = min(columns, panels) if columns else fitting_columns(style, panels, methods)
    down = -(-panels // across)
    height *= CROWDED_HEIGHT if methods > CROWDED else 1
    figure = Figure(figsize=(style.inches, down * height + 0.1), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(down, across, squeeze=False).ravel()
    for unused in axes[panels:]:
        unused.set_axis_off()
    if style.heading:
        headline(figure, style, style.heading)
    return figure, list(axes[:panels])


def headline(figure: Figure, style: Style, text: str) -> None:
    """Write a line above all panels, below the user's own if there is one."""
    above = figure.get_suptitle()
    shown = plain(text, 90 if style.width == "page" else 45)
    figure.suptitle(f"{above}\n{shown}" if above else shown, fontsize=TITLE_SIZE)
    grow(figure, 18)


def fitting_columns(style: Style, panels: int, methods: int = 0) -> int:
    """Return how many panels stand side by side.

    In a column 2, across a page 3 or 4; with many methods 1 and 2.
    """
    if methods > CROWDED:
        most = 1 if style.width == "column" else 2
    else:
        most = 2 if style.width == "column" else 3 if panels in (3, 5, 6, 9) else 4
    return min(panels, most)


def paginate(
    data: pd.DataFrame, style: Style, rows: bool = False
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield data in parts whose panels fit on a page, by dataset, each with a name.

    One part without a name if everything fits. `rows` if the panels are those of `rows_figure`.
    """
    methods, tasks = data["method"].nunique(), data["task"].nunique()
    present = distinct(data["dataset"])
    datasets = [name for name in style.datasets if name in present]
    across = fitting_columns(style, len(datasets) * tasks, 0 if rows else methods)
    height = PANEL_HEIGHT * (CROWDED_HEIGHT if methods > CROWDED else 1)
    down = PAGE_HEIGHT / (rows_height(methods) if rows else height)
    room = max(1, max(1, int(down)) * across // tasks)
    if len(datasets) <= room:
        yield "", data
        return
    for start in range(0, len(datasets), room):
        chosen = datasets[start : start + room]
        yield " ".join(chosen), data[data["dataset"].isin(chosen)]


def pairs(data: pd.DataFrame, style: Style) -> list[tuple[str, str]]:
    """Return the panels of a figure: every dataset with every task, tasks one after another.

    Three datasets stand side by side, task below task, as papers print them.
    """
    datasets = [name for name in style.datasets if name in set(data["dataset"])]
    tasks = list(dict.fromkeys(data["task"]))
    present = set(zip(data["dataset"], data["task"], strict=True))
    if len(datasets) == 3 and style.width == "page" and data["method"].nunique() <= CROWDED:
        grid = [(dataset, task) for task in tasks for dataset in datasets]
    else:
        grid = [(dataset, task) for dataset in datasets for task in tasks]
    return [pair for pair in grid if pair in present]


def line_figure(
    data: pd.DataFrame,
    style: Style,
    x: str,
    y: str,
    axis_names: tuple[str, str],
    prepare: Callable[[Axes], object],
    dense: bool = False,
) -> Figure:
    """Return a panel a dataset and task with a line a method.

    Eight methods have a colour, the others are grey. Where lines have few points, names stand at
    their ends; dense ones, which mostly end in one place, have a legend.

    Parameters
    ----------
    data : columns dataset, task, method, `x`, `y` and the spread, `y` with "_std" or just "std"
    style : Style
    x, y : columns
    axis_names : names of the axes
    prepare : called with each panel before anything is drawn on it
    dense : whether there are too many points to mark each
    """
    panels, methods = pairs(data, style), style.ordered(data["method"])
    featured = style.featured(methods)
    figure, axes = make_figure(style, len(panels), PANEL_HEIGHT, len(methods))
    spread = f"{y}_std" if f"{y}_std" in data else "std"
    for panel, (dataset, task) in zip(axes, panels, strict=True):
        part = data[(data["dataset"] == dataset) & (data["task"] == task)]
        lines = {str(method): line for method, line in part.groupby("method", sort=False)}
        prepare(panel)
        for method in sorted(lines, key=featured.__contains__):
            line, shown = lines[method], style.drawn(method, featured)
            plot_line(panel, shown, line[x], line[y], dense)
            if method in featured:
                plot_band(panel, shown, line[x], line[y], line[spread], bounds=(0, 1))
    (start_at_zero if dense else common_limits)(axes, panels)
    write_titles(style, axes, panels)
    outer_labels(axes, *axis_names)
    if dense:
        shared_legend(figure, style, methods)
        return figure
    if len(featured) < len(methods):
        grey_note(figure, len(methods) - len(featured))
    most = NAMES_SHARE * style.inches * POINTS / columns_of(axes)
    names = {method: fitted(figure, label(style, method), most, SMALLEST) for method in featured}
    reserve(figure, axes, max(text_points(figure, name, SMALLEST) for name in names.values()) + 10)
    for panel, (dataset, task) in zip(axes, panels, strict=True):
        part = data[(data["dataset"] == dataset) & (data["task"] == task)]
        last = part[part["method"].isin(featured)].groupby("method", sort=False).tail(1)
        ends = zip(last["method"], last[x], last[y], strict=True)
        label_ends(panel, [Named(x, y, names[m], style.methods[m].colour) for m, x, y in ends])
    return figure


def reserve(figure: Figure, axes: Sequence[Axes], points: float) -> None:
    """Keep room right of every panel for names, and lay the figure out."""
    for panel in axes:
        strut = panel.annotate(
            "", (1, 0.5), (points, 0), xycoords="axes fraction", textcoords="offset points"
        )
        strut.set_text(" ")
    lay_out(figure)


def lay_out(figure: Figure) -> None:
    """Give everything its place, once: that takes longer than drawing, and is asked for no more."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine(None)


def grey_note(figure: Figure, others: int) -> None:
    """Say below everything how many methods the grey marks are."""
    words = f"grey: {others} other methods"
    above = figure.get_supxlabel()  # the name of an axis that stands there
    if above:
        figure.supxlabel(f"{above}\n{words}", fontsize=NAME_SIZE)
    else:
        figure.supxlabel(words, fontsize=NAME_SIZE, color="#777777")
    grow(figure, 11)


def rows_height(methods: int) -> float:
    """Return the height of a panel with a line a method, in inches."""
    return methods * ROW_HEIGHT + 0.45


def rows_figure(
    data: pd.DataFrame, style: Style
) -> tuple[Figure, dict[tuple[str, str], Axes], dict[str, int]]:
    """Return a figure with a line a method in every panel, names at the left; one scale for all.

    Returns
    -------
    figure, the panel of each dataset and task, and the height at which each method stands
    """
    panels, methods = pairs(data, style), style.ordered(data["method"])
    figure, axes = make_figure(style, len(panels), rows_height(len(methods)))
    across = columns_of(axes)
    heights = {method: len(methods) - 1 - place for place, method in enumerate(methods)}
    names = [label(style, method) for method in methods]
    for index, panel in enumerate(axes):
        shown = names if index % across == 0 else [""] * len(names)
        panel.set_yticks([heights[method] for method in methods], shown)
        panel.set(ylim=(-0.7, len(methods) - 0.3))
        panel.tick_params(axis="y", length=0)
        panel.locator_params(axis="x", nbins=4 if style.inches / across < 3 else 8)
    widest = max(text_points(figure, name) for name in names)
    write_titles(style, axes, panels, widest / across + 12)
    for other in axes[1:]:
        other.sharex(axes[0])  # what is compared has one scale
    return figure, dict(zip(panels, axes, strict=True)), heights


def outer_labels(axes: Sequence[Axes], x: str, y: str) -> None:
    """Name the axes once: below the lowest panels and left of the first ones.

    A name that is wider than a panel stands once, below all of them.
    """
    columns = columns_of(axes)
    figure: Any = axes[0].figure
    wide = text_points(figure, x, LABEL_SIZE) > figure.get_size_inches()[0] * POINTS / columns - 30
    if wide:
        figure.supxlabel(x, fontsize=LABEL_SIZE)
    for index, panel in enumerate(axes):
        if index + columns >= len(axes) and not wide:
            panel.set_xlabel(x)
        if index % columns == 0:
            panel.set_ylabel(y)


def shared_legend(
    figure: Figure,
    style: Style,
    methods: Iterable[str],
    style_of: Callable[[MethodStyle], dict[str, Any]] | None = None,
    more: dict[str, dict[str, Any]] | None = None,
) -> None:
    """Put one legend below all panels, and make room for it; the grey ones are one entry.

    ``more`` are entries that are no method: what is written, and how the mark beside it is drawn.
    """
    from matplotlib.lines import Line2D

    everything = style.ordered(methods)
    names = style.featured(everything)
    others = len(everything) - len(names)
    plot_style = style_of or line_style
    shown = [label(style, name) for name in names]
    lines = [Line2D([], [], **plot_style(style.methods[name])) for name in names]
    if others:
        shown.append(f"{others} other methods")
        grey = style.drawn(next(name for name in everything if name not in names), names)
        plain_line = {"color": GREY, "linewidth": 1.0}
        lines.append(Line2D([], [], **(style_of(grey) if style_of else plain_line)))
    for text, drawn in (more or {}).items():
        shown.append(text)
        lines.append(Line2D([], [], **drawn))
    widest = max(text_points(figure, text) for text in shown) + 34  # handle and gaps
    columns = max(1, min(len(shown), int(style.inches * POINTS / widest)))
    columns = -(-len(shown) // -(-len(shown) // columns))  # no column much shorter than the others
    figure.legend(lines, shown, loc="outside lower center", ncols=columns)
    grow(figure, -(-len(shown) // columns) * 10.5 + 8)


def grow(figure: Figure, points: float) -> None:
    """Make a figure higher, so that its panels keep their height."""
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + points / POINTS)


def line_style(method: MethodStyle) -> dict[str, Any]:
    """Return what tells a method's line from the others."""
    return {
        "color": method.colour,
        "marker": method.marker,
        "linestyle": method.dash,
        "markerfacecolor": "white",
    }


def plot_line(axes: Axes, method: MethodStyle, x: Any, y: Any, dense: bool = False) -> None:
    """Draw a method's line; a grey one is thin, without marks and behind the others.

    Where points are dense, markers are spaced evenly along the line and begin at another place
    for every marker, so that lines that coincide still show who they are.
    """
    if method.colour == GREY:
        axes.plot(x, y, color=GREY, linewidth=0.6, zorder=1.5)
        return
    phase = MARKERS.index(method.marker) / len(MARKERS)
    every = (0.3 * phase, 0.3) if dense and len(x) > 2 else None
    axes.plot(x, y, **line_style(method), markevery=every)


def plot_band(
    axes: Axes,
    method: MethodStyle,
    x: Any,
    y: Any,
    spread: Any,
    strength: float = BAND,
    bounds: tuple[float, float] | None = None,
) -> None:
    """Draw the spread on both sides of a method's line, as far as values can lie there."""
    import numpy as np

    low, high = np.subtract(y, spread), np.add(y, spread)
    if bounds is not None:
        low, high = np.clip(low, *bounds), np.clip(high, *bounds)
    if np.nansum(spread) > 0:
        axes.fill_between(x, low, high, color=method.colour, alpha=strength, linewidth=0)
