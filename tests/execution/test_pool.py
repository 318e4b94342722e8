"""The local executor and its pool: nothing leaks, no process is left, tasks start at once."""

from __future__ import annotations

import itertools
import os
import signal
import statistics
import time

import psutil
import pytest

from hashbench.core.errors import StorageError
from hashbench.execution.executor import CancelledError, Limits, Outcome, Task
from hashbench.execution.local import LocalExecutor
from hashbench.execution.pool import TaskQueue

pytestmark = pytest.mark.usefixtures("real_pools")

FUNCTIONS = """
import errno, os, subprocess, time
from hashbench.core.errors import StorageError


def quick(registry, folder, cache):
    return {}


def slow(registry, folder, cache):
    subprocess.Popen(["sleep", "600"])
    (folder.parent / f"started-{os.getpid()}").touch()
    time.sleep(600)


def unwritable(registry, folder, cache, number):
    raise StorageError("cannot write") from OSError(number, "no")
"""


@pytest.fixture
def executor(tmp_path, monkeypatch):
    (tmp_path / "functions.py").write_text(FUNCTIONS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    executor = LocalExecutor(2, Limits(), [], tmp_path / "cache")
    yield executor
    executor.close()


def task(function: str, **arguments) -> Task:
    return Task(f"functions:{function}", arguments, function)


def start_two(executor, work) -> tuple:
    """Start two slow tasks; return the events and all processes of the pool."""
    events = executor.run([task("slow"), task("slow")], work)
    next(events), next(events)
    while len(list(work.glob("started-*"))) < 2:
        time.sleep(0.01)
    pool = psutil.Process(executor.pool.process.pid)
    processes = [pool, *pool.children(recursive=True)]
    assert len(processes) == 5
    return events, processes


def check_gone(processes) -> None:
    _, alive = psutil.wait_procs(processes, timeout=10)
    assert not [each for each in alive if each.status() != psutil.STATUS_ZOMBIE]


def test_closing_the_events_ends_every_process_and_the_executor_can_be_used_again(
    executor, tmp_path
):
    events, processes = start_two(executor, tmp_path)
    events.close()
    check_gone(processes)
    (_, ended) = executor.run([task("quick")], tmp_path)
    assert ended.outcome.status == "done"


def test_cancelling_ends_every_process(executor, tmp_path):
    events, processes = start_two(executor, tmp_path)
    executor.cancelled = lambda: True
    with pytest.raises(CancelledError):
        next(events)
    check_gone(processes)


def test_killing_the_pool_is_an_error_and_leaves_no_process(executor, tmp_path):
    events, processes = start_two(executor, tmp_path)
    processes[0].kill()
    with pytest.raises(ConnectionError, match="SIGKILL"):
        next(events)
    check_gone(processes)


def test_tasks_end_when_the_process_of_the_run_is_killed(executor, tmp_path):
    listed = tmp_path / "processes"
    executor.close()
    if (run := os.fork()) == 0:
        _, processes = start_two(executor, tmp_path)
        listed.with_suffix(".tmp").write_text(" ".join(str(each.pid) for each in processes))
        listed.with_suffix(".tmp").rename(listed)
        signal.pause()
    while not listed.exists():
        time.sleep(0.05)
    processes = [psutil.Process(int(pid)) for pid in listed.read_text().split()]
    os.kill(run, signal.SIGKILL)
    os.waitpid(run, 0)
    check_gone(processes)


def test_five_hundred_tasks_start_at_once_and_leak_nothing(executor, tmp_path):
    executor.jobs = 2
    list(executor.run([task("quick")] * 20, tmp_path / "first"))
    pool = psutil.Process(executor.pool.process.pid)
    files, size = pool.num_fds(), pool.memory_info().rss
    times = []
    for event in executor.run([task("quick")] * 500, tmp_path / "work"):
        times.append(time.monotonic())
        assert event.outcome is None or event.outcome.status == "done"
    assert len(times) == 1000
    assert statistics.median(b - a for a, b in itertools.pairwise(times)) < 0.05
    assert pool.num_fds() == files
    assert pool.memory_info().rss < size + 10e6
    assert pool.children() == []


def test_a_full_disk_is_no_outcome_of_a_task(executor, tmp_path):
    with pytest.raises(StorageError):
        list(executor.run([task("unwritable", number=28)], tmp_path))
    (_, ended) = executor.run([task("unwritable", number=2)], tmp_path)  # its own folder is gone
    assert ended.outcome.status == "failed"


def test_data_are_prepared_for_one_split_at_a_time():
    data = {name: Task("prepare", {}, name, makes=name) for name in ("a", "b")}
    tasks = [Task("cell", {"n": n}, n, needs=data[n[0]]) for n in ("a1", "a2", "b1")]
    queue = TaskQueue(tasks)
    assert queue.take() == (None, data["a"])
    assert queue.take() is None
    queue.prepared["a"] = Outcome("done")
    assert queue.take() == (0, tasks[0])
    assert queue.take() == (1, tasks[1])
    assert queue.take() == (None, data["b"])
    assert not queue.is_last_user(tasks[0])
    assert queue.is_last_user(tasks[1])
