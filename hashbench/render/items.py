"""Items in figures: a thumbnail or a few words, in a frame that says if the item is relevant."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

from hashbench.render import text_layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hashbench.plugins.dataset import ContactSheet
    from hashbench.render.style import Style

#: Colours of the frames of relevant and of other items; the latter are dashed, too.
HIT, MISS = "#009E73", "#D55E00"


@dataclass(frozen=True)
class Item:
    """An item in one of its views.

    Attributes
    ----------
    view : its name
    row : of the dataset
    string : its display text
    relevant : None for a query
    """

    view: str
    row: int
    string: str
    relevant: bool | None = None


def blank_figure(style: Style, across: float, down: float) -> tuple[Figure, Axes]:
    """Return a figure of a number of squares across and down, and its axes: y points down."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(style.inches, style.inches * down / across))
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, across), ylim=(down, 0))
    axes.set_axis_off()
    return figure, axes


def draw_item(
    axes: Any,
    x: float,
    y: float,
    item: Item,
    sheet: ContactSheet | None,
    points: float,
    side: float = 1.0,
    size: float = text_layout.SMALLEST,
) -> None:
    """Draw an item in a square at (x, y): a picture as one, words as words.

    Parameters
    ----------
    axes : its y axis points down
    x, y : the upper left corner of the square
    item : what is drawn
    sheet : thumbnails of the dataset, if it has pictures
    points : length of a unit of the axes
    side : of the square
    size : of words, in points
    """
    from matplotlib.patches import Rectangle

    if sheet is not None and (item.view == "image" or not item.string):
        extent = (x + 0.1 * side, x + 0.9 * side, y + 0.9 * side, y + 0.1 * side)
        axes.imshow(_thumbnail(sheet, item.row), extent=extent, aspect="auto", zorder=1)
    else:
        words = wrap_words(item.string, int(side * points / (0.62 * size)), 4)
        where: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size}
        axes.text(x + side / 2, y + side / 2, words, **where)
    colour = "black" if item.relevant is None else HIT if item.relevant else MISS
    frame: dict[str, Any] = {"edgecolor": colour, "linewidth": 1.0, "fill": False, "zorder": 2}
    dashes = "--" if item.relevant is False else "-"
    corner, inner = (x + 0.04 * side, y + 0.04 * side), 0.92 * side
    axes.add_patch(Rectangle(corner, inner, inner, linestyle=dashes, **frame))


def wrap_words(text: str, letters: int, lines: int) -> str:
    """Return a text in a few short lines, shortened, with long words hyphenated."""
    text_line = text_layout.printable(text_layout.emoji_names(text), letters * lines)
    # a word that is longer than a line gets a hyphen, not at its very end
    text_line = re.sub(
        rf"[^\s-]{{{letters + 1},}}",
        lambda word: "-".join(textwrap.wrap(word[0], letters - 2)),
        text_line,
    )
    wrapped = textwrap.wrap(text_line, letters)
    if len(wrapped) > lines:
        wrapped[lines - 1] = wrapped[lines - 1][: letters - 1] + "…"
    return "\n".join(wrapped[:lines])


def _thumbnail(sheet: ContactSheet, row: int) -> Any:
    top, left = (position * sheet.size for position in divmod(row, sheet.columns))
    return _decode_sheet(sheet)[top : top + sheet.size, left : left + sheet.size]


@lru_cache(maxsize=2)
def _decode_sheet(sheet: ContactSheet) -> Any:
    from matplotlib.image import imread

    return imread(BytesIO(sheet.png), format="png")
