"""The local executor: up to so many processes at once, one a task, each really killable."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psutil

from hashbench.base import interrupts
from hashbench.base.errors import StorageError
from hashbench.base.units import format_duration, format_size
from hashbench.executors import CancelledError, Event, Limits, Outcome, Task
from hashbench.executors.server import CANNOT_WRITE, CANNOT_WRITE_SIGN, THREAD_VARIABLES
from hashbench.plugins.provenance import environment
from hashbench.plugins.registry import ENVIRONMENT

OUTPUT_KEPT = 8192  # bytes of what a task printed
READS = 16  # of 64 kB from one task's output before others have their turn
POLL_SECONDS = 0.1  # between two looks at the memory of running tasks

#: When less than this part of the machine's memory is free, the largest task goes.
LEAST_FREE = 0.03


@dataclass
class Child:
    """A running task."""

    task: Task
    pid: int
    folder: Path
    pipe: int
    begun: float
    alone: bool
    output: bytes = b""
    peak: int = 0
    verdict: tuple[str, str] | None = None  # status and reason, once it has been killed


@dataclass
class LocalExecutor:
    """Runs tasks in processes of this machine.

    Parameters
    ----------
    jobs : how many at once
    limits : what a task may use
    plugins : files and folders with plugins of the user's own
    cache : a folder for prepared data
    keep_data : leave prepared data in the cache when no task needs them any more
    cancelled : asked now and then whether to give up
    """

    jobs: int
    limits: Limits
    plugins: Sequence[Path]
    cache: Path
    keep_data: bool = False
    cancelled: Callable[[], bool] = bool
    running: dict[int, Child] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ours, theirs = socket.socketpair()
        # What the environment says of plugins is among the paths already.
        variables = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(self.limits.threads))}
        variables.pop(ENVIRONMENT, None)
        self.process = subprocess.Popen(
            # -P: the installed package, not a source tree that happens to be the current folder
            [sys.executable, "-P", "-m", "hashbench.executors.server", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env=variables,
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for us to handle
        )
        theirs.close()
        self.connection = ours
        self.received = b""
        self.messages: deque[dict[str, Any]] = deque()
        self.selector = selectors.DefaultSelector()
        self.selector.register(ours, selectors.EVENT_READ)
        self.watched = 0.0
        paths = [str(path) for path in self.plugins]
        self._send({"plugins": paths, "threads": self.limits.threads})

    def run(self, tasks: Sequence[Task], folder: Path) -> Generator[Event, None, None]:
        """Run tasks and what they need; see :class:`hashbench.executors.Executor`."""
        waiting = deque(tasks)
        # Counted by folder: two seeds of a fixed split need the same one.
        users = Counter(task.needs.makes for task in tasks if task.needs is not None)
        needed: dict[Task, Outcome | None] = {}
        try:
            while waiting or self.running:
                while waiting and len(self.running) < self.jobs:
                    task = self._next(waiting, needed)
                    if task is None:
                        break
                    before = needed.get(task.needs) if task.needs is not None else None
                    if before is not None and before.status != "done":
                        reason = f"preparing the data: {before.reason}"
                        yield Event(task, replace(before, reason=reason, folder=None))
                        continue
                    self._start(task, folder)
                    if task not in needed:
                        yield Event(task)
                for child, outcome in self._wait():
                    if child.task in needed:
                        needed[child.task] = outcome
                        continue
                    yield Event(child.task, outcome)
                    if child.task.needs is not None:
                        makes = child.task.needs.makes
                        users[makes] -= 1
                        if not users[makes] and not self.keep_data:
                            shutil.rmtree(self.cache / makes, ignore_errors=True)
        finally:
            self.kill_all()

    @staticmethod
    def _next(waiting: deque[Task], needed: dict[Task, Outcome | None]) -> Task | None:
        """Take the first task that can run now, or what the first one without it needs.

        Data are prepared for one split at a time, so that the disk need not hold all of them.
        """
        for task in waiting:
            if task.needs is None or needed.get(task.needs) is not None:
                waiting.remove(task)
                return task
            if task.needs not in needed and None not in needed.values():
                needed[task.needs] = None
                return task.needs
        return None

    def _start(self, task: Task, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(dir=folder, prefix="task-"))
        pipe, output = os.pipe()
        os.set_blocking(pipe, False)
        message = {
            "function": task.function,
            "arguments": task.arguments,
            "folder": str(place),
            "cache": str(self.cache),
        }
        with interrupts.whole():
            self._send({"task": message}, output)
            os.close(output)
            begun = time.monotonic()
            pid = self._expect("started")["started"]
            for child in self.running.values():
                child.alone = False
            child = Child(task, pid, place, pipe, begun, alone=not self.running)
            self.running[pid] = child
            self.selector.register(pipe, selectors.EVENT_READ, child)

    def _send(self, message: dict[str, Any], *descriptors: int) -> None:
        data = json.dumps(message).encode() + b"\n"
        try:
            sent = socket.send_fds(self.connection, [data], descriptors) if descriptors else 0
            self.connection.sendall(data[sent:])
        except OSError as error:
            raise ConnectionError(f"the fork server is gone: {error}") from error

    def _receive(self) -> None:
        data = self.connection.recv(1 << 16)
        if not data:
            raise ConnectionError("the fork server has ended")
        *lines, self.received = (self.received + data).split(b"\n")
        self.messages.extend(json.loads(line) for line in lines)

    def _expect(self, key: str) -> dict[str, Any]:
        """Return the next message of a kind; others wait their turn."""
        while True:
            for message in self.messages:
                if key in message:
                    self.messages.remove(message)
                    return message
            self._receive()

    def _wait(self) -> list[tuple[Child, Outcome]]:
        """Wait a little for something to happen; return the tasks that have ended."""
        timeout = 0 if self.messages else POLL_SECONDS  # one may have come with another's start
        ready = self.selector.select(timeout)
        with interrupts.whole():
            for key, _ in ready:
                if key.data is None:
                    self._receive()
                else:
                    self._read(key.data)
            ended = [message for message in self.messages if "ended" in message]
            finished = []
            for message in ended:
                self.messages.remove(message)
                child = self.running.pop(message["ended"])
                self._read(child)
                self._hang_up(child)
                finished.append((child, self._outcome(child, message["code"])))
        self._watch()
        return finished

    def _read(self, child: Child) -> None:
        """Take in what a task has printed, some of it: one that never stops must not keep us."""
        with contextlib.suppress(BlockingIOError):
            for _ in range(READS):
                data = os.read(child.pipe, 1 << 16) if child.pipe >= 0 else b""
                if not data:
                    self._hang_up(child)
                    return
                child.output = (child.output + data)[-OUTPUT_KEPT:]

    def _hang_up(self, child: Child) -> None:
        """Close the output of a task; a closed one would be ready to read for ever."""
        if child.pipe >= 0:
            self.selector.unregister(child.pipe)
            os.close(child.pipe)
            child.pipe = -1

    def _watch(self) -> None:
        """Kill what has run too long or grown too large; looking costs, so not too often."""
        now = time.monotonic()
        if now - self.watched < POLL_SECONDS:
            return
        self.watched = now
        for child in self.running.values():
            if child.verdict is not None:
                continue
            child.peak = max(child.peak, tree_memory(child.pid))
            if child.task.limited:
                self._hold_to_limits(child, now - child.begun)
        alive = [child for child in self.running.values() if child.verdict is None]
        if alive and self.cancelled():
            raise CancelledError
        if alive:
            machine = psutil.virtual_memory()
            if machine.available < LEAST_FREE * machine.total:
                largest = max(alive, key=lambda child: tree_memory(child.pid))
                found = f"took {format_size(tree_memory(largest.pid))}"
                self._kill(largest, "memory", f"{found} and left the machine without memory")

    def _hold_to_limits(self, child: Child, seconds: float) -> None:
        timeout, memory = self.limits.timeout, self.limits.memory
        if timeout is not None and seconds > timeout:
            self._kill(child, "timeout", f"ran longer than {format_duration(timeout)}")
        elif memory is not None and child.peak > memory:
            found = f"took {format_size(child.peak)}; allowed: {format_size(memory)}"
            self._kill(child, "memory", found)

    def _kill(self, child: Child, status: str, reason: str) -> None:
        child.verdict = (status, reason)
        self._send({"kill": child.pid})

    def _outcome(self, child: Child, code: int) -> Outcome:
        """Put together how a task ended from what it wrote and how its process ended."""
        wall = time.monotonic() - child.begun
        measured = {
            "wall": wall,
            "alone": child.alone,
            "tree_peak": child.peak,
            "threads": self.limits.threads,
            "environment": environment(),
        }
        printed = child.output.decode(errors="replace")
        path = child.folder / "outcome.json"
        if child.verdict is not None:
            status, reason = child.verdict
            return Outcome(status, reason, output=printed, result=measured, folder=child.folder)
        last = printed.strip().rpartition("\n")[2]
        if code == CANNOT_WRITE and last.startswith(CANNOT_WRITE_SIGN):
            raise StorageError(f"{child.task.name}: {last.removeprefix(CANNOT_WRITE_SIGN)}")
        if code != 0 or not path.exists():
            reason = describe_exit(code)
            return Outcome("failed", reason, output=printed, result=measured, folder=child.folder)
        found = json.loads(path.read_text())
        return Outcome(
            status=found["status"],
            reason=found.get("reason", ""),
            traceback=found.get("traceback", ""),
            output=printed,
            result={**found.get("result", {}), **measured},
            folder=child.folder,
        )

    def kill_all(self) -> None:
        """Kill every running task and wait until it is gone."""
        for child in self.running.values():
            child.verdict = child.verdict or ("failed", "interrupted")
            with contextlib.suppress(ConnectionError):
                self._send({"kill": child.pid})
        with contextlib.suppress(ConnectionError):
            while self.running:
                for child, _ in self._wait():
                    shutil.rmtree(child.folder, ignore_errors=True)

    def close(self) -> None:
        """End the server and with it every child."""
        self.selector.close()
        self.connection.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=5)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def tree_memory(pid: int) -> int:
    """Return the resident set of a process and all that descends from it, in bytes."""
    total = 0
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        for each in (process, *process.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):
                total += each.memory_info().rss
    return total


def describe_exit(code: int) -> str:
    """Say how a process ended that left no outcome."""
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return f"the process was killed by {name}"
    return f"the process ended with exit code {code} before the cell was done"
