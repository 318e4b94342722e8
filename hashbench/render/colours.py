"""Colours, markers and dashes of methods: the same for a method in every study."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

#: Okabe and Ito's colours without their yellow, which is too light for lines, a dark red, and seven
#: that are far from these and from each other, also under common forms of colour blindness.
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#882255",
    "#8866FF", "#22CC55", "#775500", "#CC1188", "#0000AA", "#004400", "#6622CC",
)  # fmt: skip

#: The colour of methods beyond those that a figure shows in colour.
GREY = "#a8a8a8"

#: Least contrast of a text with its ground that people read without effort.
CONTRAST = 4.55  # 4.5 by WCAG AA, and what rounding of colours takes

#: The colour of remarks and of lines that are no method.
SOFT = "#595959"

#: The ground of a highlighted row.
SHADE = "#E8EEF5"

#: Eleven markers and fifteen colours have no common factor: 165 different pairs.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*")

DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (4, 1.2, 1, 1.2)))


@cache
def _positions() -> dict[str, int]:
    """Return the positions of the methods that have a fixed one."""
    text = (resources.files("hashbench.resources") / "method_order.txt").read_text(encoding="utf-8")
    names = [line for line in text.split("\n") if line and not line.startswith("#")]
    return {name: position for position, name in enumerate(names)}


def position(method: str) -> int:
    """Return the fixed position of a method in the list of colours, or a large number."""
    return _positions().get(method, len(_positions()))


def fixed_style(method: str) -> tuple[str, str, Any]:
    """Return a method's colour, marker and dash: by its fixed position or a hash of its name.

    Examples
    --------
    >>> fixed_style("edsh")[:2], fixed_style("nobody's") == fixed_style("nobody's")
    (('#0072B2', 'o'), True)
    """
    own = int.from_bytes(hashlib.sha256(method.encode()).digest()[:4])
    position = _positions().get(method, own)
    dash = DASHES[position // len(COLOURS) % len(DASHES)]
    return COLOURS[position % len(COLOURS)], MARKERS[position % len(MARKERS)], dash


def distinct_styles(styles: Mapping[str, tuple[str, str, Any]]) -> dict[str, tuple[str, str, Any]]:
    """Return styles of which no two share a colour or a marker; the first keep their own.

    A figure stays readable in grey by its markers.

    Examples
    --------
    >>> distinct_styles({"a": ("#0072B2", "o", "-"), "b": ("#0072B2", "o", "-")})["b"]
    ('#D55E00', 's', '-')
    """
    found: dict[str, tuple[str, str, Any]] = {}
    for name, (colour, marker, dash) in styles.items():
        colours, markers = ({each[place] for each in found.values()} for place in (0, 1))
        found[name] = _next(colour, COLOURS, colours), _next(marker, MARKERS, markers), dash
    return found


def _next(own: str, every: Sequence[str], taken: Collection[str]) -> str:
    """Return `own` or the first after it that is not taken; `own` if all are."""
    if own not in every:
        return own
    first = every.index(own)
    return next((each for each in [*every[first:], *every[:first]] if each not in taken), own)


def text_colour(colour: str) -> str:
    """Return a colour, darkened until a text in it can be read on white (contrast 4.5, WCAG AA).

    Examples
    --------
    >>> text_colour("#0072B2"), text_colour("#22CC55")
    ('#0072B2', '#168738')
    """
    from matplotlib.colors import to_hex, to_rgb

    rgb = to_rgb(colour)
    for share in range(100, 0, -1):
        values = [share / 100 * value for value in rgb]
        light = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]
        if 1.05 / (0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] + 0.05) >= CONTRAST:
            return str(to_hex((values[0], values[1], values[2]))).upper()
    return "#000000"


def study_styles(names: Sequence[str]) -> dict[str, tuple[str, str, Any]]:
    """Return the colour, marker and dash of each method of a study.

    Methods without a fixed position, such as ``edsh[gamma=1]``, take the next colour that no other
    method of the study has, as long as there is one.

    Examples
    --------
    >>> styles = study_styles(["edsh", *(f"edsh[gamma={value}]" for value in range(14))])
    >>> styles["edsh"] == fixed_style("edsh"), len({colour for colour, _, _ in styles.values()})
    (True, 15)
    """
    styles = {name: fixed_style(name) for name in names}
    taken = {styles[name][0] for name in names if name in _positions()}
    for name in names:
        if name in _positions():
            continue
        colour = _next(styles[name][0], COLOURS, taken)
        styles[name] = (colour, *styles[name][1:])
        taken.add(colour)
    return styles
