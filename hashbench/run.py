"""Computing what a plan lacks, storing each cell as it ends, and deriving the tables."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from threadpoolctl import threadpool_limits

from hashbench import results
from hashbench.executors import Executor, Outcome
from hashbench.plan import Plan, Planned
from hashbench.progress import Progress
from hashbench.store import Store


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


def write_tables(
    store: Store, plan: Plan, progress: Progress
) -> tuple[list[results.Row], list[results.Row]]:
    """Derive results.csv and runs.csv; return the rows of both."""
    stored = store.read([cell.id for cell in plan.cells])
    done = [each for each in stored.values() if each.status == "done"]
    done.sort(key=lambda each: each.cell.key)
    # Inner products depend on the number of threads in their last bits; distances do not.
    with threadpool_limits(1, user_api="blas"):
        rows = list(results.results(store, progress.scoring(done), plan.measures))
    runs = results.runs(plan, stored)
    store.write_text("results.csv", results.to_csv(rows, results.RESULT_COLUMNS))
    store.write_text("runs.csv", results.to_csv(runs, results.RUN_COLUMNS))
    return rows, runs
