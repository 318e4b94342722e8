"""Each method under each preprocessing of the data, and what that does to the ranking."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hashbench.analysis.rank_changes import change, tau_words, to_ranks
from hashbench.analysis.summary import grouped, one_database
from hashbench.data.splits import SEARCHED
from hashbench.plugins.selection import Selection, bare_name, parse_item
from hashbench.render.report import (
    Exhibit,
    Group,
    NothingToShowError,
    Report,
    Table,
    TableCell,
    method_cell,
)
from hashbench.render.style import Style

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.analysis.results import Results
    from hashbench.execution.cell import Cell


class Preprocessing(Report):
    """Each method under each preprocessing that a dataset comes with, and its change of rank."""

    name = "preprocessing"
    title = "Preprocessing"
    section = "Scores in detail"

    def data(self, results: Results) -> pd.DataFrame:
        """Return the mean of tasks and seeds for every method under every preprocessing.

        ``family`` is the dataset with everything but its preprocessing. Tuned methods are left
        out: they have chosen their own.
        """
        scores = one_database(results.scores([results.main_measure]))
        cells = {(cell.dataset, cell.label): cell for cell in results.plan.cells if not cell.tuned}
        known = [pair in cells for pair in zip(scores["dataset"], scores["method"], strict=True)]
        table = scores[np.array(known, bool)].copy()  # of no scores at all none
        datasets = {cell.dataset: cell for cell in cells.values()}  # as the study names them
        table["family"] = table["dataset"].map({name: _family(name) for name in datasets})
        steps = {name: _steps(cell) for name, cell in datasets.items()}
        table["preprocessing"] = table["dataset"].map(steps)
        several = table.groupby("family")["preprocessing"].transform("nunique") > 1
        table = table[several]
        if table.empty:
            raise NothingToShowError(
                "no dataset comes with two preprocessings, as in [preprocess=none|l2]"
            )
        order = {name: index for index, name in enumerate(datasets)}
        table = table.sort_values("dataset", key=lambda names: names.map(order), kind="stable")
        keys = ["family", "dataset", "preprocessing", "bits", "method", "measure", *SEARCHED]
        groups = table.groupby(keys, sort=False, observed=True)
        found = groups.agg(mean=("value", "mean"), seeds=("seed", "nunique")).reset_index()
        # One name for one thing: a preprocessing named twice is shown once.
        return found.drop_duplicates(["family", "preprocessing", "bits", "method"])

    def draw(self, data: pd.DataFrame, style: Style) -> Sequence[Exhibit]:
        """Return a table a dataset and code length."""
        return [
            _table(group, style, *keys)
            for keys, group in grouped(data, "measure", "family", "bits")
        ]


def _family(dataset: str) -> str:
    name, (settings, *_) = parse_item(dataset)
    kept = tuple((key, value) for key, value in settings.items() if key != "preprocess")
    return str(Selection(name, kept))


def _steps(cell: Cell) -> str:
    """Return the preprocessing of a dataset, once if it is that of every view."""
    return " / ".join(dict.fromkeys(cell.preprocessing) if _alike(cell) else cell.preprocessing)


def _alike(cell: Cell) -> bool:
    return len(set(cell.preprocessing)) == 1


def _table(group: pd.DataFrame, style: Style, measure: str, family: str, bits: int) -> Table:
    choices = list(dict.fromkeys(group["preprocessing"]))
    scores = group.pivot(index="method", columns="preprocessing", values="mean")[choices]
    complete = scores.dropna()  # ranks compare only among methods that have every choice
    ranks = complete.apply(to_ranks)
    order = [*complete.sort_values(choices[0], ascending=False).index]
    order += [method for method in style.ordered(scores.index) if method not in order]
    rows = []
    for method in order:
        row = [method_cell(style, method)]
        best = scores.loc[method].max()
        for choice in choices:
            score = scores.loc[method, choice]
            row.append(TableCell("–" if math.isnan(score) else f"{score:.3f}", bold=score == best))
            if method not in ranks.index:
                row.append(TableCell("–"))
                continue
            own, first = ranks.loc[method, choice], ranks.loc[method, choices[0]]
            moved = "" if choice == choices[0] else f" {change(first, own)}"
            row.append(TableCell(f"{own}{moved}"))
        rows.append(row)
    title = _title(group, style, family)
    subject = (
        f"Methods under each preprocessing of {title} at {bits} bits, mean of the tasks; "
        f"arrows: ranks gained and lost against {choices[0]}"
    )
    seeds = list(group["seeds"])
    searched = dict(group[SEARCHED].iloc[0])
    caption = style.summary(subject, measure=measure, **searched, seeds=seeds)
    header = [
        [("", 1), *((choice, 2) for choice in choices)],
        [("method", 1), *(pair for _ in choices for pair in (("score", 1), ("rank", 1)))],
    ]
    notes = [_note(complete, choices[0], choice) for choice in choices[1:]]
    notes += style.marks(group["method"])
    columns = "l" + "rr" * len(choices)
    return Table(f"{family} {bits}", caption, header, [Group("", rows)], columns, notes)


def _title(group: pd.DataFrame, style: Style, family: str) -> str:
    """Return the dataset's title with everything that was set but its preprocessing."""
    title = style.datasets[group["dataset"].iloc[0]].title.partition(" [")[0]
    return f"{title} {family.removeprefix(bare_name(family))}".rstrip()


def _note(complete: pd.DataFrame, first: str, other: str) -> str:
    gain = (complete[other] - complete[first]).mean()
    agree = tau_words(list(complete[first]), list(complete[other]))
    return f"{other} against {first}: mean change {gain:+.4f}; {agree}"
