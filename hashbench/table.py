"""The table at the end of a run, in at most 80 columns: a row a method, a column a code length."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

import click
import numpy as np

WIDTH = 80
NUMBER = 9  # columns that one number takes
NAME = 30  # columns that the name of a method may take

Row = dict[str, Any]
Column = tuple[str, int]  # task, bits


def tables(rows: Sequence[Row], measure: str) -> str:
    """Return a table a dataset and kind of database codes: means over seeds, best in bold."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["measure"] == measure:
            groups.setdefault((row["dataset"], row["database"]), []).append(row)
    return "\n\n".join(
        "\n".join(_table(group, f"{measure} on {dataset}, database codes {database}"))
        for (dataset, database), group in groups.items()
    )


def _table(rows: Sequence[Row], title: str) -> Iterator[str]:
    values: dict[str, dict[Column, list[float]]] = {}
    for row in rows:
        label = f"{row['method']}[{row['params']}]" if row["params"] else row["method"]
        column = (row["task"], row["bits"])
        values.setdefault(label, {}).setdefault(column, []).append(row["value"])
    means = {
        label: {column: float(np.mean(found)) for column, found in columns.items()}
        for label, columns in values.items()
    }
    seeds = len({row["seed"] for row in rows})
    title += f", mean over {seeds} seeds" if seeds > 1 else ""
    yield from textwrap.wrap(title, WIDTH, break_on_hyphens=False)
    first = min(max(len(name) for name in (*means, "method")), NAME)
    bits = sorted({row["bits"] for row in rows})
    # Tasks stand side by side where they fit; code lengths that do not fit go below.
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    room = WIDTH - first
    span = max(NUMBER * len(bits), max(len(task) for task in tasks) + 2)
    beside = max(1, room // span)
    each = max(1, room // NUMBER)
    for start in range(0, len(tasks), beside):
        for begin in range(0, len(bits), each):
            chosen = bits[begin : begin + each]
            yield from _block(means, tasks[start : start + beside], chosen, first)


def _block(
    means: dict[str, dict[Column, float]], tasks: Sequence[str], bits: Sequence[int], first: int
) -> Iterator[str]:
    width = max(NUMBER, *(-(-(len(task) + 2) // len(bits)) for task in tasks))
    columns = [(task, each) for task in tasks for each in bits]
    best = {
        column: max(values.get(column, -np.inf) for values in means.values()) for column in columns
    }
    yield " " * first + "".join(f"{task:>{width * len(bits)}}" for task in tasks)
    yield f"{'method':{first}}" + "".join(f"{f'{each} bits':>{width}}" for _, each in columns)
    for label, values in means.items():
        line = f"{label if len(label) <= first else label[: first - 1] + '…':{first}}"
        for column in columns:
            value = values.get(column)
            text = f"{'-' if value is None else f'{value:.4f}':>{width}}"
            line += click.style(text, bold=True) if value == best[column] else text
        yield line
