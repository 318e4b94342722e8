"""Seen against unseen rows: what the score of a method owes to the rows it was trained on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hashbench.analysis.per_query import per_query
from hashbench.analysis.rank_changes import change, tau_words, to_ranks
from hashbench.analysis.summary import grouped, over_seeds
from hashbench.data.splits import Searched
from hashbench.measures import parse
from hashbench.plugins.protocol import ENCODED, SEEN, UNSEEN
from hashbench.render import figures, plots
from hashbench.render.report import (
    Exhibit,
    Group,
    NothingToShowError,
    Picture,
    Report,
    Table,
    TableCell,
    method_cell,
    slices,
)
from hashbench.render.style import Style

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.analysis.results import Results
    from hashbench.execution.store import Stored

HEADER = ("method", "seen", "unseen", "gap", "± seeds", "rank seen", "rank unseen")

#: The scores of a method.
SCORES = [SEEN, UNSEEN, "gap"]

#: What identifies a method's scores once the tasks are averaged.
KEYS = ["measure", "bits", "dataset", "method", "seed"]


class Generalisation(Report):
    """Scores on seen and on unseen rows, both encoded, with the gap and the change of rank."""

    name = "generalisation"
    title = "Seen and unseen rows"
    section = "Tables of scores"
    every_database = True

    def data(self, results: Results) -> pd.DataFrame:
        """Return one row per cell and task: both scores, the gap, and how many queries count.

        Scores are means over the queries that have relevant rows in both parts of the database.
        """
        import pandas as pd

        measure = results.main_measure
        rows = [
            {
                "dataset": stored.cell.dataset,
                "method": stored.cell.label,
                "bits": stored.cell.bits,
                "seed": stored.cell.seed,
                "task": task,
                "measure": measure,
                **scores,
            }
            for stored in results.done()
            if stored.cell.bits in results.figure_bits
            for task in results.tasks
            if (scores := _scores(results, stored, task, measure))
        ]
        if not rows:
            raise NothingToShowError(
                "needs a database with seen and unseen rows, as in [protocol=default]"
            )
        return pd.DataFrame(rows)

    def draw(self, data: pd.DataFrame, style: Style) -> Sequence[Exhibit]:
        """Return a table for each dataset and code length, and a figure for each code length."""
        exhibits: list[Exhibit] = []
        for (measure, bits), group in grouped(data, "measure", "bits"):
            means = mean_of_tasks(group)
            exhibits += [
                _table(part, group[group["dataset"] == dataset], style, dataset)
                for dataset, part in grouped(means, "dataset")
            ]
            subject = (
                "Scores on seen rows, which were training rows, and on unseen rows, both with "
                f"encoded codes of {bits} bits, mean of the tasks over {_queries(group)}"
            )
            words = style.summary(subject, measure=measure, seeds=list(means["seeds"]))
            shown = means.assign(task="mean of tasks")
            for name, part in figures.paginate(shown, style, rows=True):
                title = f"figure {measure} {bits} bits {name}"
                drawing = figures.deferred(plots.dot_figure, part, style, UNSEEN, SEEN, measure)
                notes = style.marks(part["method"])
                exhibits.append(Picture(title, words, drawing, notes, slices(group)))
        return exhibits


def mean_of_tasks(data: pd.DataFrame) -> pd.DataFrame:
    """Return one row per dataset, code length and method: means over tasks, then over seeds."""
    return over_seeds(data.groupby(KEYS, sort=False)[SCORES].mean().reset_index(), SCORES)


def _scores(
    results: Results, stored: Stored, task: str, measure: str
) -> dict[str, float | int] | None:
    """Return the scores of one task; None unless both parts of the database have scores."""
    counted = parse(measure)
    if counted["empty"] not in (None, "skip"):  # queries without relevant rows count 0
        counted = counted.with_(empty="skip")
    found = [
        per_query(results, stored, task, Searched(part, ENCODED), str(counted))
        for part in (SEEN, UNSEEN)
    ]
    seen, unseen = found
    if seen is None or unseen is None:
        return None
    both = ~(np.isnan(seen) | np.isnan(unseen))
    if not both.any():
        return None
    means = {SEEN: float(seen[both].mean()), UNSEEN: float(unseen[both].mean())}
    counts = {"queries": int(both.sum()), "left_out": int((~both).sum())}
    return {**means, "gap": means[SEEN] - means[UNSEEN], **counts}


def _queries(group: pd.DataFrame) -> str:
    """Return which queries count, and how many do not."""
    out, every = int(group["left_out"].max()), int((group["queries"] + group["left_out"]).max())
    words = "the queries that have relevant rows in both parts"
    return f"{words} (up to {out} of {every} have not)" if out else words


def _table(means: pd.DataFrame, group: pd.DataFrame, style: Style, dataset: str) -> Table:
    """Return the table of a dataset, the best on unseen rows first."""
    measure, bits = str(means["measure"].iloc[0]), int(means["bits"].iloc[0])
    means = means.sort_values(UNSEEN, ascending=False, kind="stable").set_index("method")
    seeds = int(means["seeds"].max())
    complete = means[means["seeds"] == seeds]  # a mean over fewer seeds is another quantity
    before, after = to_ranks(complete[SEEN]), to_ranks(complete[UNSEEN])
    rows = []
    for method in means.index:
        mean = means.loc[method]
        spread = "–" if mean["seeds"] == 1 else f"{mean['gap_std']:.3f}"
        ranks = ["–", "–"]
        if method in complete.index:
            own = before[method], after[method]
            ranks = [str(own[0]), f"{own[1]} {change(*own)}"]
        mark = "" if method in complete.index else f"{mean['seeds']:.0f}/{seeds}"
        rows.append(
            [
                method_cell(style, method),
                TableCell(f"{mean[SEEN]:.3f}", mark=mark),
                TableCell(f"{mean[UNSEEN]:.3f}", mark=mark),
                *map(TableCell, [f"{mean['gap']:+.3f}", spread, *ranks]),
            ]
        )
    subject = (
        f"{style.datasets[dataset].title} at {bits} bits: seen rows were training rows, unseen "
        "ones were not, both have encoded codes; gap: seen minus unseen; mean of the tasks over "
        f"{_queries(group)}; arrows: ranks gained and lost on unseen rows"
    )
    caption = style.summary(subject, measure=measure, seeds=list(means["seeds"]))
    agreement = tau_words(list(complete[SEEN]), list(complete[UNSEEN]))
    notes = [f"mean gap {complete['gap'].mean():+.4f}; {agreement}"]
    notes += style.marks(means.index)
    header = [[(name, 1) for name in HEADER]]
    name = f"{measure} {bits} bits {dataset}"
    return Table(name, caption, header, [Group("", rows)], "lrrrrrr", notes, slices(group))
