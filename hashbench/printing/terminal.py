"""The table at the end of a run, in at most 80 columns: a row a method, a column a code length.

Cells that failed stand where their number would, and a dash where there is none to be had, because
a gap looks like an oversight.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click
import numpy as np

WIDTH = 80
NUMBER = 9  # columns that one number takes
NAME = 30  # columns that the name of a method may always take

Row = Mapping[str, Any]
Column = tuple[str, int]  # task, bits


def tables(results: Sequence[Row], runs: Sequence[Row], measure: str) -> str:
    """Return a table a dataset and kind of database codes: means over seeds, best in bold.

    Parameters
    ----------
    results, runs : rows of results.csv and runs.csv
    measure : the one that is shown
    """
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in results:
        if row["measure"] == measure:
            groups.setdefault((row["dataset"], row["database"]), []).append(row)
    parts = []
    for (dataset, database), group in groups.items():
        # Which methods would have had learned codes, only their scores can tell.
        own = [row for row in runs if row["dataset"] == dataset and database == "encoded"]
        title = f"{measure} on {dataset}, database codes {database}"
        parts.append("\n".join(_table(group, own, title)))
    for dataset in dict.fromkeys(row["dataset"] for row in runs):
        if not any(dataset == known for known, _ in groups):
            done = any(row["dataset"] == dataset and row["status"] == "done" for row in runs)
            why = "no method has this number" if done else "no cell is done"
            parts.append(f"{measure} on {dataset}: {why}")
    return "\n\n".join(parts)


def _table(rows: Sequence[Row], runs: Sequence[Row], title: str) -> Iterator[str]:
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    values: dict[str, dict[Column, list[float]]] = {}
    for row in rows:
        column = (row["task"], row["bits"])
        values.setdefault(_label(row), {}).setdefault(column, []).append(row["value"])
    texts = {
        label: {column: f"{np.mean(found):.4f}" for column, found in columns.items()}
        for label, columns in values.items()
    }
    best = _best(texts)
    for row in runs:
        texts.setdefault(_label(row), {})  # without a number if the measure is not for vectors
        for task in tasks if row["status"] != "done" else ():
            column = (task, row["bits"])
            shown = texts[_label(row)].get(column)
            if shown is None:
                texts[_label(row)][column] = row["status"]
            elif not shown.endswith("*") and shown[0].isdigit():
                texts[_label(row)][column] = shown + "*"
    texts = dict(sorted(texts.items()))
    seeds = len({row["seed"] for row in rows})
    title += f", mean over {seeds} seeds" if seeds > 1 else ""
    yield from textwrap.wrap(title, WIDTH, break_on_hyphens=False)
    bits = sorted({row["bits"] for row in (*rows, *runs)})
    span = max(NUMBER * len(bits), max(len(task) for task in tasks) + 2)
    # Names are cut where numbers need the room, and only there: two cut ones may look the same.
    spare = max(NAME, WIDTH - span * len(tasks))
    first = min(max(len(name) for name in (*texts, "method")), spare)
    # Tasks stand side by side where they fit; code lengths that do not fit go below.
    room = WIDTH - first
    beside = max(1, room // span)
    each = max(1, room // NUMBER)
    for start in range(0, len(tasks), beside):
        for begin in range(0, len(bits), each):
            chosen = bits[begin : begin + each]
            yield from _block(texts, best, tasks[start : start + beside], chosen, first)
    if any(text.endswith("*") for columns in texts.values() for text in columns.values()):
        yield "* mean over fewer seeds: some cells are not done"


def _best(texts: Mapping[str, Mapping[Column, str]]) -> dict[Column, str]:
    """Return the largest number of each column as it is printed: what looks equal is equal."""
    best: dict[Column, str] = {}
    for columns in texts.values():
        for column, text in columns.items():
            if text != "nan":
                best[column] = max(best.get(column, text), text, key=float)
    return best


def _block(
    texts: Mapping[str, Mapping[Column, str]],
    best: Mapping[Column, str],
    tasks: Sequence[str],
    bits: Sequence[int],
    first: int,
) -> Iterator[str]:
    width = max(NUMBER, *(-(-(len(task) + 2) // len(bits)) for task in tasks))
    columns = [(task, each) for task in tasks for each in bits]
    yield " " * first + "".join(f"{task:>{width * len(bits)}}" for task in tasks)
    yield f"{'method':{first}}" + "".join(f"{f'{each} bits':>{width}}" for _, each in columns)
    for label, values in texts.items():
        line = f"{label if len(label) <= first else label[: first - 1] + '…':{first}}"
        for column in columns:
            text = values.get(column, "-")
            bold = text.rstrip("*") == best.get(column)
            line += click.style(f"{text:>{width}}", bold=True) if bold else f"{text:>{width}}"
        yield line


def _label(row: Row) -> str:
    return f"{row['method']}[{row['params']}]" if row["params"] else str(row["method"])
