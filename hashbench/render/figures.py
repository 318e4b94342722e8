"""Figures for a two-column paper: sizes, panels, titles and legends that all reports share.

Matplotlib's global state is not changed: figures are made and saved within `plot_context`.
"""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from hashbench.render.colours import GREY, SOFT
from hashbench.render.report import Picture, slices
from hashbench.render.style import MethodStyle, Style
from hashbench.render.text_layout import (
    FONT,
    NAME_SIZE,
    POINTS,
    TITLE_SIZE,
    fit_titles,
    label,
    printable,
    text_width,
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
    "pdf.fonttype": 42,  # TrueType fonts, which publishers require
    "svg.hashsalt": "hashbench",  # the same figure, the same bytes
    "text.parse_math": False,  # a dollar in a name is a dollar
    "savefig.dpi": 200,
}

#: With more methods than this panels are larger, and so are panels wider than that.
CROWDED = 10
WIDE = 3.0  # inches
LARGER = 1.4  # times the usual height

PANEL_HEIGHT = 1.55  # inches
ROW_HEIGHT = 0.13  # of one method in a panel with one row per method
PAGE_HEIGHT = 7.5  # of panels; legend and caption need the rest


@contextlib.contextmanager
def plot_context() -> Iterator[None]:
    """Set matplotlib's parameters for the figures that are made and saved in this context."""
    import matplotlib

    with matplotlib.rc_context(RC), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        yield


def deferred(draw: Callable[..., Figure], *arguments: Any, **more: Any) -> Callable[[], Figure]:
    """Return a function without arguments that draws a figure when it is called."""

    def draw_now() -> Figure:
        with plot_context():
            return draw(*arguments, **more)

    return draw_now


def picture(
    name: str,
    caption: str,
    style: Style,
    data: pd.DataFrame,
    draw: Callable[..., Any],
    *arguments: Any,
    **more: Any,
) -> Picture:
    """Return a figure of data with a column "method", drawn when it is needed.

    Parameters
    ----------
    name, caption : attributes of the picture
    data : what the figure shows
    draw : called with data, style and the other arguments
    """
    drawing = deferred(draw, data, style, *arguments, **more)
    return Picture(name, caption, drawing, style.marks(data["method"]), slices(data))


def make_figure(
    style: Style, panels: int, height: float, methods: int = 0, columns: int | None = None
) -> tuple[Figure, list[Axes]]:
    """Return a figure with a number of panels.

    Parameters
    ----------
    panels : number of panels
    height : of a panel, in inches
    methods : in each panel; many make panels larger
    columns : panels side by side; as many as fit by default
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = min(columns, panels) if columns else choose_columns(style, panels, methods)
    rows = -(-panels // columns)
    height *= _enlarged(style, columns, methods) if methods else 1
    figure = Figure(figsize=(style.inches, rows * height + 0.1), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for unused in axes[panels:]:
        unused.set_axis_off()
    if style.heading:
        add_heading(figure, style, style.heading)
    return figure, list(axes[:panels])


def _enlarged(style: Style, columns: int, methods: int) -> float:
    """Return how much higher than usual panels are."""
    return LARGER if methods > CROWDED or style.inches > WIDE * columns else 1.0


def run_layout(figure: Figure) -> None:
    """Lay out a figure and switch its layout engine off, so that nothing moves afterwards."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine(None)


def add_height(figure: Figure, points: float) -> None:
    """Make a figure higher, so that its panels keep their height."""
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + points / POINTS)


def add_heading(figure: Figure, style: Style, text: str) -> None:
    """Write a line above all panels, below a heading that is already there."""
    above = figure.get_suptitle()
    line = printable(text, 90 if style.width == "page" else 45)
    figure.suptitle(f"{above}\n{line}" if above else line, fontsize=TITLE_SIZE)
    add_height(figure, 18)


# --- panels: one per dataset and task ----------------------------------------------------------


def choose_columns(style: Style, panels: int, methods: int = 0) -> int:
    """Return the number of panels side by side: fewer with many methods or in a column."""
    if methods > CROWDED:
        most = 1 if style.width == "column" else 2
    else:
        most = 2 if style.width == "column" else 3 if panels in (3, 5, 6, 9) else 4
    return min(panels, most)


def count_columns(axes: Sequence[Axes]) -> int:
    """Return the number of panels side by side in the figure of these panels."""
    grid = axes[0].get_gridspec()
    return 1 if grid is None else grid.ncols


def row_panel_height(methods: int) -> float:
    """Return the height in inches of a panel with one row per method."""
    return methods * ROW_HEIGHT + 0.45


def paginate(
    data: pd.DataFrame, style: Style, rows: bool = False
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the data of each figure with its name, so that a figure fits on a page.

    Parameters
    ----------
    data : columns dataset, task, method
    rows : whether panels have one row per method
    """
    methods, tasks = data["method"].nunique(), data["task"].nunique()
    datasets = style.ordered_datasets(data["dataset"])
    columns = choose_columns(style, len(datasets) * tasks, 0 if rows else methods)
    height = PANEL_HEIGHT * _enlarged(style, columns, methods)
    lines = int(PAGE_HEIGHT / (row_panel_height(methods) if rows else height))
    per_page = max(1, max(1, lines) * columns // tasks)
    if len(datasets) <= per_page:
        yield "", data
        return
    for start in range(0, len(datasets), per_page):
        page = datasets[start : start + per_page]
        yield " ".join(page), data[data["dataset"].isin(page)]


def list_panels(data: pd.DataFrame, style: Style) -> list[tuple[str, str]]:
    """Return the dataset and task of each panel.

    Three datasets are side by side, one task per line, as papers print them.
    """
    datasets = style.ordered_datasets(data["dataset"])
    tasks = list(dict.fromkeys(data["task"]))
    if len(datasets) == 3 and style.width == "page" and data["method"].nunique() <= CROWDED:
        grid = [(dataset, task) for task in tasks for dataset in datasets]
    else:
        grid = [(dataset, task) for dataset in datasets for task in tasks]
    present = set(zip(data["dataset"], data["task"], strict=True))
    return [pair for pair in grid if pair in present]


def write_titles(
    style: Style, axes: Sequence[Axes], panels: Sequence[tuple[str, str]], margin: float = 30
) -> None:
    """Write the dataset and task above each panel, on two lines if one is too long.

    ``margin`` is the width in points that numbers and names left of a panel take.
    """
    figure: Any = axes[0].figure
    columns = count_columns(axes)
    titles = fit_titles(style, figure, panels, style.inches * POINTS / columns - margin)
    for panel, text in zip(axes, titles, strict=True):
        panel.set_title(text)
    if any("\n" in text for text in titles):
        add_height(figure, 10 * -(-len(axes) // columns))


def name_axes(axes: Sequence[Axes], x: str, y: str) -> None:
    """Name the axes of the lowest and the first panels; a long name once for the figure.

    Measures are named without their options, which are in the caption.
    """
    columns = count_columns(axes)
    x, y = (re.sub(r"\(.*?\)", "", name) for name in (x, y))
    figure: Any = axes[0].figure
    wide = text_width(figure, x, LABEL_SIZE) > figure.get_size_inches()[0] * POINTS / columns - 30
    if wide:
        figure.supxlabel(x, fontsize=LABEL_SIZE)
    for index, panel in enumerate(axes):
        if index + columns >= len(axes) and not wide:
            panel.set_xlabel(x)
        if index % columns == 0:
            panel.set_ylabel(y)


def share_axes(axes: Sequence[Axes], panels: Sequence[tuple[str, str]], which: str) -> None:
    """Share the x or y axis of the panels of a dataset, because its tasks are compared."""
    first: dict[str, Axes] = {}
    for panel, (dataset, _) in zip(axes, panels, strict=True):
        if dataset in first:
            getattr(panel, f"share{which}")(first[dataset])
        first.setdefault(dataset, panel)


# --- legends -----------------------------------------------------------------------------------


def add_grey_note(figure: Figure, others: int) -> None:
    """Write below all panels how many methods are grey."""
    words = f"grey: {others} other methods"
    above = figure.get_supxlabel()
    if above:
        figure.supxlabel(f"{above}\n{words}", fontsize=NAME_SIZE)
    else:
        figure.supxlabel(words, fontsize=NAME_SIZE, color=SOFT)
    add_height(figure, 11)


def line_style(method: MethodStyle) -> dict[str, Any]:
    """Return matplotlib's properties of a method's line: thicker and in front if highlighted."""
    thick = {"linewidth": 2.2, "markersize": 5, "zorder": 3} if method.highlighted else {}
    return {
        "color": method.colour,
        "marker": method.marker,
        "linestyle": method.dash,
        "markerfacecolor": "white",
        **thick,
    }


def mark_style(method: MethodStyle, filled: bool = True) -> dict[str, Any]:
    """Return matplotlib's properties of a method's point, without a line."""
    face = method.colour if filled else "white"
    return {**line_style(method), "linestyle": "", "markerfacecolor": face}


def key_style(marker: str = "o", *, filled: bool = True, line: str = "") -> dict[str, Any]:
    """Return the properties of an entry of a legend that stands for no method."""
    face = SOFT if filled else "white"
    return {"color": SOFT, "marker": marker, "linestyle": line, "markerfacecolor": face}


def shared_legend(
    figure: Figure,
    style: Style,
    methods: Iterable[str],
    properties: Callable[[MethodStyle], dict[str, Any]] = line_style,
    more: dict[str, dict[str, Any]] | None = None,
) -> None:
    """Put one legend below all panels, with one entry for all grey methods.

    Parameters
    ----------
    methods : those in the figure, in the order of the legend
    properties : matplotlib's properties of the line of a method
    more : further entries, text -> properties of its line
    """
    names = list(dict.fromkeys(methods))
    styles = style.figure_styles(names)
    coloured = [name for name in names if styles[name].colour != GREY]
    entries = {label(style, name): properties(styles[name]) for name in coloured}
    if len(coloured) < len(names):
        grey = {"color": GREY, "linewidth": 1.0}
        entries[f"{len(names) - len(coloured)} other methods"] = grey
    add_legend(figure, style, entries | (more or {}))


def add_legend(figure: Figure, style: Style, entries: dict[str, dict[str, Any]]) -> None:
    """Put a legend below all panels: text -> properties of its line."""
    from matplotlib.lines import Line2D

    widest = max(text_width(figure, text) for text in entries) + 34  # handle and gaps
    columns = max(1, min(len(entries), int(style.inches * POINTS / widest)))
    rows = -(-len(entries) // columns)
    columns = -(-len(entries) // rows)  # no column much shorter than the others
    lines = [Line2D([], [], **each) for each in entries.values()]
    figure.legend(lines, list(entries), loc="outside lower center", ncols=columns)
    add_height(figure, rows * 10.5 + 8)


def by_value(data: pd.DataFrame, value: str) -> list[str]:
    """Return the methods of data by their mean of a column, the largest first."""
    means = data.groupby("method", sort=False)[value].mean()
    return list(means.sort_values(ascending=False, kind="stable").index)
