"""The table at the end of a run, in at most 80 columns: a row a method, a column a code length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
import numpy as np

WIDTH = 80

Row = dict[str, Any]


def tables(rows: Sequence[Row], measure: str) -> str:
    """Return a table a dataset and kind of database codes, means over seeds, best in bold."""
    chosen = [row for row in rows if row["measure"] == measure]
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in chosen:
        groups.setdefault((row["dataset"], row["database"]), []).append(row)
    return "\n\n".join(
        _table(group, f"{measure} on {dataset}, database codes: {database}")
        for (dataset, database), group in groups.items()
    )


def _table(rows: Sequence[Row], title: str) -> str:
    methods = list(dict.fromkeys(_label(row) for row in rows))
    columns = list(dict.fromkeys((row["task"], row["bits"]) for row in rows))
    columns.sort(key=lambda column: ([row["task"] for row in rows].index(column[0]), column[1]))
    values: dict[tuple[str, str, int], list[float]] = {}
    for row in rows:
        values.setdefault((_label(row), row["task"], row["bits"]), []).append(row["value"])
    means = {key: float(np.mean(found)) for key, found in values.items()}
    seeds = len({row["seed"] for row in rows})
    first = min(max(len(name) for name in (*methods, "method")), 30)
    lines = [title + (f" (mean over {seeds} seeds)" if seeds > 1 else "")]
    per_block = max(1, (WIDTH - first) // 9)
    tasks = list(dict.fromkeys(task for task, _ in columns))
    blocks = (
        [columns]
        if len(columns) <= per_block
        else [[column for column in columns if column[0] == task] for task in tasks]
    )
    for block in blocks:
        for start in range(0, len(block), per_block):
            lines += _block(methods, block[start : start + per_block], means, first)
    return "\n".join(lines)


def _block(
    methods: Sequence[str],
    columns: Sequence[tuple[str, int]],
    means: dict[tuple[str, str, int], float],
    first: int,
) -> list[str]:
    best = {
        column: max((means.get((m, *column), -np.inf) for m in methods), default=-np.inf)
        for column in columns
    }
    tasks = list(dict.fromkeys(task for task, _ in columns))
    spans = [(task, sum(1 for each, _ in columns if each == task)) for task in tasks]
    header = "".join(f"{_fit(task, 9 * count - 2):>{9 * count}}" for task, count in spans)
    numbers = "".join(f"{f'{bits} bits':>9}" for _, bits in columns)
    lines = [f"{'':{first}}{header}", f"{'method':{first}}{numbers}"]
    for method in methods:
        cells = []
        for column in columns:
            value = means.get((method, *column))
            text = f"{'-' if value is None else f'{value:.4f}':>9}"
            cells.append(click.style(text, bold=True) if value == best[column] else text)
        lines.append(f"{_fit(method, first):{first}}{''.join(cells)}")
    return lines


def _label(row: Row) -> str:
    return f"{row['method']}[{row['params']}]" if row["params"] else str(row["method"])


def _fit(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(width - 1, 1)] + "…"
