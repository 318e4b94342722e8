"""Computing what a plan lacks, storing each cell as it ends."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from hashbench.core.codes import n_words
from hashbench.core.io import load_arrays
from hashbench.core.text import one_line
from hashbench.execution.cell import Cell
from hashbench.execution.cell_codes import CellCodes
from hashbench.execution.executor import Executor, Outcome
from hashbench.execution.plan import CellTask
from hashbench.execution.progress import Progress
from hashbench.execution.run_record import RunRecord
from hashbench.execution.store import Store, Stored


def run_and_store(
    todo: Sequence[CellTask],
    executor: Executor,
    store: Store,
    progress: Progress,
) -> dict[str, Stored]:
    """Run cells and store each as it ends; however this is left, nothing runs on.

    Returns the cells that have run, by id.
    """
    stored: dict[str, Stored] = {}

    def keep(cell: Cell, record: RunRecord, folder: Path | None) -> None:
        stored[cell.id] = store.put(cell, record, folder)

    run_cells(todo, executor, store, progress, keep)
    return stored


def run_cells(
    todo: Sequence[CellTask],
    executor: Executor,
    store: Store,
    progress: Progress,
    keep: Callable[[Cell, RunRecord, Path | None], None],
) -> None:
    """Run cells and hand each over as it ends: its record and the folder with its files."""

    @cache
    def sizes(split: str) -> dict[str, int]:
        found = store.split(split)
        parts = {"query": found.query, "database": found.database, "learned": found.train}
        return {role: len(rows) for role, rows in parts.items()}

    cells = {each.task: each.cell for each in todo}
    progress.begin(list(cells.values()))
    events = executor.run(list(cells), store.work)
    try:
        for event in events:
            cell = cells[event.task]
            if event.said:
                progress.cell_output(cell, event.said)
                continue
            if event.outcome is None:
                progress.cell_started(cell)
                continue
            record = RunRecord.of(validate_outcome(cell, event.outcome, sizes(cell.split)))
            keep(cell, record, event.outcome.folder)
            if event.outcome.folder is not None:
                shutil.rmtree(event.outcome.folder, ignore_errors=True)
            progress.cell_finished(
                cell, record.status, record.reason, record.seconds.get("wall", 0.0)
            )
    finally:
        events.close()
        progress.close()


def validate_outcome(cell: Cell, outcome: Outcome, rows: Mapping[str, int]) -> Outcome:
    """Return an outcome, failed if it is called done and its codes are not those of the cell.

    A method runs in the process that writes the codes, so that the file may hold anything.
    """
    if outcome.status != "done":
        return outcome
    path = None if outcome.folder is None else outcome.folder / "codes.npz"
    try:
        if path is None or not path.exists():
            raise ValueError("the cell left no codes")
        _check_codes(cell, CellCodes.load(path), rows)
        if (path.parent / "history.npz").exists():
            load_arrays(path.parent / "history.npz")
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        return replace(outcome, status="failed", reason=one_line(f"codes.npz: {error}"))
    return outcome


def _check_codes(cell: Cell, codes: CellCodes, rows: Mapping[str, int]) -> None:
    if codes.n_bits not in (None, cell.bits):
        raise ValueError(f"found {codes.n_bits} bits; allowed: {cell.bits}")
    kind = np.dtype(np.float32 if codes.n_bits is None else np.uint64)
    for role, expected in rows.items():
        for part in getattr(codes, role):
            right = part.ndim == 2 and len(part) == expected and part.dtype == kind
            if not right or (codes.n_bits is not None and part.shape[1] != n_words(cell.bits)):
                raise ValueError(f"{role}: found {part.dtype} of shape {part.shape}")
