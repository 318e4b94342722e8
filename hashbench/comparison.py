"""Comparing methods: over independent blocks, and two of them query by query.

A block is one dataset split by one seed. Tasks and code lengths of a split share its rows, so
that their scores are averaged within the block, never counted as further blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hashbench import figures, lettering, stats
from hashbench.errors import HashbenchError, unknown
from hashbench.look import Look, arrow
from hashbench.report import Picture
from hashbench.summary import grouped, records

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.derive import Results
    from hashbench.store import Stored

SAMPLES = 10_000
ALPHA = 0.05


def blocks(scores: pd.DataFrame) -> pd.DataFrame:
    """Return a row a block and a column a method: scores averaged over tasks and code lengths.

    Methods that lack a score somewhere are left out; a mean over other cells would not compare.

    Parameters
    ----------
    scores : of one measure and one kind of database codes
    """
    cells = scores.pivot_table(
        index=["dataset", "seed", "bits", "task"], columns="method", values="value"
    )
    complete = cells.loc[:, cells.notna().all()]
    return complete.groupby(["dataset", "seed"]).mean()


def find_method(results: Results, name: str) -> str:
    """Return the method of the results that is called so, with or without its parameters."""
    labels = list(dict.fromkeys(cell.label for cell in results.cells))
    if name in labels:
        return name
    same = [label for label in labels if label.partition("[")[0] == name]
    if len(same) > 1:
        raise HashbenchError(f"method {name!r}: found {', '.join(same)}; allowed: one of them")
    if not same:
        raise unknown("method", name, labels)
    return same[0]


def compare(results: Results, first: str, second: str, measure: str) -> pd.DataFrame:
    """Compare two methods query by query, for every dataset, code length and task.

    A query that is asked under several seeds counts once, with its mean over them: the interval
    says how far the difference depends on which items were asked.

    Returns
    -------
    DataFrame
        dataset, bits, task, database, measure, first, second (means), difference (first minus
        second), low and high (95 % interval of a bootstrap over queries), p_value (of the same,
        two-sided), p_holm (corrected over all rows), at_most (whether the p-values are as small as
        the resamples can tell), queries, seeds, seeds_won (by the first)
    """
    import pandas as pd

    cells: dict[tuple[str, int], list[tuple[Stored, Stored]]] = {}
    done = {(s.cell.label, s.cell.dataset, s.cell.bits, s.cell.seed): s for s in results.done()}
    for (label, dataset, bits, seed), stored in done.items():
        other = done.get((second, dataset, bits, seed))
        if label == first and other is not None:
            cells.setdefault((dataset, bits), []).append((stored, other))
    rows = [
        row
        for (dataset, bits), pairs in cells.items()
        for task in results.tasks
        for database in results.databases
        for row in _compared(results, pairs, dataset, bits, task, database, measure)
    ]
    if not rows:
        raise HashbenchError(f"{first} and {second}: found no cell that both have done")
    table = pd.DataFrame(rows)
    # a bootstrap cannot tell a p-value from a smaller one below what its samples resolve
    table["at_most"] = table["p_value"] <= 2 / SAMPLES
    table["p_value"] = table["p_value"].clip(lower=2 / SAMPLES)
    table["p_holm"] = stats.holm(table["p_value"].to_numpy())
    return table


def _compared(
    results: Results,
    pairs: list[tuple[Stored, Stored]],
    dataset: str,
    bits: int,
    task: str,
    database: str,
    measure: str,
) -> list[dict[str, Any]]:
    """Return one row, or none if the methods do not both have such codes."""
    from hashbench.queries import per_query  # it computes: listing reports should not wait for it

    sums: dict[int, npt.NDArray[np.float64]] = {}
    won = 0
    for pair in pairs:
        values = [per_query(results, stored, task, database, measure) for stored in pair]
        if values[0] is None or values[1] is None:
            return []
        both = np.column_stack([values[0], values[1]])
        queries = results.split(pair[0].cell.split)["query"]
        counted = np.isfinite(both).all(axis=1)
        won += bool(both[counted, 0].mean() > both[counted, 1].mean())
        for query, scores in zip(queries[counted], both[counted], strict=True):
            total = sums.setdefault(int(query), np.zeros(3))
            total += (*scores, 1)
    if not sums:
        return []
    totals = np.array(list(sums.values()))
    means = totals[:, :2] / totals[:, 2:]
    rng = np.random.default_rng(0)
    outcome = stats.paired_bootstrap(means[:, 0], means[:, 1], rng, SAMPLES)
    row = {
        "dataset": dataset,
        "bits": bits,
        "task": task,
        "database": database,
        "measure": measure,
        "first": means[:, 0].mean(),
        "second": means[:, 1].mean(),
        **outcome._asdict(),
        "queries": len(means),
        "seeds": len(pairs),
        "seeds_won": won,
    }
    return [row]


def forest(table: pd.DataFrame, first: str, second: str, look: Look) -> Picture:
    """Return a figure with a line a comparison: mean difference and its interval.

    Lines of one dataset and kind of database codes stand below a heading.
    """
    groups = list(grouped(table, "dataset", "database"))
    lines = len(table) + len(groups)
    with figures.style():
        figure, (axes,) = figures.make_figure(look, 1, lines * 0.14 + 0.6)
        axes.axvline(0, color="#777777", linewidth=0.8)
        names: dict[int, str] = {}
        headings: list[int] = []
        for (dataset, database), group in groups:
            y = lines - 1 - len(names)
            headings.append(len(names))
            names[y] = f"{lettering.titled(look, dataset)}, {database}"
            for row in records(group):
                y -= 1
                colour = look.methods[first if row.difference > 0 else second].colour
                face = colour if row.p_holm <= ALPHA else "white"
                axes.hlines(y, row.low, row.high, color=colour, linewidth=1.2)
                axes.plot(row.difference, y, "o", color=colour, markerfacecolor=face)
                names[y] = f"{arrow(row.task)}, {row.bits} bits"
        axes.set_yticks(list(names), list(names.values()))
        for place in headings:
            axes.get_yticklabels()[place].set_fontweight("bold")
            axes.get_ygridlines()[place].set_visible(False)
        axes.tick_params(axis="y", length=0)
        titles = [lettering.label(look, name) for name in (first, second)]
        axes.set(ylim=(-0.7, lines - 0.3), xlabel=f"{titles[0]} minus {titles[1]}")
        axes.locator_params(axis="x", nbins=5)
    caption = look.caption(
        f"{look.methods[first].title} minus {look.methods[second].title}: mean over queries and "
        "95 % interval of a paired bootstrap; filled: told apart (Holm over all lines, 5 %)",
        table["dataset"],
        measure=str(table["measure"].iloc[0]),
        seeds=list(table["seeds"]),
    )
    return Picture("", caption, figure, look.notes([first, second]))


def p_words(p_value: float, at_most: bool) -> str:
    """Return a p-value as far as the bootstrap can tell it.

    Examples
    --------
    >>> p_words(0.0048, True), p_words(0.0312, False), p_words(1.0, False)
    ('≤ 0.0048', '= 0.031', '= 1')
    """
    return f"{'≤' if at_most else '='} {p_value:.2g}"


def sentences(table: pd.DataFrame, first: str, second: str) -> list[str]:
    """Return the comparison in words: how it ended, a heading a dataset, three lines a row."""
    told = table[table["p_holm"] <= ALPHA]
    won, lost = int((told["difference"] > 0).sum()), int((told["difference"] < 0).sum())
    lines = [
        f"Of {len(table)} comparisons {first} wins {won} and {second} {lost}; in "
        f"{len(table) - won - lost} they are not told apart.",
    ]
    measure = str(table["measure"].iloc[0])
    for (dataset, database), group in grouped(table, "dataset", "database"):
        lines.append(f"{measure} on {dataset}, database codes: {database}")
        for row in records(group):
            verdict = f"{first} and {second} are not told apart"
            if row.p_holm <= ALPHA:
                better = row.difference > 0
                verdict = f"{first if better else second} beats {second if better else first}"
            lines.append(
                f"  {row.task}, {row.bits} bits: {verdict}\n"
                f"    {row.first:.4f} against {row.second:.4f}, difference {row.difference:+.4f} "
                f"[{row.low:+.4f}, {row.high:+.4f}], p {p_words(row.p_holm, row.at_most)}\n"
                f"    {row.queries} queries; {first} is ahead in {row.seeds_won} of {row.seeds} "
                f"seed{'s' if row.seeds > 1 else ''}"
            )
    return lines
