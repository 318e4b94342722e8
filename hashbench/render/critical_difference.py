"""Figures of ranks: a critical-difference diagram, and a matrix of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hashbench.analysis.summary import records
from hashbench.analysis.tests import ALPHA
from hashbench.render import figures
from hashbench.render.style import Style
from hashbench.render.text_layout import NAME_SIZE, POINTS, label

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

#: Height of a line of names, in points.
LINE = 9.5


def rank_diagram(ranks: pd.DataFrame, style: Style) -> Figure:
    """Draw mean ranks on an axis, with bars that join methods within the critical difference."""
    import pandas as pd
    from scikit_posthocs import critical_difference_diagram

    order = ranks.sort_values(["mean_rank", "method"], kind="stable")
    means = order.set_index("method")["mean_rank"]
    difference = float(order["critical_difference"].iloc[0])
    differ = np.abs(np.subtract.outer(means.to_numpy(), means.to_numpy())) > difference
    p_values = pd.DataFrame(np.where(differ, 0.0, 1.0), means.index, means.index)
    styles = style.figure_styles(means.index)
    one_side = len(means) > figures.CROWDED and style.width == "column"
    figure, (axes,) = figures.make_figure(style, 1, 1)
    drawn = critical_difference_diagram(
        means,
        p_values,
        ax=axes,
        left_only=one_side,
        color_palette={name: shown.colour for name, shown in styles.items()},
        label_props={"fontsize": NAME_SIZE},
        marker_props={"s": 5},
        elbow_props={"linewidth": 0.7},
        crossbar_props={"linewidth": 1.8},
    )
    for text, name in zip(drawn["labels"], _label_order(list(means.index), one_side), strict=True):
        words = ["", f"{means[name]:.2f}", label(style, name)]
        text.set_text("  ".join(words if text.get_horizontalalignment() == "left" else words[::-1]))
        text.set_color("black")
    lowest = min(text.get_position()[1] for text in drawn["labels"])
    axes.hlines(3, 1, 1 + difference, color="black", linewidth=1.5)
    axes.text(1 + difference, 3, f"  CD = {difference:.2f}", va="center", fontsize=NAME_SIZE)
    axes.set(xlim=(1, len(means)), ylim=(lowest - 0.5, 3.5))
    axes.set_xticks(rank_ticks(len(means), 8))
    axes.grid(visible=False)
    axes.spines["top"].set_visible(True)
    figure.set_size_inches(style.inches, (4 - lowest) * LINE / POINTS)
    return figure


def _label_order(methods: list[str], one_side: bool) -> list[str]:
    """Return methods as the diagram lists their labels: left from the top, then right."""
    half = len(methods) if one_side else (len(methods) + 1) // 2
    return methods[:half] + methods[half:][::-1]


def pairs_matrix(pairs: pd.DataFrame, ranks: pd.DataFrame, style: Style) -> Figure:
    """Draw blocks won minus lost by the row's method, with dots where two methods differ."""
    order = list(ranks.sort_values(["mean_rank", "method"], kind="stable")["method"])
    position = {method: number for number, method in enumerate(order)}
    grid = np.full((len(order), len(order)), np.nan)
    for row in records(pairs):
        grid[position[row.method], position[row.against]] = row.wins - row.losses
    blocks = int(ranks["blocks"].iloc[0])
    figure, (axes,) = figures.make_figure(style, 1, len(order) * LINE / POINTS + 0.5)
    figure.set_figwidth(min(style.inches, 0.3 * len(order) + 2))
    # the ends of the colours are too dark for dots
    limit = 1.6 * blocks
    image = axes.imshow(grid, cmap="PuOr", vmin=-limit, vmax=limit, aspect="auto")
    differ = pairs[pairs["p_value"] <= ALPHA]
    axes.plot(differ["against"].map(position), differ["method"].map(position), "ko", markersize=1.5)
    names = [f"{label(style, method)}  {number}" for number, method in enumerate(order, 1)]
    axes.set_yticks(range(len(order)), names)
    ticks = rank_ticks(len(order), 12)
    axes.set_xticks([tick - 1 for tick in ticks], [str(tick) for tick in ticks])
    axes.grid(visible=False)
    axes.tick_params(length=0)
    bar = figure.colorbar(image, ax=axes, label="won minus lost", aspect=30)
    bar.ax.set_ylim(-blocks, blocks)
    bar.set_ticks([-blocks, 0, blocks])
    return figure


def rank_ticks(count: int, most: int) -> list[int]:
    """Return the ranks that an axis names: the ends, and round numbers not too near to them."""
    step = next(step for step in (1, 2, 5, 10, 20, 50, count) if count / step <= max(most, 2))
    inner = [rank for rank in range(step, count, step) if min(rank - 1, count - rank) >= 0.7 * step]
    return sorted({1, count, *inner})
