"""The tables of a study as CSV: their columns, their rows and how values are written.

``results`` has one row per number: every measure of every done cell, for each task, each part of
the database (seen, unseen, all) and each kind of codes (encoded, learned). ``runs`` has one row per
cell, done or not, with what depends on the machine; ``trials`` one per
trial of a search. All can be derived again from the store at any time.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from hashbench.core.text import spreadsheet_text
from hashbench.execution.cell import Cell
from hashbench.execution.plan import Plan
from hashbench.execution.store import Store, Stored
from hashbench.plugins.selection import format_value

Row = dict[str, Any]

RESULT_COLUMNS = (
    "dataset", "method", "params", "bits", "seed", "task", "database", "codes", "measure",
    "value",
)  # fmt: skip
RUN_COLUMNS = (
    "dataset", "method", "params", "bits", "seed", "status", "reason", "fit_seconds",
    "encode_seconds", "search_seconds_per_query", "load_seconds", "wall_seconds",
    "peak_memory", "threads", "alone", "learned", "hamming", "item_bytes", "protocol",
    "preprocessing", "settings", "machine", "cpu",
    "hashbench", "git", "python", "numpy", "scipy", "id",
)  # fmt: skip

TRIAL_COLUMNS = (
    "dataset", "method", "params", "bits", "seed", "point", "settings", "preprocessing", "status",
    "measure", "score", "chosen",
)  # fmt: skip

#: Columns of times, by the phase's name in a cell's record.
PHASES = {
    "fit": "fit_seconds",
    "encode": "encode_seconds",
    "search_per_query": "search_seconds_per_query",
    "load": "load_seconds",
    "wall": "wall_seconds",
}


def run_rows(plan: Plan, stored: Mapping[str, Stored]) -> list[Row]:
    """Return the rows of runs.csv: every cell of the plan, run or not."""
    rows = [_run_row(cell, stored.get(cell.id)) for cell in plan.cells]
    rows += [{**asdict(each), "status": "failed"} for each in plan.missing]
    return sorted(rows, key=lambda row: [row[column] for column in RUN_COLUMNS[:5]])


def _run_row(cell: Cell, stored: Stored | None) -> Row:
    row: Row = {
        **dict(zip(RUN_COLUMNS, cell.key, strict=False)),
        "status": "missing",
        "protocol": str(cell.protocol),
        "preprocessing": ";".join(cell.preprocessing),
        "settings": settings_text(cell.parameters) if cell.tuned else "",
        "id": cell.id,
    }
    if stored is not None:
        record = stored.record
        row |= {column: record.seconds.get(phase) for phase, column in PHASES.items()}
        known = {**vars(record), **record.environment}
        row |= {column: known[column] for column in RUN_COLUMNS if column in known}
    return row


def settings_text(settings: Mapping[str, Any]) -> str:
    """Write parameters as a selection takes them."""
    return ",".join(f"{name}={format_value(value)}" for name, value in settings.items())


def trials(plan: Plan, store: Store) -> list[Row]:
    """Return the rows of trials.csv: every point that was tried and counts, with its score.

    Times are left out, so that the same study always gives the same bytes.
    """
    rows: list[Row] = []
    for search in plan.searches:
        records = store.trials.read(search.id)
        best = search.best_point(records)
        identity = dict(zip(TRIAL_COLUMNS, search.cell.key, strict=False))
        for index, (point, trial) in enumerate(zip(search.points, search.trials, strict=True)):
            record = records.get(trial.id)
            rows.append(
                {
                    **identity,
                    "point": index,
                    "settings": settings_text(point.settings),
                    "preprocessing": ";".join(point.preprocessing),
                    "status": "missing" if record is None else record.status,
                    "measure": search.measure,
                    "score": np.nan if record is None else record.score,
                    "chosen": "yes" if index == best else "no",
                }
            )
    return sorted(rows, key=lambda row: [row[column] for column in TRIAL_COLUMNS[:6]])


def to_csv(rows: Iterable[Row], columns: Sequence[str]) -> str:
    """Write rows as CSV that a spreadsheet takes for data, the same rows as the same bytes."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, lineterminator="\n", restval="", extrasaction="ignore")
    writer.writeheader()
    writer.writerows({key: _csv_value(value) for key, value in row.items()} for row in rows)
    return stream.getvalue()


def _csv_value(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, str):
        return spreadsheet_text(value)
    return "" if value is None else value
