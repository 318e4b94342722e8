"""Computing what a plan lacks, storing each cell as it ends."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from hashbench.executors import Executor
from hashbench.studies.plan import Planned
from hashbench.studies.progress import Progress
from hashbench.studies.record import RunRecord
from hashbench.studies.store import Store, Stored


def execute(
    todo: Sequence[Planned], executor: Executor, store: Store, progress: Progress
) -> dict[str, Stored]:
    """Run cells and store each as it ends; however this is left, nothing runs on.

    Returns the cells that have run, by id.
    """
    stored: dict[str, Stored] = {}
    cells = {each.task: each.cell for each in todo}
    progress.begin(len(cells))
    events = executor.run(list(cells), store.work)
    try:
        for event in events:
            cell = cells[event.task]
            if event.outcome is None:
                progress.started(cell)
                continue
            record = RunRecord.of(event.outcome)
            stored[cell.id] = store.put(cell, record, event.outcome.folder)
            if event.outcome.folder is not None:
                shutil.rmtree(event.outcome.folder, ignore_errors=True)
            progress.ended(cell, record.status, record.reason, record.seconds.get("wall", 0.0))
    finally:
        events.close()
        progress.close()
    return stored
