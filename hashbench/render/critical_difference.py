"""Figures of ranks: a critical-difference diagram, and a matrix of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hashbench.analysis.summary import records
from hashbench.analysis.tests import ALPHA, cliques
from hashbench.render import figures, text_layout
from hashbench.render.style import Style

if TYPE_CHECKING:
    import pandas as pd

#: Lines of text that can be read, and an axis of ranks that can: at least so many points.
SMALLEST, NARROWEST = 7.5, 150


def _cell(figure: Any, names: list[str], style: Style) -> tuple[float, float]:
    """Return how wide a cell of the matrix and the names beside it are, in inches."""
    widest = max(text_layout.text_points(figure, name) for name in names)
    words = widest / text_layout.POINTS + 0.1
    room = max(style.inches - words - 0.8, 0.8)
    return min(max(0.17, 1.3 / len(names)), room / len(names)), words


def pairs_matrix(pairs: pd.DataFrame, ranks: pd.DataFrame, style: Style) -> Any:
    """Draw blocks won minus blocks lost by the row's method, dots where tests tell two apart."""
    order = list(ranks.sort_values(["mean_rank", "method"], kind="stable")["method"])
    place = {method: number for number, method in enumerate(order)}
    grid = np.full((len(order), len(order)), np.nan)
    for row in records(pairs):
        grid[place[row.method], place[row.against]] = row.wins - row.losses
    count = int(ranks["blocks"].iloc[0])
    figure, (panel,) = figures.make_figure(style, 1, 1)
    names = [text_layout.label(style, method) for method in order]
    cell, words = _cell(figure, names, style)
    numbered = cell * text_layout.POINTS < SMALLEST  # no room for names below the columns
    if numbered:
        names = [f"{name} {number}" for number, name in enumerate(names, 1)]
        cell, words = _cell(figure, names, style)
    width = cell * len(order)
    height = max(cell, SMALLEST / text_layout.POINTS) * len(order)
    below = 0.2 if numbered else words
    # beside the cells stand the names and the scale of colours
    figure.set_size_inches(min(style.inches, width + words + 0.8), height + below + 0.1)
    # the ends of the colours are too dark for dots
    image = panel.imshow(grid, cmap="PuOr", vmin=-1.6 * count, vmax=1.6 * count, aspect="auto")
    told = pairs[pairs["p_value"] <= ALPHA]
    where = [place[method] for method in told["against"]], [place[m] for m in told["method"]]
    panel.plot(*where, "o", color="black", markersize=1.5)
    text = min(text_layout.NAME_SIZE, 0.9 * height / len(order) * text_layout.POINTS)
    if numbered:
        ticks = rank_ticks(len(order), int(width * text_layout.POINTS // 14))
        panel.set_xticks([tick - 1 for tick in ticks], [str(tick) for tick in ticks])
    else:
        panel.set_xticks(range(len(order)), names, rotation=90, fontsize=text)
    panel.set_yticks(range(len(order)), names, fontsize=text)
    panel.grid(visible=False)
    panel.tick_params(length=0)
    bar = figure.colorbar(image, ax=panel, shrink=0.9, label="won minus lost")
    bar.ax.set_ylim(-count, count)
    bar.set_ticks([-count, 0, count])
    return figure


def rank_ticks(count: int, most: int) -> list[int]:
    """Return the ranks that an axis names: the ends, and round numbers not too near to them."""
    step = next(step for step in (1, 2, 5, 10, 20, 50, count) if count / step <= max(most, 2))
    inner = [rank for rank in range(step, count, step) if min(rank - 1, count - rank) >= 0.7 * step]
    return sorted({1, count, *inner})


def rank_diagram(ranks: pd.DataFrame, style: Style) -> tuple[Any, str]:
    """Return what draws a critical-difference diagram, best first, and what joins methods in it.

    Names stand at both sides of the ranks or, where many leave them no room, a line each.
    """
    order = ranks.sort_values(["mean_rank", "method"], kind="stable")
    figure, _ = figures.make_figure(style, 1, 1)
    names = [text_layout.label(style, name) for name in order["method"]]
    widest = max(text_layout.text_points(figure, name) for name in names) + 36
    inner = style.inches * text_layout.POINTS - 2 * widest
    if inner < NARROWEST and len(order) > figures.CROWDED:
        return figures.deferred(_lines, order, style), "methods whose bars overlap"
    joined = figures.deferred(_joined, order, style, widest, max(inner, 60))
    return joined, "methods joined by a bar"


def _lines(order: pd.DataFrame, style: Style) -> Any:
    """Draw a line a method: its mean rank with half a critical difference to either side."""
    count = len(order)
    figure, (axes,) = figures.make_figure(style, 1, figures.rows_height(count))
    half = float(order["critical_difference"].iloc[0]) / 2
    featured = style.featured(order["method"])
    for y, row in zip(range(count - 1, -1, -1), records(order), strict=True):
        colour = style.drawn(row.method, featured).colour
        ends = row.mean_rank - half, row.mean_rank + half
        axes.hlines(y, *ends, color=colour, linewidth=2.5, alpha=0.45)
        axes.plot(row.mean_rank, y, "o", color=colour)
    names = [text_layout.label(style, method) for method in order["method"]]
    axes.set_yticks(range(count - 1, -1, -1), names)
    axes.tick_params(axis="y", length=0)
    axes.set_xticks(rank_ticks(count, 8))
    axes.set(ylim=(-0.7, count - 0.3), xlabel="mean rank")
    return figure


def _joined(order: pd.DataFrame, style: Style, widest: float, inner: float) -> Any:
    """Draw ranks along a line, names at both sides of it, bars below it.

    ``widest`` and ``inner`` are the widths of the names and of the line, in points.
    """
    methods, values = list(order["method"]), order["mean_rank"].to_numpy()
    difference = float(order["critical_difference"].iloc[0])
    groups = cliques(values, difference)
    count, step = len(methods), 0.5  # heights are in lines of text
    half = -(-count // 2)
    below = 0.6 + step * len(groups)
    height = below + half + 0.3
    figure, (axes,) = figures.make_figure(style, 1, (height + 2.4) * 0.135)
    room = (count - 1) * widest / inner
    axes.set(xlim=(1 - room, count + room), ylim=(height, -2.4))
    axes.set_axis_off()
    axes.hlines(0, 1, count, color="black", linewidth=0.8)
    for tick in rank_ticks(count, int(inner // 28)):
        axes.vlines(tick, -0.3, 0, color="black", linewidth=0.8)
        axes.text(tick, -0.4, str(tick), ha="center", va="bottom", fontsize=7)
    axes.hlines(-1.9, 1, 1 + difference, color="black", linewidth=1.5)
    axes.text(
        1 + difference + 0.01 * count, -1.9, f"CD = {difference:.2f}", va="center", fontsize=7
    )
    featured = style.featured(methods)
    for index, (method, rank) in enumerate(zip(methods, values, strict=True)):
        left = index < half
        y = below + (index if left else count - 1 - index) + 0.5
        edge = 1 - 0.02 * count if left else count + 0.02 * count
        colour = style.drawn(method, featured).colour
        axes.plot([rank, rank, edge], [0, y, y], color=colour, linewidth=0.7)
        words = f"{text_layout.label(style, method)}  {rank:.2f}"
        if not left:
            words = f"{rank:.2f}  {text_layout.label(style, method)}"
        gap = 0.01 * count * (-1 if left else 1)
        axes.text(edge + gap, y, words, ha="right" if left else "left", va="center", fontsize=7)
    overhang = 0.004 * count
    for number, group in enumerate(groups):
        y = 0.45 + step * number
        ends = values[group[0]], values[group[-1]]
        axes.hlines(y, ends[0] - overhang, ends[1] + overhang, color="black", linewidth=1.8)
    return figure
