"""The pool: a process with all imports done, which forks one child per task.

A fork takes milliseconds, an interpreter with numpy, scipy and numba a second or more. The pool is
a program of its own and not multiprocessing's fork server, because every process of a run must end
with the run, and because Dask's workers must not have children of multiprocessing's kind.

It starts tasks, applies their limits and reads what they print and return. On Linux, each task
adopts the orphans among its descendants, and the pool adopts those of a task that has ended: a
child of the pool that is no running task is killed. When the connection to the run closes, the
pool kills every task and ends; when the pool is killed, the kernel kills the tasks.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import selectors
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from hashbench.core import memory, task_log
from hashbench.core.errors import StorageError
from hashbench.core.io import writing
from hashbench.core.isolation import ForkedCall, adopt_orphans, describe_exit, fork_call
from hashbench.core.text import one_line, several_lines
from hashbench.core.units import format_duration, format_size
from hashbench.execution.executor import Limits, Outcome, Task
from hashbench.execution.process_tree import children, kill_tree, resident_memory

#: Imported before the first fork: what methods and the functions of tasks use.
PRELOAD = (
    "numpy.linalg",
    "scipy.linalg",
    "scipy.sparse.linalg",
    "scipy.spatial",
    "sklearn.cluster",
    "hashbench.execution.compute_cell",
    "hashbench.linalg",
    "hashbench.data.prepare",
)

OUTPUT_KEPT = 8192  # bytes of what a task printed
PIECE = 1 << 16  # bytes of output that are read at once
POLL_SECONDS = 0.1  # between two checks of limits
EXIT_SECONDS = 0.002  # between two checks whether a task that has closed its pipe has ended

#: When less than this part of the machine's memory is free, the largest task is killed.
LEAST_FREE = 0.03


@dataclass(frozen=True)
class Settings:
    """The first message to a pool; see :class:`hashbench.execution.local.LocalExecutor`."""

    jobs: int
    limits: Limits
    plugins: Sequence[Path]
    cache: Path
    keep_data: bool


@dataclass(eq=False)
class RunningTask:
    """A task that runs, and what the pool has measured of it."""

    number: int | None
    task: Task
    call: ForkedCall
    folder: Path
    printed: int  # the descriptor from which its output is read
    alone: bool
    started: float = field(default_factory=time.monotonic)
    kernel_kills: int = field(default_factory=memory.kills)  # before it started
    output: bytes = b""
    log_line: str = ""
    peak: int = 0
    verdict: tuple[str, str] | None = None  # status and reason, if the pool has killed it


class TaskQueue:
    """The tasks of a run that have not started, and the data that they need.

    Data are prepared for one split at a time, so that the disk need not hold all of them.
    """

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.waiting = deque(enumerate(tasks))
        self.users = Counter(task.needs.makes for task in tasks if task.needs is not None)
        #: how preparing data ended, by folder; None while that runs
        self.prepared: dict[str, Outcome | None] = {}

    def take(self) -> tuple[int | None, Task] | None:
        """Return the next task that can start and its number, which is None for data."""
        for index, (number, task) in enumerate(self.waiting):
            if task.needs is None or self.prepared.get(task.needs.makes) is not None:
                del self.waiting[index]
                return number, task
            if task.needs.makes not in self.prepared and None not in self.prepared.values():
                self.prepared[task.needs.makes] = None
                return None, task.needs
        return None

    def is_last_user(self, task: Task) -> bool:
        """Return whether no other task needs the data of a task that has ended."""
        if task.needs is None:
            return False
        self.users[task.needs.makes] -= 1
        return not self.users[task.needs.makes]


class Pool:
    """Runs tasks in forked children of this process.

    Parameters
    ----------
    connection : where tasks come from and events go to
    settings : the first message
    registry : the plugins
    """

    def __init__(self, connection: Connection, settings: Settings, registry: Any) -> None:
        self.connection, self.settings, self.registry = connection, settings, registry
        self.running: list[RunningTask] = []
        self.selector = selectors.DefaultSelector()
        self.selector.register(connection, selectors.EVENT_READ)
        self.checked = self.logged = 0.0
        self.compiled_loaded = False

    def run(self, tasks: Sequence[Task], folder: Path) -> None:
        """Run tasks and send (number, event) for each, at last None.

        An event is the number of a process (the task has started), a line of its log, its outcome,
        or a StorageError, after which nothing follows.
        """
        self.queue = TaskQueue(tasks)
        try:
            while self.queue.waiting or self.running:
                while len(self.running) < self.settings.jobs and (found := self.queue.take()):
                    self._start(*found, folder)
                self._wait()
            self.connection.send(None)
        except StorageError as error:
            self.connection.send((None, error))

    def _start(self, number: int | None, task: Task, folder: Path) -> None:
        if task.needs is not None:
            data = self.queue.prepared[task.needs.makes]
            assert data is not None
            if data.status != "done":
                reason = f"preparing the data: {data.reason}"
                self.connection.send((number, replace(data, reason=reason, folder=None)))
                return
        self._load_compiled(task)
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            own = Path(tempfile.mkdtemp(dir=folder, prefix="task-"))
        task_log.append(own, f"{task.name}\n".encode())
        printed, output = os.pipe()
        os.set_blocking(printed, False)
        limit = None if task.limited else memory.available()
        call = fork_call(lambda: self._call(task, own), limit, output)
        os.close(output)
        for other in self.running:
            other.alone = False
        running = RunningTask(number, task, call, own, printed, alone=not self.running)
        self.running.append(running)
        self.selector.register(call.pipe, selectors.EVENT_READ, running)
        self.selector.register(printed, selectors.EVENT_READ, running)
        if number is not None:
            self.connection.send((number, call.pid))

    def _load_compiled(self, task: Task) -> None:
        """Load what compiled loops need, once here instead of in each child that has some."""
        plugin = self.registry.methods.get(task.arguments.get("cell", {}).get("method"))
        if plugin is not None and plugin.cls.compiled and not self.compiled_loaded:
            from hashbench.core.compilation import load

            load()
            self.compiled_loaded = True

    def _call(self, task: Task, folder: Path) -> Any:
        """Call the function of a task; this runs in the child."""
        self.connection.close()
        with contextlib.suppress(OSError):  # without memory, the kernel is to kill tasks first
            Path("/proc/self/oom_score_adj").write_text("500")
        module, _, name = task.function.partition(":")
        function = getattr(importlib.import_module(module), name)
        return function(self.registry, folder, self.settings.cache, **task.arguments)

    def _wait(self) -> None:
        """Wait for something to happen and handle it."""
        closing = any(self._is_closed(each.call.pipe) for each in self.running)
        for key, _ in self.selector.select(EXIT_SECONDS if closing else POLL_SECONDS):
            if key.data is None:
                raise EOFError  # the run sends nothing meanwhile, but it may have ended
            if key.fd == key.data.printed:
                self._read_output(key.data)
            elif not key.data.call.read():
                self.selector.unregister(key.fd)
        for running in [each for each in self.running if each.call.poll() is not None]:
            self._finish(running)
        self._check_limits()
        self._send_log_lines()

    def _is_closed(self, descriptor: int) -> bool:
        return descriptor not in self.selector.get_map()

    def _read_output(self, running: RunningTask) -> bool:
        """Read a piece of what a task has printed; return whether there was any."""
        data = b""
        with contextlib.suppress(BlockingIOError):
            data = os.read(running.printed, PIECE)
            if not data:  # a closed pipe would always be ready
                self.selector.unregister(running.printed)
        running.output = (running.output + data)[-OUTPUT_KEPT:]
        task_log.append(running.folder, data)
        return bool(data)

    def _finish(self, running: RunningTask) -> None:
        """Take in the end of a task, end what it has left, and send its outcome."""
        call, task = running.call, running.task
        self.running.remove(running)
        call.end()
        self._end_orphans()
        while not self._is_closed(call.pipe) and call.read():
            pass
        while not self._is_closed(running.printed) and self._read_output(running):
            pass
        for descriptor in (call.pipe, running.printed):
            if not self._is_closed(descriptor):
                self.selector.unregister(descriptor)
            os.close(descriptor)
        outcome = self._outcome(running)
        if running.number is None:
            self.queue.prepared[task.makes] = outcome
            return
        self.connection.send((running.number, outcome))
        if self.queue.is_last_user(task) and not self.settings.keep_data:
            assert task.needs is not None
            shutil.rmtree(self.settings.cache / task.needs.makes, ignore_errors=True)

    def _end_orphans(self) -> None:
        """Kill the processes that tasks have left."""
        running = {each.call.pid for each in self.running}
        while orphans := [pid for pid in children(os.getpid()) if pid not in running]:
            for pid in orphans:
                kill_tree(pid)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, 0)

    def _outcome(self, running: RunningTask) -> Outcome:
        """Return how a task ended, from its record and from how its process ended."""
        from hashbench.plugins.source_hash import environment

        code, record = running.call.exit_code or 0, running.call.record()
        measured = {
            "wall": time.monotonic() - running.started,
            "alone": running.alone,
            "tree_peak": running.peak,
            "threads": self.settings.limits.threads,
            "environment": environment(),
        }
        output = several_lines(running.output.decode(errors="replace"))
        failed = Outcome("failed", output=output, result=measured, folder=running.folder)
        if running.verdict is not None:
            status, reason = running.verdict
            return replace(failed, status=status, reason=reason)
        if code == -signal.SIGKILL and memory.kills() > running.kernel_kills:
            return replace(failed, status="memory", reason="the system ran out of memory")
        if record is None:
            return replace(failed, reason=describe_exit(code))
        if record["kind"] == "disk":
            raise StorageError(f"{running.task.name}: {record['text']}")
        if record["kind"] == "done":
            return replace(failed, status="done", result={**(record["result"] or {}), **measured})
        status = {"declined": "skipped", "memory": "memory"}.get(record["kind"], "failed")
        reason = record["reason"]
        if "read-only" in reason:
            reason += " (the data of a cell are read-only: a method must not change its input)"
        trace = "" if status == "skipped" else record["traceback"]
        return replace(failed, status=status, reason=one_line(reason), traceback=trace)

    def _check_limits(self) -> None:
        """Kill tasks that have run too long or grown too large; ten times a second at most."""
        now = time.monotonic()
        if now - self.checked < POLL_SECONDS:
            return
        self.checked = now
        alive = [each for each in self.running if each.verdict is None]
        sizes = {each: resident_memory(each.call.pid) for each in alive}
        for running, size in sizes.items():
            running.peak = max(running.peak, size)
            limits = self.settings.limits if running.task.limited else Limits()
            if limits.timeout is not None and now - running.started > limits.timeout:
                reason = f"ran longer than {format_duration(limits.timeout)}"
                self._kill(running, "timeout", reason)
            elif limits.memory is not None and size > limits.memory:
                reason = f"took {format_size(size)}; allowed: {format_size(limits.memory)}"
                self._kill(running, "memory", reason)
        if sizes and memory.available() < LEAST_FREE * memory.total():
            largest = max(sizes, key=sizes.__getitem__)
            reason = f"took {format_size(sizes[largest])} and left no memory for others"
            self._kill(largest, "memory", reason)

    def _kill(self, running: RunningTask, status: str, reason: str) -> None:
        running.verdict = running.verdict or (status, reason)
        kill_tree(running.call.pid)

    def _send_log_lines(self) -> None:
        """Send the last line of the log of every task that has a new one, once a second."""
        now = time.monotonic()
        if now - self.logged < task_log.SECONDS:
            return
        self.logged = now
        for running in self.running:
            line = task_log.last_line(running.folder) if running.task.limited else ""
            if line not in ("", running.log_line):
                running.log_line = line
                self.connection.send((running.number, line))

    def close(self) -> None:
        """Kill every task."""
        for running in self.running:
            kill_tree(running.call.pid)
            running.call.end()
        self.running.clear()
        self._end_orphans()


def main(connection: Connection) -> None:
    """Run tasks for a connection until it closes."""
    adopt_orphans()
    for module in PRELOAD:  # before the first message: the run is busy with other things
        importlib.import_module(module)
    from threadpoolctl import threadpool_info

    from hashbench.plugins.registry import ENVIRONMENT, discover
    from hashbench.plugins.source_hash import source_hash

    with contextlib.suppress(EOFError, ConnectionError):
        settings: Settings = connection.recv()
        os.environ.pop(ENVIRONMENT, None)  # its plugins are among the paths already
        registry = discover(settings.plugins)
        for plugin in registry.methods.values():
            source_hash(plugin)  # of what has just been imported, even if files change later
        threadpool_info()  # keeps the resolved paths of 300 libraries for the children
        gc.freeze()  # children need not look through, and so copy, what they share
        pool = Pool(connection, settings, registry)
        try:
            while True:
                pool.run(*connection.recv())
        finally:
            pool.close()


if __name__ == "__main__":
    # Messages name the classes of the importable module.
    from hashbench.execution import pool as importable

    importable.main(Connection(int(sys.argv[1])))
