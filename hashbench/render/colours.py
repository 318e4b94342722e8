"""Colours, markers and dashes of methods: the same for a method in every study."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
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

#: Eleven markers and fifteen colours have no common factor: 165 different pairs.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*")

DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (4, 1.2, 1, 1.2)))


@cache
def _positions() -> dict[str, int]:
    """Return the positions of the methods that have a fixed one."""
    text = (resources.files("hashbench.resources") / "method_order.txt").read_text(encoding="utf-8")
    names = [line for line in text.split("\n") if line and not line.startswith("#")]
    return {name: position for position, name in enumerate(names)}


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
        first = COLOURS.index(styles[name][0])
        candidates = [*COLOURS[first:], *COLOURS[:first]]
        colour = next((each for each in candidates if each not in taken), styles[name][0])
        styles[name] = (colour, *styles[name][1:])
        taken.add(colour)
    return styles
