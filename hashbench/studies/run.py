"""Computing what a plan lacks, storing each cell as it ends."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from hashbench.executors import Executor, Outcome
from hashbench.studies.plan import Planned
from hashbench.studies.progress import Progress
from hashbench.studies.store import Store


def execute(todo: Sequence[Planned], executor: Executor, store: Store, progress: Progress) -> None:
    """Run cells and store each as it ends; however this is left, nothing runs on."""
    cells = {each.task: each.cell for each in todo}
    progress.begin(len(cells))
    events = executor.run(list(cells), store.work)
    try:
        for event in events:
            cell = cells[event.task]
            if event.outcome is None:
                progress.started(cell)
                continue
            record = make_record(event.outcome)
            store.put(cell, record, event.outcome.folder)
            if event.outcome.folder is not None:
                shutil.rmtree(event.outcome.folder, ignore_errors=True)
            seconds = float(event.outcome.result.get("wall", 0.0))
            progress.ended(cell, record["status"], record["reason"], seconds)
    finally:
        events.close()
        progress.close()


def make_record(outcome: Outcome) -> dict[str, Any]:
    """Return what the store keeps of an outcome, besides its files."""
    result = outcome.result
    return {
        "status": outcome.status,
        "reason": outcome.reason,
        "traceback": outcome.traceback,
        "output": outcome.output,
        "seconds": {**result.get("seconds", {}), "wall": result.get("wall")},
        "peak_memory": max(result.get("peak", 0), result.get("tree_peak", 0)),
        "resident_at_start": result.get("resident_at_start"),
        "threads": result.get("threads"),
        "pools": result.get("pools"),
        "alone": result.get("alone"),
        "learned": result.get("learned"),
        "item_bytes": result.get("item_bytes"),
        "random_state": result.get("random_state"),
        "environment": result.get("environment", {}),
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
    }
