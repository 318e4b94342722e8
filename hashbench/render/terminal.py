"""Tables on a terminal, as wide as it is and in 80 columns where nobody looks: scores, listings.

Cells that failed stand where their number would, and a dash where there is none to be had, because
a gap looks like an oversight. What is returned has bold letters in it; `click.echo` takes them
away where they mean nothing.
"""

from __future__ import annotations

import shutil
import statistics
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any

from hashbench.analysis.chance import MARK, MEANING, at_chance
from hashbench.plugins.selection import bare_name

if TYPE_CHECKING:
    from rich.table import Table

NARROWEST, USUAL, WIDEST = 40, 80, 120  # columns
NUMBER = 9  # columns that one number takes
NAME = 30  # columns that the name of a method may always take

#: Methods that a table shows where nobody has named them.
TOP = 10

Row = Mapping[str, Any]
Column = tuple[str, int]  # task, bits


def width() -> int:
    """Return the columns that there are: the terminal's, or 80."""
    return max(NARROWEST, min(shutil.get_terminal_size((USUAL, 24)).columns, WIDEST))


def listing(header: Sequence[str], rows: Sequence[Sequence[str]], wrapped: int = 1) -> str:
    """Return rows below a header; the last columns are wrapped at the width of the terminal."""
    table = _plain_table()
    for number, name in enumerate(header):
        last = number >= len(header) - wrapped
        table.add_column(name, no_wrap=not last, overflow="fold", min_width=12 if last else None)
    for row in rows:
        table.add_row(*row)
    return _drawn(table, width())


def facts(rows: Sequence[Sequence[str]]) -> str:
    """Return texts, each wrapped beside its name if it has one."""
    table = _plain_table(show_header=False)
    for number in range(len(rows[0])):
        last = number == len(rows[0]) - 1
        table.add_column(no_wrap=not last, overflow="fold")
    for row in rows:
        table.add_row(*row)
    return _drawn(table, width())


@dataclass(frozen=True)
class Order:
    """In which order scores are shown, and which of them.

    Attributes
    ----------
    datasets, methods : as asked for
    named : methods asked for by name; if all are, they keep their order and all are shown.
        Otherwise the best come first, and only ten besides the named ones
    where : where a reader finds the others
    """

    datasets: Sequence[str] = ()
    methods: Sequence[str] = ()
    named: Collection[str] = ()
    where: str = "results.csv"

    def shown(self, texts: Mapping[str, Mapping[Column, str]]) -> list[str]:
        """Return the methods of a table."""
        if all(self._is_named(method) for method in texts):
            return _as_asked(texts, self.methods)
        best = sorted(texts, key=lambda method: (*_merit(texts[method]), method))
        kept = {*best[:TOP], *filter(self._is_named, best)}
        return [method for method in best if method in kept]

    def _is_named(self, method: str) -> bool:
        return method in self.named or bare_name(method) in self.named


def tables(
    results: Sequence[Row], runs: Sequence[Row], measure: str, order: Order | None = None
) -> str:
    """Return a table a dataset and kind of database codes: means over seeds, best in bold.

    Parameters
    ----------
    results, runs : rows of results.csv and runs.csv
    measure : the one that is shown
    order : which methods and datasets are shown, and in which order
    """
    order = order or Order()
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in results:
        if row["measure"] == measure:
            groups.setdefault((row["dataset"], row["database"]), []).append(row)
    parts = []
    for dataset in _as_asked((row["dataset"] for row in (*results, *runs)), order.datasets):
        own = [row for row in runs if row["dataset"] == dataset]
        for database in ("encoded", "learned"):
            if (dataset, database) in groups:
                title = f"{measure} on {dataset}, database codes {database}"
                # Which methods would have had learned codes, only their scores can tell.
                others = own if database == "encoded" else []
                table = _scores(groups[dataset, database], others, title, order)
                parts.append("\n".join(table))
        if not any(dataset == known for known, _ in groups):
            done = any(row["status"] == "done" for row in own)
            why = "no method has this number" if done else "no cell is done"
            parts.append(f"{measure} on {dataset}: {why}")
    return "\n\n".join(parts)


def _scores(rows: Sequence[Row], runs: Sequence[Row], title: str, order: Order) -> Iterator[str]:
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    texts = _texts(rows, runs, tasks)
    seeds = len({row["seed"] for row in rows})
    title += f", mean over {seeds} seeds" if seeds > 1 else ""
    yield from textwrap.wrap(title, width(), break_on_hyphens=False)
    best, methods = _best(texts), order.shown(texts)
    bits = sorted({row["bits"] for row in (*rows, *runs)})
    for blocks in _lines(tasks, bits, methods):
        yield _side_by_side(methods, texts, best, blocks)
    if any(text.endswith("*") for method in methods for text in texts[method].values()):
        yield "* mean over fewer seeds: some cells are not done"
    if any(MARK in text for method in methods for text in texts[method].values()):
        yield f"{MEANING} (page: why)"
    if len(methods) < len(texts):
        yield f"{len(texts) - len(methods)} methods more; full table in {order.where}"


def _texts(
    rows: Sequence[Row], runs: Sequence[Row], tasks: Sequence[str]
) -> dict[str, dict[Column, str]]:
    """Return what stands in the table, by method and column."""
    values: dict[str, dict[Column, list[Row]]] = {}
    for row in rows:
        column = (row["task"], row["bits"])
        values.setdefault(_label(row), {}).setdefault(column, []).append(row)
    texts = {
        label: {column: _mean_text(found) for column, found in columns.items()}
        for label, columns in values.items()
    }
    for row in runs:
        texts.setdefault(_label(row), {})  # without a number if the measure is not for vectors
        for task in tasks if row["status"] != "done" else ():
            column = (task, row["bits"])
            shown = texts[_label(row)].get(column)
            if shown is None:
                texts[_label(row)][column] = row["status"]
            elif not shown.endswith("*") and shown[0].isdigit():
                texts[_label(row)][column] = shown + "*"
    return texts


def _mean_text(rows: Sequence[Row]) -> str:
    mean = statistics.fmean(row["value"] for row in rows)
    known = all("chance" in row for row in rows)
    return f"{mean:.4f}" + (MARK if known and at_chance(rows) else "")


def _number(text: str) -> float | None:
    try:
        number = float(text.rstrip(f"*{MARK}"))
    except ValueError:  # a status
        return None
    return None if number != number else number


def _merit(columns: Mapping[Column, str]) -> tuple[int, float]:
    """Return what is small for good methods: numbers that are not there, then minus the mean."""
    numbers = [number for text in columns.values() if (number := _number(text)) is not None]
    return -len(numbers), -statistics.fmean(numbers or [0.0])


def _best(texts: Mapping[str, Mapping[Column, str]]) -> dict[Column, float]:
    """Return the largest number of each column as it is printed: what looks equal is equal."""
    best: dict[Column, float] = {}
    for columns in texts.values():
        for column, text in columns.items():
            number = _number(text)
            if number is not None and not text.endswith("*"):
                best[column] = max(best.get(column, number), number)
    return best


def _lines(
    tasks: Sequence[str], bits: Sequence[int], methods: Sequence[str]
) -> Iterator[list[tuple[str, list[int]]]]:
    """Yield tasks with code lengths as they stand side by side; what does not fit goes below."""
    span = max(NUMBER * len(bits), max(map(len, tasks)) + 2)
    # Names are cut where numbers need the room, and only there: two cut ones may look the same.
    names = max(NAME, width() - span * len(tasks))
    room = width() - min(max(map(len, (*methods, "method"))), names)
    side_by_side, each = max(1, room // span), max(1, room // NUMBER)
    for start in range(0, len(tasks), side_by_side):
        for begin in range(0, len(bits), each):
            chosen = list(bits[begin : begin + each])
            yield [(task, chosen) for task in tasks[start : start + side_by_side]]


def _side_by_side(
    methods: Sequence[str],
    texts: Mapping[str, Mapping[Column, str]],
    best: Mapping[Column, float],
    blocks: Sequence[tuple[str, list[int]]],
) -> str:
    """Return the methods' names and, beside them, a table a task with the task above it."""
    from rich.table import Table
    from rich.text import Text

    # a title wider than its table would be folded
    wide = {task: max(NUMBER, -(-(len(task) + 2) // len(bits))) for task, bits in blocks}
    room = width() - sum(wide[task] * len(bits) for task, bits in blocks)
    names = _plain_table(title=" ", padding=0)
    names.add_column("method", no_wrap=True, overflow="ellipsis", max_width=room)
    for method in methods:
        names.add_row(method)
    parts = [names]
    for task, bits in blocks:
        part = _plain_table(title=task, title_justify="right", padding=0)
        for each in bits:
            part.add_column(f"{each} bits", justify="right", width=wide[task], no_wrap=True)
        for method in methods:
            found = [
                (texts[method].get((task, each), "-"), best.get((task, each))) for each in bits
            ]
            part.add_row(
                *(
                    Text(text, "bold" if _number(text) == top is not None else "")
                    for text, top in found
                )
            )
        parts.append(part)
    whole = Table.grid()
    whole.add_row(*parts)
    return _drawn(whole, width())


def _plain_table(**options: Any) -> Table:
    from rich.table import Table

    shape: dict[str, Any] = {"padding": (0, 2, 0, 0), "title_style": "", "header_style": ""}
    return Table(box=None, pad_edge=False, show_edge=False, **{**shape, **options})


def _drawn(table: Table, columns: int) -> str:
    """Return a table as text, bold where it is, without blanks at the ends of its lines."""
    from rich.console import Console

    console = Console(
        file=StringIO(), width=columns, force_terminal=True, color_system="standard",
        legacy_windows=False, markup=False, emoji=False, highlight=False,
    )  # fmt: skip
    with console.capture() as captured:
        console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def _as_asked(names: Iterable[str], asked: Sequence[str]) -> list[str]:
    """Return names once each, those that were asked for first and in that order."""
    found = dict.fromkeys(names)
    return list(dict.fromkeys((*(name for name in asked if name in found), *found)))


def _label(row: Row) -> str:
    return f"{row['method']}[{row['params']}]" if row["params"] else str(row["method"])
