"""Texts in figures: characters that the font has, and titles that fit above their panels."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from hashbench.render.style import Style, arrow
from hashbench.render.tables import shorten

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FONT = "DejaVu Sans"  # comes with matplotlib: figures look the same everywhere

POINTS = 72  # to an inch

#: Sizes of titles and of names in a legend or at an axis, in points.
TITLE_SIZE, NAME_SIZE = 8, 7

#: Nothing is smaller than that: it could not be read in print.
SMALLEST = 6

#: Longest name in a legend or at an axis.
LONGEST = 34


@cache
def _glyphs() -> frozenset[int]:
    from matplotlib import font_manager, ft2font

    path = font_manager.findfont(FONT)
    return frozenset(ft2font.FT2Font(path).get_charmap())


def printable(text: str, longest: int = LONGEST) -> str:
    """Return a text on one line, shortened, with characters that the font has.

    Another character, such as an emoji, is written as its code point.
    """
    known = _glyphs()
    visible = (c for c in text if c.isspace() or not _invisible(c))
    return shorten(
        "".join(c if ord(c) in known or c.isspace() else f"U+{ord(c):X}" for c in visible), longest
    )


def emoji_names(text: str) -> str:
    """Return a text with its emoji replaced by their names.

    Names of the emoji dataset come first: Python's Unicode names lack new emoji and sequences.

    Examples
    --------
    >>> emoji_names("\U0001facf"), emoji_names("\U0001f1e7\U0001f1ea"), emoji_names("a cat")
    ('donkey', 'flag: Belgium', 'a cat')
    """
    signs = [character for character in text if not _invisible(character)]
    if not signs or any(each.isalnum() or each.isspace() for each in signs):
        return text
    if text in (named := _emoji()):
        return named[text][0]
    return " ".join(unicodedata.name(each, f"U+{ord(each):X}").lower() for each in signs)


def emoji_keywords(text: str) -> str:
    """Return the keywords of an emoji, or an empty text for anything else.

    Examples
    --------
    >>> emoji_keywords("\U0001facf"), emoji_keywords("a cat")
    ('animal', '')
    """
    return _emoji()[text][1] if text in _emoji() else ""


@cache
def _emoji() -> dict[str, tuple[str, str]]:
    """Return the name and the keywords of each emoji, as Unicode's list has them."""
    import numpy as np

    file = resources.files("hashbench.resources") / "emoji.npz"
    with file.open("rb") as stream, np.load(stream) as archive:
        signs, names, words = (
            archive[key].tobytes().decode("utf-8").split("\n")
            for key in ("characters", "names", "vocabulary")
        )
        starts, indices = archive["word_starts"], archive["word_indices"]
    keywords = (
        " ".join(words[index] for index in indices[start:end])
        for start, end in itertools.pairwise(starts)
    )
    return dict(zip(signs, zip(names, keywords, strict=True), strict=True))


def _invisible(character: str) -> bool:
    """Return whether a character is a joiner, a variation selector or a control character."""
    return unicodedata.category(character) in ("Cc", "Cf") or "\ufe00" <= character <= "\ufe0f"


def panel_title(style: Style, dataset: str, task: str | None = None, longest: int = LONGEST) -> str:
    """Return the title of a panel."""
    title = style.datasets[dataset].title if dataset in style.datasets else dataset
    name = printable(title, longest)
    return name if task is None else f"{name}, {arrow(task)}"


def label(style: Style, method: str) -> str:
    """Return a method's name in a legend or at an axis."""
    return printable(style.methods[method].title) + style.methods[method].mark


def fit_titles(
    style: Style, figure: Figure, panels: Sequence[tuple[str, str]], width: float
) -> list[str]:
    """Return the titles of panels: on one line each, or on two if one of them is too long.

    Parameters
    ----------
    style, figure : of the study; that has the panels
    panels : dataset and task of each
    width : of a line at the most, in points
    """

    def fits(text: str) -> bool:
        return text_width(figure, text, TITLE_SIZE) <= width

    titles = [panel_title(style, *pair) for pair in panels]
    if all(map(fits, titles)):
        return titles
    lines = []
    for dataset, task in panels:
        names = (panel_title(style, dataset, longest=n) for n in range(LONGEST, 5, -1))
        name = next(filter(fits, names), panel_title(style, dataset, longest=5))
        lines.append(f"{name}\n{arrow(task)}")
    return lines


def fit_text(figure: Figure, text: str, width: float, size: float = NAME_SIZE) -> str:
    """Return a text shortened to a width in points."""
    longest = len(text)
    while longest > 5 and text_width(figure, shorten(text, longest), size) > width:
        longest -= 1
    return shorten(text, longest)


def text_width(figure: Figure, text: str, size: float = NAME_SIZE) -> float:
    """Return the width of a text in points."""
    from matplotlib.font_manager import FontProperties

    font = FontProperties(family=FONT, size=size)
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    width, _, _ = renderer.get_text_width_height_descent(text, font, ismath=False)
    return float(width) * POINTS / figure.dpi
