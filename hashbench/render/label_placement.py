"""Names beside what they name: at the points of a scatter and at the ends of lines.

A legend makes the eye travel. Names are put where they cover neither each other nor a point; a
thin line leads to those that stand apart. They take no part in the layout, which is done before.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hashbench.render.text_layout import POINTS, SMALLEST, text_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Height of a line of names, in points, and the distances at which a name may stand.
LINE = 1.4 * SMALLEST
DISTANCES = (5.0, 9.0, 14.0, 20.0, 28.0, 38.0, 50.0, 65.0)

#: Beyond this distance a line leads to a name.
LED = 9.0

#: How much farther off a name rather stands than that its line crosses a point, or another name.
DETOUR, LONG_DETOUR = 15.0, 60.0

#: Where a name may stand as seen from its point; right comes first.
SIDES = (
    (1, 0), (-1, 0), (0, 1), (0, -1), (0.8, 0.8), (-0.8, 0.8), (0.8, -0.8), (-0.8, -0.8),
    (0.95, 0.4), (-0.95, 0.4), (0.95, -0.4), (-0.95, -0.4),
)  # fmt: skip

#: Half the width of a point, in points.
DOT = 3.0


@dataclass(frozen=True)
class Named:
    """A place on a panel with its name."""

    x: float
    y: float
    text: str
    colour: str


Box = tuple[float, float, float, float]  # left, bottom, right, top


def label_points(panel: Axes, named: Iterable[Named], others: Sequence[tuple[float, float]]) -> int:
    """Write names beside points; return how many found no room and are not there.

    Parameters
    ----------
    panel : laid out and with its final limits
    named : the points that get a name, the most important first
    others : where the other points are
    """
    figure: Any = panel.figure
    scale = POINTS / figure.dpi
    place = panel.transData.transform
    edge = panel.get_window_extent()
    right_end = min(edge.x1 * scale + 8, figure.get_size_inches()[0] * POINTS - 1)
    inside = (edge.x0 * scale, edge.y0 * scale, right_end, edge.y1 * scale + 1)
    listed = list(named)
    places = [place(each) * scale for each in (*((n.x, n.y) for n in listed), *others)]
    dots: list[Box] = [(x - DOT, y - DOT, x + DOT, y + DOT) for x, y in places]
    names: list[Box] = []
    leads: list[Box] = []
    methods_left_out = 0
    for number, each in enumerate(listed):
        x, y = places[number]
        width = text_points(figure, each.text, SMALLEST)
        others_dots = dots[:number] + dots[number + 1 :]
        found: list[tuple[float, int, Box, list[Box], float, float, float]] = []
        for distance, (right, up) in itertools.product(DISTANCES, SIDES):
            at = x + right * distance, y + up * distance
            box = _box(at, width, right)
            if _crossed([box], [*dots, *names, *leads]) or not _within(box, inside):
                continue
            lead = _lead((x, y), at) if distance > LED else []
            across = DETOUR * _crossed(lead, others_dots) + LONG_DETOUR * _crossed(lead, names)
            found.append((distance + across, len(found), box, lead, distance, right, up))
        if not found:
            methods_left_out += 1
            continue
        _, _, box, lead, distance, right, up = min(found)
        names.append(box)
        leads += lead
        _write(panel, each, (right * distance, up * distance), right, distance)
    return methods_left_out


def label_ends(panel: Axes, named: Iterable[Named]) -> None:
    """Write names right of the ends of lines, one below the other, moved apart where they touch."""
    scale = POINTS / panel.figure.dpi
    edge = panel.get_window_extent()
    ends = sorted(named, key=lambda each: each.y)
    wanted = [panel.transData.transform((each.x, each.y))[1] * scale for each in ends]
    heights = apart(wanted, LINE, edge.y0 * scale, edge.y1 * scale)
    for each, height, own in zip(ends, heights, wanted, strict=True):
        moved = abs(height - own) > LINE / 2
        _write(panel, each, (8 if moved else 4, height - own), 1, 99 if moved else 0)


def apart(wanted: Sequence[float], step: float, low: float, high: float) -> list[float]:
    """Return ascending heights at least a step apart, near the wanted ones and within bounds.

    Examples
    --------
    >>> apart([1, 1, 9], 2, 0, 10)
    [0.0, 2.0, 9.0]
    """
    if not wanted:
        return []
    step = min(step, (high - low) / max(1, len(wanted) - 1))
    groups: list[list[float]] = []  # sum of wanted lowest places, number
    for count, height in enumerate(wanted):
        groups.append([height - count * step, 1])
        while len(groups) > 1 and groups[-2][0] / groups[-2][1] > groups[-1][0] / groups[-1][1]:
            total, number = groups.pop()
            groups[-1] = [groups[-1][0] + total, groups[-1][1] + number]
    bases = [total / number for total, number in groups for _ in range(int(number))]
    top = high - (len(wanted) - 1) * step
    return [float(min(max(base, low), top) + i * step) for i, base in enumerate(bases)]


def _box(at: tuple[float, float], width: float, right: float) -> Box:
    left = at[0] if right > 0 else at[0] - width if right < 0 else at[0] - width / 2
    return left, at[1] - LINE / 2, left + width, at[1] + LINE / 2


def _lead(start: tuple[float, float], end: tuple[float, float]) -> list[Box]:
    """Return small boxes along the line that leads from a name to its point."""
    (x, y), (to_x, to_y) = start, end
    steps = max(1, int(max(abs(to_x - x), abs(to_y - y)) / 2))
    shares = [step / steps for step in range(1, steps)]
    places = [(x + share * (to_x - x), y + share * (to_y - y)) for share in shares]
    return [(at_x - 0.5, at_y - 0.5, at_x + 0.5, at_y + 0.5) for at_x, at_y in places]


def _within(box: Box, around: Box) -> bool:
    return (
        box[0] >= around[0] and box[1] >= around[1] and box[2] <= around[2] and box[3] <= around[3]
    )


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _crossed(boxes: Sequence[Box], others: Sequence[Box]) -> int:
    """Return how many of the others are overlapped by any of the boxes."""
    return sum(any(_overlap(box, other) for box in boxes) for other in others)


def _write(
    panel: Axes, each: Named, offset: tuple[float, float], right: float, distance: float
) -> None:
    align = "left" if right > 0 else "right" if right < 0 else "center"
    line: dict[str, Any] = {"arrowstyle": "-", "color": each.colour, "linewidth": 0.4, "shrinkB": 2}
    line["relpos"] = ({"left": 0.0, "center": 0.5, "right": 1.0}[align], 0.5)  # its near end
    text = panel.annotate(
        each.text,
        (each.x, each.y),
        offset,
        textcoords="offset points",
        ha=align,
        va="center",
        fontsize=SMALLEST,
        color=each.colour,
        arrowprops=line if distance > LED else None,
        annotation_clip=False,
    )
    text.set_in_layout(False)
