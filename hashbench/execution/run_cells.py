"""Run cells and check the codes that their processes leave."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from hashbench.core.codes import as_words, n_words
from hashbench.core.npz import read_arrays
from hashbench.core.text import one_line
from hashbench.execution.cell import Cell
from hashbench.execution.cell_codes import CellCodes
from hashbench.execution.executor import Executor, Outcome
from hashbench.execution.plan import CellTask
from hashbench.execution.progress import Progress
from hashbench.execution.run_record import RunRecord
from hashbench.execution.store import Store


def run_cells(
    tasks: Sequence[CellTask],
    executor: Executor,
    store: Store,
    progress: Progress,
    on_finished: Callable[[Cell, RunRecord, Path | None], object],
) -> None:
    """Run cells; call `on_finished` with each cell that ends, its record and its files.

    No process is left running when this returns or raises.
    """

    @cache
    def n_rows(split: str) -> dict[str, int]:
        rows = store.split(split)
        parts = {"query": rows.query, "database": rows.database, "learned": rows.train}
        return {role: len(part) for role, part in parts.items()}

    cells = {each.task: each.cell for each in tasks}
    progress.begin(list(cells.values()))
    events = executor.run(list(cells), store.work)
    try:
        for event in events:
            cell, outcome = cells[event.task], event.outcome
            if outcome is not None:
                record = RunRecord.of(validate_outcome(cell, outcome, n_rows(cell.split)))
                on_finished(cell, record, outcome.folder)
                seconds = record.seconds.get("wall", 0.0)
                progress.cell_finished(cell, record.status, record.reason, seconds)
            elif event.log_line:
                progress.cell_output(cell, event.log_line)
            else:
                progress.cell_started(cell)
            if outcome is not None and outcome.folder is not None:
                shutil.rmtree(outcome.folder, ignore_errors=True)
    finally:
        events.close()
        progress.close()


def validate_outcome(cell: Cell, outcome: Outcome, rows: Mapping[str, int]) -> Outcome:
    """Return an outcome, marked as failed if the codes have the wrong shape or dtype.

    A method runs in the process that writes the codes, so that the file may hold anything.

    Parameters
    ----------
    rows : the number of queries, database items and training rows
    """
    if outcome.status != "done":
        return outcome
    path = None if outcome.folder is None else outcome.folder / "codes.npz"
    try:
        if path is None or not path.exists():
            raise ValueError("the cell left no codes")
        _check_codes(cell, CellCodes.load(path), rows)
        if (path.parent / "history.npz").exists():
            read_arrays(path.parent / "history.npz")
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        return replace(outcome, status="failed", reason=one_line(f"codes.npz: {error}"))
    return outcome


def _check_codes(cell: Cell, codes: CellCodes, rows: Mapping[str, int]) -> None:
    if codes.n_bits not in (None, cell.bits):
        raise ValueError(f"found {codes.n_bits} bits; allowed: {cell.bits}")
    dtype = np.dtype(np.float32 if codes.n_bits is None else np.uint64)
    for role, expected in rows.items():
        for part in getattr(codes, role):
            valid = part.ndim == 2 and len(part) == expected and part.dtype == dtype
            if not valid or (codes.n_bits is not None and part.shape[1] != n_words(cell.bits)):
                raise ValueError(f"{role}: found {part.dtype} of shape {part.shape}")
            if codes.n_bits is not None:
                as_words(part, cell.bits, what=role)  # compiled measures trust the bits
