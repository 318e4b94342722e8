"""A comparison of two methods as a figure and as sentences."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from hashbench.analysis.bayesian_tests import MARGIN
from hashbench.analysis.evidence import split_words
from hashbench.analysis.summary import grouped, records
from hashbench.analysis.tests import ALPHA
from hashbench.data.splits import SEARCHED, Searched
from hashbench.render import figures, text_layout
from hashbench.render.colours import COLOURS
from hashbench.render.report import Picture
from hashbench.render.style import Style, arrow

if TYPE_CHECKING:
    import pandas as pd


#: The tests that the interval and the p-value of a row come from.
TESTS = {
    "splits": "of a t-test over random splits, corrected for the rows that they share",
    "queries": "of a paired bootstrap over the queries of one split, no evidence about training on "
    "other rows",
}

WIDTH = 80  # columns of a terminal


def forest(table: pd.DataFrame, first: str, second: str, style: Style) -> Picture:
    """Return a figure with one line per comparison: mean difference and its interval.

    A heading is above the lines of each dataset, database and kind of codes.
    """
    groups = list(grouped(table, "dataset", *SEARCHED))
    lines = len(table) + len(groups)
    with figures.plot_context():
        figure, (axes,) = figures.make_figure(style, 1, lines * 0.14 + 0.6)
        axes.axvline(0, color="#777777", linewidth=0.8)
        colours = _colours(style, first, second)
        names: dict[int, str] = {}
        headings: list[int] = []
        for (dataset, *searched), group in groups:
            y = lines - 1 - len(names)
            headings.append(len(names))
            names[y] = f"{text_layout.panel_title(style, dataset)}, {Searched(*searched)}"
            for row in records(group):
                y -= 1
                colour = colours[row.difference <= 0]
                face = colour if row.p_holm <= ALPHA else "white"
                axes.hlines(y, row.low, row.high, color=colour, linewidth=1.2)
                axes.plot(row.difference, y, "o", color=colour, markerfacecolor=face)
                names[y] = f"{arrow(row.task)}, {row.bits} bits"
        axes.set_yticks(list(names), list(names.values()))
        for position in headings:
            axes.get_yticklabels()[position].set_fontweight("bold")
            axes.get_ygridlines()[position].set_visible(False)
        axes.tick_params(axis="y", length=0)
        titles = [text_layout.label(style, name) for name in (first, second)]
        axes.set(ylim=(-0.7, lines - 0.3), xlabel=f"{titles[0]} minus {titles[1]}")
        axes.locator_params(axis="x", nbins=5)
    tests = [TESTS[name] for name in dict.fromkeys(table["test"])]
    caption = style.summary(
        f"{style.methods[first].title} minus {style.methods[second].title}: mean over queries and "
        f"seeds, and 95 % interval {' or '.join(tests)}; filled: significant (Holm over all lines, "
        "5 %)",
        measure=str(table["measure"].iloc[0]),
        seeds=list(table["seeds"]),
    )
    return Picture("", caption, figure, style.marks([first, second]))


def _colours(style: Style, first: str, second: str) -> tuple[str, str]:
    """Return the colours of two methods; another for the second if theirs are the same."""
    ours, theirs = style.methods[first].colour, style.methods[second].colour
    return ours, theirs if theirs != ours else next(each for each in COLOURS if each != ours)


def p_words(p_value: float, at_most: bool) -> str:
    """Return a p-value in words, with "at most" if it is the smallest of a bootstrap.

    Examples
    --------
    >>> p_words(0.0048, True), p_words(0.0312, False), p_words(1.0, False)
    ('≤ 0.0048', '= 0.031', '= 1')
    """
    return f"{'≤' if at_most else '='} {p_value:.2g}"


def sentences(table: pd.DataFrame, first: str, second: str) -> list[str]:
    """Return the comparison as lines: a summary, then a heading per dataset and three per row."""
    significant = table[table["p_holm"] <= ALPHA]
    won, lost = (
        int((significant["difference"] > 0).sum()),
        int((significant["difference"] < 0).sum()),
    )
    lines = [
        f"Of {len(table)} comparisons {first} wins {won} and {second} {lost}; in "
        f"{len(table) - won - lost} they do not differ significantly.",
    ]
    measure = str(table["measure"].iloc[0])
    for (dataset, *searched), group in grouped(table, "dataset", *SEARCHED):
        lines.append(f"{measure} on {dataset}, {Searched(*searched)}")
        for row in records(group):
            verdict = f"{first} and {second} do not differ significantly"
            if row.p_holm <= ALPHA:
                better = row.difference > 0
                verdict = f"{first if better else second} beats {second if better else first}"
            lines.append(
                f"  {row.task}, {row.bits} bits: {verdict}\n"
                f"    {row.first:.4f} against {row.second:.4f}, difference {row.difference:+.4f} "
                f"[{row.low:+.4f}, {row.high:+.4f}], p {p_words(row.p_holm, row.at_most)}\n"
                f"    {_over(row, first)}"
            )
    notes = [f"Intervals and p-values are {TESTS[name]}." for name in dict.fromkeys(table["test"])]
    notes.append("Means are over queries, then seeds, as in tables; p is Holm-corrected.")
    return [*lines, *(textwrap.fill(note, WIDTH) for note in notes)]


def _over(row: Any, first: str) -> str:
    """Return what the test of a row is over, and its probabilities."""
    words = split_words(row.blocks, row.seeds)
    if row.test == "queries":
        return f"{row.queries} queries, {words}"
    return (
        f"{words}; {first} is ahead in {row.blocks_won}, better with probability "
        f"{row.better:.2f},\n    equal (within {MARGIN:g}) {row.equal:.2f}, worse {row.worse:.2f}"
    )
