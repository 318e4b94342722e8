"""Runs a task on a Dask worker, with the processes and limits of a local run.

Each worker thread has a local executor; data are prepared on the worker's own disk. No common file
system is needed: plugins arrive with the task, and files are returned as bytes.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from distributed import Status, get_worker

from hashbench.execution.executor import Limits, Outcome, Task
from hashbench.execution.local import LocalExecutor

SPLITS_KEPT = 2  # prepared splits that stay on a worker's disk, not counting those in use

_local = threading.local()
_lock = threading.Lock()
_preparing: dict[str, threading.Lock] = {}
_in_use: Counter[str] = Counter()
_recent: dict[str, None] = {}


def perform(task: Task, limits: Limits, plugins: Mapping[str, bytes]) -> dict[str, Any]:
    """Run a task on this worker; return its outcome, with the files it wrote as bytes."""
    worker = get_worker()
    key = worker.get_current_task()
    base = Path(worker.local_directory) / "hashbench"

    def cancelled() -> bool:
        state = worker.state.tasks.get(key)
        closing = worker.status in (Status.closing, Status.closed)  # it waits for its threads
        return closing or state is None or state.state == "cancelled"

    executor = _executor(base, limits, plugins)
    executor.cancelled = cancelled
    with tempfile.TemporaryDirectory(prefix="hashbench-") as folder:
        outcome, needs = None, task.needs
        with _using(base / "data", needs.makes if needs else ""):
            if needs is not None:
                with _preparing.setdefault(needs.makes, threading.Lock()):
                    if not (base / "data" / needs.makes).exists():
                        outcome = _run(executor, needs, Path(folder))
            unread = outcome is not None and outcome.status != "done"
            if outcome is None or not unread:
                outcome = _run(executor, replace(task, needs=None), Path(folder))
                unread = not task.limited and outcome.status != "done"  # its task was to read data
        files = {}
        if outcome.folder is not None:
            files = {path.name: path.read_bytes() for path in outcome.folder.glob("*.npz")}
        # Other workers may share the machine, so the cell may not have run alone.
        result = {**outcome.result, "alone": False, "worker": worker.address, "unread": unread}
        return {**asdict(replace(outcome, folder=None, result=result)), "files": files}


def _run(executor: LocalExecutor, task: Task, folder: Path) -> Outcome:
    outcomes = [event.outcome for event in executor.run([task], folder)]  # to its end: a generator
    found = [outcome for outcome in outcomes if outcome is not None]  # left early closes the pool
    if not found:
        raise RuntimeError(f"{task.name} ended without an outcome")
    return found[0]


def _executor(base: Path, limits: Limits, plugins: Mapping[str, bytes]) -> LocalExecutor:
    """Return this thread's executor; start a new one if plugins or limits have changed."""
    digest = hashlib.sha256()
    for name, content in sorted(plugins.items()):
        digest.update(f"{name}\n{len(content)}\n".encode() + content)
    wanted = (digest.hexdigest()[:16], limits)
    present: LocalExecutor | None = getattr(_local, "executor", None)
    if present is not None:
        if _local.wanted == wanted:
            return present
        present.close()
    folder = base / f"plugins-{wanted[0]}"
    with _lock:
        for name, content in plugins.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
    paths = sorted({folder / Path(name).parts[0] for name in plugins})
    executor = LocalExecutor(1, limits, paths, base / "data", keep_data=True)
    _local.executor, _local.wanted = executor, wanted
    return executor


@contextmanager
def _using(cache: Path, name: str) -> Iterator[None]:
    """Keep a prepared split while it is used; delete the least recently used ones."""
    with _lock:
        _in_use[name] += 1
        _recent.pop(name, None)
        _recent[name] = None
        for old in list(_recent)[:-SPLITS_KEPT]:
            if not _in_use[old]:
                del _recent[old]
                shutil.rmtree(cache / old, ignore_errors=True)
    try:
        yield
    finally:
        with _lock:
            _in_use[name] -= 1
