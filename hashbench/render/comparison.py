"""A comparison of two methods as a figure and as tables for a terminal."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from hashbench.analysis.evidence import split_words
from hashbench.analysis.range_tests import TESTS, words_without_test
from hashbench.analysis.summary import grouped, records
from hashbench.analysis.tests import ALPHA
from hashbench.data.splits import SEARCHED, Searched
from hashbench.render import figures, text_layout
from hashbench.render.colours import COLOURS
from hashbench.render.report import Group, Picture, Table, TableCell
from hashbench.render.style import Style, arrow
from hashbench.render.tables import to_text

if TYPE_CHECKING:
    import pandas as pd


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
                face = colour if row.p_value <= ALPHA else "white"
                if row.over:
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
    subject = (
        f"{style.methods[first].title} minus {style.methods[second].title}: mean over queries and "
        "seeds"
    )
    if tests := [TESTS[over] for over in dict.fromkeys(table["over"]) if over]:
        subject += f", and 95 % interval {' or '.join(tests)}; filled: significant (5 % per line)"
    caption = style.summary(
        subject,
        measure=str(table["measure"].iloc[0]),
        seeds=list(table["seeds"]),
    )
    return Picture("", caption, figure, style.marks([first, second]))


def _colours(style: Style, first: str, second: str) -> tuple[str, str]:
    """Return the colours of two methods; another for the second if theirs are the same."""
    ours, theirs = style.methods[first].colour, style.methods[second].colour
    return ours, theirs if theirs != ours else next(each for each in COLOURS if each != ours)


def p_text(p_value: float) -> str:
    """Return a p-value with two digits, smaller ones than 0.001 as a bound.

    Examples
    --------
    >>> p_text(0.0312), p_text(1.0), p_text(0.0002)
    ('0.031', '1', '< 0.001')
    """
    return "< 0.001" if p_value < 0.001 else f"{p_value:.2g}"


def comparison_tables(table: pd.DataFrame, first: str, second: str) -> list[str]:
    """Return the comparison for a terminal: one table per dataset, notes, and who wins at the end.

    In a table, the significantly better method of a row has its name in the last column.
    """
    measure = str(table["measure"].iloc[0])
    tested = table[table["over"] != ""]
    interval = ("95 % interval", "p") if len(tested) else ()
    header = ("task", "bits", first, second, "difference", *interval, "better")
    lines = []
    for (dataset, *searched), group in grouped(table, "dataset", *SEARCHED):
        shown = Table(
            "",
            f"{measure} on {dataset}, {Searched(*searched)}",
            [[(name, 1) for name in header]],
            [Group("", [_cells(row, first, second, bool(interval)) for row in records(group)])],
            "lrrrr" + "rr" * bool(interval) + "l",
            list(dict.fromkeys(_over(row, first) for row in records(group))),
        )
        lines += [to_text(shown, WIDTH), ""]
    notes = [
        f"Intervals and p-values are {TESTS[over]} ({int(tested['methods'].max())}): for each line "
        "the probability of any wrong statement about any two of them is 5 %."
        for over in dict.fromkeys(tested["over"])
    ]
    notes.append("Means are over queries, then seeds, as in tables.")
    lines += (textwrap.fill(note, WIDTH) for note in notes)
    return [*lines, textwrap.fill(_summary(table, tested, first, second), WIDTH)]


def _cells(row: Any, first: str, second: str, interval: bool) -> list[TableCell]:
    """Return the cells of a row of the table."""
    better = row.over and row.p_value <= ALPHA
    leads = row.difference > 0
    cells = [
        TableCell(row.task),
        TableCell(str(row.bits)),
        TableCell(f"{row.first:.3f}", bold=bool(better and leads)),
        TableCell(f"{row.second:.3f}", bold=bool(better and not leads)),
        TableCell(f"{row.difference:+.3f}"),
    ]
    if interval:
        ends = f"[{row.low:+.3f}, {row.high:+.3f}]" if row.over else "-"
        cells += [TableCell(ends), TableCell(p_text(row.p_value) if row.over else "-")]
    winner = (first if leads else second) if better else "-" if row.over else "no test"
    return [*cells, TableCell(winner)]


def _summary(table: pd.DataFrame, tested: pd.DataFrame, first: str, second: str) -> str:
    """Return how many comparisons each method wins."""
    if not len(tested):
        return f"{len(table)} comparisons, none tested: too few splits."
    significant = tested[tested["p_value"] <= ALPHA]["difference"]
    won, lost = int((significant > 0).sum()), int((significant < 0).sum())
    return (
        f"Of {len(tested)} tested comparisons {first} wins {won} and {second} {lost}; in "
        f"{len(tested) - won - lost} they do not differ significantly."
    )


def _over(row: Any, first: str) -> str:
    """Return what a row is over, who is ahead, or what a test would take."""
    words = split_words(row.blocks, row.seeds)
    if not row.over:
        return f"{words}; {words_without_test(row.blocks, row.seeds)}"
    return f"{words}; {first} is ahead in {row.blocks_won}" if row.blocks > 1 else words
