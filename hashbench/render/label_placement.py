"""Names next to the points of a scatter and at the ends of lines, where a legend is hard to follow.

Labels take no part in the layout of a figure, which is done before.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from hashbench.render.colours import text_colour
from hashbench.render.text_layout import POINTS, SMALLEST

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.text import Text

#: Height of a line of labels, in points.
LINE = 1.4 * SMALLEST

#: Iterations of adjustText: a limit in seconds would give other figures on other machines.
ITERATIONS = 500


class Label(NamedTuple):
    """A text for the point (x, y)."""

    x: float
    y: float
    text: str
    colour: str


def label_points(
    axes: Axes,
    labels: Sequence[Label],
    markers: Sequence[Artist],
    line: Sequence[tuple[float, float]] = (),
) -> list[Text]:
    """Write labels near their points, clear of each other and of markers.

    Parameters
    ----------
    axes : laid out and with its final limits
    labels : the points that have a label
    markers : of all points
    line : corners of a line that labels avoid
    """
    from adjustText import adjust_text
    from matplotlib.patheffects import withStroke

    if not labels:
        return []
    halo = [withStroke(linewidth=1.5, foreground="white")]  # readable where it crosses a line
    texts = [
        axes.text(x, y, text, color=text_colour(colour), fontsize=SMALLEST, path_effects=halo)
        for x, y, text, colour in labels
    ]
    x, y = _along(axes, line)
    _, arrows = adjust_text(
        texts,
        x,
        y,
        objects=markers,
        avoid_self=False,
        ax=axes,
        expand=(1.2, 1.6),
        force_text=(0.5, 0.8),
        force_static=(0.5, 0.8),
        force_explode=(0.5, 1.0),
        force_pull=(0.002, 0.002),
        iter_lim=ITERATIONS,
        min_arrow_len=6,
        arrowprops={"arrowstyle": "-", "linewidth": 0.4, "shrinkB": 2},
    )
    for arrow in arrows:
        arrow.set_color(arrow.patchA.get_color())
    for artist in (*texts, *arrows):
        artist.set_in_layout(False)
    return texts


def _along(axes: Axes, line: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    """Return points on a line, a line of labels apart, in the units of the axes."""
    import numpy as np

    if len(line) < 2:
        return [], []
    corners = axes.transData.transform(np.array(line, float))
    step = LINE * axes.figure.dpi / POINTS
    parts = [
        np.linspace(start, end, max(2, int(np.abs(end - start).max() / step)), endpoint=False)
        for start, end in itertools.pairwise(corners)
    ]
    points = axes.transData.inverted().transform(np.concatenate([*parts, corners[-1:]]))
    return points[:, 0].tolist(), points[:, 1].tolist()


def label_ends(axes: Axes, labels: Sequence[Label]) -> None:
    """Write labels right of the ends of lines, moved up or down where they would overlap."""
    scale = POINTS / axes.figure.dpi
    box = axes.get_window_extent()
    ends = sorted(labels, key=lambda label: label.y)
    wanted = [axes.transData.transform((end.x, end.y))[1] * scale for end in ends]
    heights = spread(wanted, LINE, box.y0 * scale, box.y1 * scale)
    for end, height, own in zip(ends, heights, wanted, strict=True):
        moved = abs(height - own) > LINE / 2
        line = {"arrowstyle": "-", "color": end.colour, "linewidth": 0.4, "relpos": (0, 0.5)}
        text = axes.annotate(
            end.text,
            (end.x, end.y),
            (8 if moved else 4, height - own),
            textcoords="offset points",
            va="center",
            fontsize=SMALLEST,
            color=text_colour(end.colour),
            arrowprops=line if moved else None,
            annotation_clip=False,
        )
        text.set_in_layout(False)


def spread(wanted: Sequence[float], step: float, low: float, high: float) -> list[float]:
    """Return ascending heights at least a step apart, near the wanted ones and within bounds.

    Examples
    --------
    >>> spread([1, 1, 9], 2, 0, 10)
    [0.0, 2.0, 9.0]
    """
    from scipy.optimize import isotonic_regression

    if not wanted:
        return []
    step = min(step, (high - low) / max(1, len(wanted) - 1))
    steps = [step * number for number in range(len(wanted))]
    bases = isotonic_regression([a - b for a, b in zip(wanted, steps, strict=True)]).x
    return [float(a + b) for a, b in zip(bases.clip(low, high - steps[-1]), steps, strict=True)]
