"""Tables for a terminal: listings, and the scores of a study, as wide as the terminal.

Texts contain codes for bold letters; `click.echo` removes them where they mean nothing.
"""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

from hashbench.analysis.chance import MARK, MEANING, at_chance
from hashbench.analysis.summary import MeanRank, mean_ranks
from hashbench.data.splits import Searched
from hashbench.plugins.selection import bare_name, full_name
from hashbench.render.daggers import NOT_HAMMING, RECONSTRUCTION, dagger_notes, vector_notes
from hashbench.render.report import Group, Table, TableCell
from hashbench.render.tables import to_text

NARROWEST, USUAL, WIDEST = 40, 80, 120  # columns

DIGITS = 3  # of scores, behind the point

#: Number of methods in a table where none were selected by name.
TOP = 10

Row = Mapping[str, Any]
Column = tuple[str, int]  # task, bits


@dataclass(frozen=True)
class TableScore:
    """What a table shows for a method: a mean, or the status of a cell that has none."""

    text: str
    value: float | None = None
    complete: bool = True
    seeds: int = 0

    @property
    def printed(self) -> float | None:
        """The value as it is printed, so that what looks equal is equal."""
        return None if self.value is None else round(self.value, DIGITS)


Scores = dict[str, dict[Column, TableScore]]


def width() -> int:
    """Return the width of the terminal in columns, or 80."""
    return max(NARROWEST, min(shutil.get_terminal_size((USUAL, 24)).columns, WIDEST))


def listing(header: Sequence[str], rows: Sequence[Sequence[str]], wrapped: int = 1) -> str:
    """Return rows below a header; the last columns are wrapped at the width of the terminal."""
    columns = "l" * (len(header) - wrapped) + "w" * wrapped
    names = [[(name, 1) for name in header]] if any(header) else []
    cells = [[TableCell(text) for text in row] for row in rows]
    return to_text(Table("", "", names, [Group("", cells)], columns), width())


def facts(rows: Sequence[Sequence[str]]) -> str:
    """Return rows without a header; the last column is wrapped."""
    return listing([""] * len(rows[0]), rows)


@dataclass(frozen=True)
class Order:
    """The methods and datasets in a table of scores, and their order.

    Attributes
    ----------
    datasets, methods : in the order of the study
    named : methods that were selected by name; if all were, they keep their order and all are
        shown. Otherwise the best come first, and only ten besides the named ones
    where : where the other methods are found
    reconstructions : methods whose sources leave much open, with what was inferred
    highlighted : methods whose rows are shaded
    """

    datasets: Sequence[str] = ()
    methods: Sequence[str] = ()
    named: Collection[str] = ()
    where: str = "results.csv"
    reconstructions: Mapping[str, str] = field(default_factory=dict)
    highlighted: Collection[str] = ()

    def select(self, scores: Scores) -> list[str]:
        """Return the methods of a table."""
        if all(self._is_named(method) for method in scores):
            return _in_order(scores, self.methods)
        best = best_first(scores)
        selected = {*best[:TOP], *filter(self._is_named, best)}
        return [method for method in best if method in selected]

    def _is_named(self, method: str) -> bool:
        return method in self.named or bare_name(method) in self.named


def score_tables(
    results: Sequence[Row], runs: Sequence[Row], measure: str, order: Order | None = None
) -> str:
    """Return one table per dataset, database and kind of codes: means over seeds, best in bold.

    Parameters
    ----------
    results, runs : rows of results.csv and runs.csv
    measure : the one that is shown
    order : methods and datasets that are shown
    """
    order = order or Order()
    cells = ((_label(row), row.get("hamming"), row.get("item_bytes")) for row in runs)
    daggers = {method: {NOT_HAMMING: note} for method, note in vector_notes(cells).items()}
    for method in {_label(row) for row in results}:
        if note := order.reconstructions.get(bare_name(method)):
            daggers[method] = {RECONSTRUCTION: note, **daggers.get(method, {})}
    groups: dict[str, dict[Searched, list[Row]]] = {}
    for row in results:
        if row["measure"] == measure:
            searched = Searched(row["database"], row["codes"])
            groups.setdefault(row["dataset"], {}).setdefault(searched, []).append(row)
    parts = []
    for dataset in _in_order((row["dataset"] for row in (*results, *runs)), order.datasets):
        own = [row for row in runs if row["dataset"] == dataset]
        for number, (searched, shown) in enumerate(groups.get(dataset, {}).items()):
            # a failed cell has no scores that tell what else would be searched
            others = [] if number else own
            table = _score_table(
                shown, others, f"{measure} on {dataset}, {searched}", order, daggers
            )
            parts.append(to_text(table, width()))
        if dataset not in groups:
            done = any(row["status"] == "done" for row in own)
            why = "no method has this number" if done else "no cell is done"
            parts.append(f"{measure} on {dataset}: {why}")
    return "\n\n".join(parts)


def winners(
    results: Sequence[Row], runs: Sequence[Row], measure: str, order: Order | None = None
) -> str:
    """Return one line per dataset, and one for all: the method with the best mean rank over slices.

    Slices are those of each dataset's first table. Methods without binary codes are ranked, but
    not named. Nothing where there is one method.
    """
    lines: list[str] = []
    everywhere: dict[str, dict[Any, TableScore]] = {}
    vectors = {_label(row) for row in runs if row.get("hamming") is False}
    datasets = _in_order((row["dataset"] for row in results), (order or Order()).datasets)
    for dataset in datasets:
        own = [row for row in results if row["dataset"] == dataset and row["measure"] == measure]
        if not own:
            continue
        searched = Searched(own[0]["database"], own[0]["codes"])
        shown = [row for row in own if (row["database"], row["codes"]) == searched]
        scores = _scores(shown, [row for row in runs if row["dataset"] == dataset], ())
        for method, columns in scores.items():
            of_dataset = {(dataset, *column): score for column, score in columns.items()}
            everywhere.setdefault(method, {}).update(of_dataset)
        lines.append(_winner(scores, vectors, f"{dataset}, {searched}", measure))
    if len(lines) > 1:
        lines.append(_winner(everywhere, vectors, "all datasets", measure))
    return "\n".join(textwrap.fill(line, width(), subsequent_indent="  ") for line in lines if line)


def _winner(
    scores: Mapping[str, Mapping[Any, TableScore]],
    vectors: Collection[str],
    where: str,
    measure: str,
) -> str:
    ranks = _mean_ranks(scores)
    named = [method for method in ranks if method not in vectors]
    if len(named) < 2:
        return ""
    slices = len({column for columns in scores.values() for column in columns})
    over = f"{slices} slices" if slices > 1 else "1 slice"
    first, second = (
        f"{method} {ranks[method].rank:.1f} (mean {measure} {ranks[method].score:.{DIGITS}f})"
        for method in named[:2]
    )
    return f"best mean rank over {over} of {where}: {first}, then {second}"


def _mean_ranks(scores: Mapping[str, Mapping[Any, TableScore]]) -> dict[str, MeanRank]:
    """Return methods from best to worst; those without a complete score everywhere are left out."""
    columns = dict.fromkeys(column for own in scores.values() for column in own)
    slices = [
        {
            method: own[column].value or 0.0
            for method, own in scores.items()
            if column in own and own[column].value is not None and own[column].complete
        }
        for column in columns
    ]
    return mean_ranks(slices)


def best_first(scores: Scores) -> list[str]:
    """Return methods by mean rank; then those without every score, by how many they have."""
    ranks = _mean_ranks(scores)
    others = [method for method in scores if method not in ranks]
    return [*ranks, *sorted(others, key=lambda method: (*_merit(scores[method]), method))]


def _score_table(
    rows: Sequence[Row],
    runs: Sequence[Row],
    title: str,
    order: Order,
    daggers: Mapping[str, Mapping[str, str]],
) -> Table:
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    scores = _scores(rows, runs, tasks)
    seeds = len({row["seed"] for row in rows})
    title += f", mean over {seeds} seeds" if seeds > 1 else ""
    best, methods = _best(scores), order.select(scores)
    bits = sorted({row["bits"] for row in (*rows, *runs)})
    columns = [(task, each) for task in tasks for each in bits]
    lines = [
        [
            TableCell(
                method,
                mark="".join(daggers.get(method, "")),
                shaded=method in order.highlighted,
            ),
            *(_score_cell(scores[method].get(c), best.get(c)) for c in columns),
        ]
        for method in methods
    ]
    header = [
        [("", 1), *((task, len(bits)) for task in tasks)],
        [("method", 1), *((f"{each} bits", 1) for _, each in columns)],
    ]
    notes = list(_notes([each for method in methods for each in scores[method].values()]))
    notes += dagger_notes((method, daggers.get(method, {})) for method in methods)
    if len(methods) < len(scores):
        others = len(scores) - len(methods)
        notes.append(f"{others} methods more; full table in {order.where}")
    return Table("", title, header, [Group("", lines)], "l" + "r" * len(columns), notes)


def _notes(scores: Sequence[TableScore]) -> Iterator[str]:
    """Yield what the marks behind scores mean."""
    if not all(score.complete for score in scores):
        yield "* mean over fewer seeds: some cells are not done"
    if any(MARK in score.text for score in scores):
        yield f"{MEANING} (page: why)"


def _score_cell(score: TableScore | None, best: float | None) -> TableCell:
    if score is None:
        return TableCell("-")
    bold = score.printed is not None and score.printed == best
    return TableCell(score.text, bold, mark="" if score.complete else "*")


def _scores(rows: Sequence[Row], runs: Sequence[Row], tasks: Sequence[str]) -> Scores:
    """Return the scores of a table by method and column."""
    values: dict[str, dict[Column, list[Row]]] = {}
    for row in rows:
        column = (row["task"], row["bits"])
        values.setdefault(_label(row), {}).setdefault(column, []).append(row)
    scores = {
        label: {column: _mean_score(found) for column, found in columns.items()}
        for label, columns in values.items()
    }
    for row in runs:
        own = scores.setdefault(_label(row), {})  # empty if the measure is not for vectors
        for task in tasks if row["status"] != "done" else ():
            column = (task, row["bits"])
            known = own.get(column, TableScore(row["status"]))
            own[column] = replace(known, complete=known.value is None)
    return scores


def _mean_score(rows: Sequence[Row]) -> TableScore:
    mean = fmean(row["value"] for row in rows)
    low = all("chance" in row for row in rows) and at_chance(rows)
    text = f"{mean:.{DIGITS}f}{MARK if low else ''}"
    return TableScore(text, None if mean != mean else mean, seeds=len(rows))


def _merit(columns: Mapping[Column, TableScore]) -> tuple[int, float]:
    """Return a key that is small for good methods: many numbers, a high mean."""
    values = [score.value for score in columns.values() if score.value is not None]
    return -len(values), -fmean(values or [0.0])


def _best(scores: Scores) -> dict[Column, float]:
    """Return the largest mean of each column, as it is printed."""
    best: dict[Column, float] = {}
    for columns in scores.values():
        for column, score in columns.items():
            if score.printed is not None and score.complete:
                best[column] = max(best.get(column, score.printed), score.printed)
    return best


def _in_order(names: Iterable[str], order: Sequence[str]) -> list[str]:
    """Return distinct names, first those of `order` in this order."""
    found = dict.fromkeys(names)
    return list(dict.fromkeys((*(name for name in order if name in found), *found)))


def _label(row: Row) -> str:
    return full_name(row["method"], row["params"])
