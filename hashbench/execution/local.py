"""The local executor: up to so many processes at once, one a task, each really killable."""

from __future__ import annotations

import contextlib
import os
import secrets
import selectors
import shutil
import signal
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil

from hashbench.core import memory, signals, task_log
from hashbench.core.errors import StorageError
from hashbench.core.text import one_line, several_lines
from hashbench.core.units import format_duration, format_size
from hashbench.execution.executor import CancelledError, Event, Limits, Outcome, Task
from hashbench.execution.outcomes import (
    CANNOT_WRITE,
    FILE,
    drop_strange_files,
    read_outcome,
    storage_trouble,
)
from hashbench.execution.process_tree import Child, below, describe_exit, resident
from hashbench.execution.server_connection import ServerConnection, ServerLostError
from hashbench.plugins.source_hash import environment

OUTPUT_KEPT = 8192  # bytes of what a task printed
READS = 16  # of 64 kB from one task's output before others have their turn
POLL_SECONDS = 0.1  # between two looks at the memory of running tasks

#: When less than this part of the machine's memory is free, the largest task goes.
LEAST_FREE = 0.03

#: A server that has not ended a task so long after it was told to is not believed to live.
KILL_SECONDS = 10


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
    server : a fork server that was started ahead, for as many threads; one is started if None
    """

    jobs: int
    limits: Limits
    plugins: Sequence[Path]
    cache: Path
    keep_data: bool = False
    cancelled: Callable[[], bool] = bool
    server: ServerConnection | None = None
    running: dict[int, Child] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.cache = self.cache.resolve()  # a task may change its current folder
        self.selector = selectors.DefaultSelector()
        self.watched = self.listened = 0.0
        self.suspects: set[Task] = set()  # ran while a server was lost: they run alone from now on
        self._use(self.server or ServerConnection(self.limits.threads))

    def _use(self, server: ServerConnection) -> ServerConnection:
        server.configure(self.plugins)
        self.selector.register(server.socket, selectors.EVENT_READ)
        self.server = server
        return server

    def _connection(self) -> ServerConnection:
        """Return the fork server, a new one if the last was lost."""
        return self.server or self._use(ServerConnection(self.limits.threads))

    def run(self, tasks: Sequence[Task], folder: Path) -> Generator[Event, None, None]:
        """Run tasks and what they need; see :class:`hashbench.execution.executor.Executor`."""
        waiting = deque(tasks)
        # Counted by folder: two seeds of a fixed split need the same one.
        users = Counter(task.needs.makes for task in tasks if task.needs is not None)
        needed: dict[Task, Outcome | None] = {}
        try:
            while waiting or self.running:
                while waiting and self._has_room(waiting[0]):
                    task = self._next(waiting, needed)
                    if task is None:
                        break
                    before = needed.get(task.needs) if task.needs is not None else None
                    if before is not None and before.status != "done":
                        reason = f"preparing the data: {before.reason}"
                        yield Event(task, replace(before, reason=reason, folder=None))
                        continue
                    if not self._start(task, folder.resolve()):
                        self._put_back(task, waiting, needed)
                        break
                    if task not in needed and task not in self.suspects:
                        yield Event(task)
                ended, again = self._wait()
                for task in again:
                    self._put_back(task, waiting, needed)
                for child, outcome in ended:
                    if child.task in needed:
                        needed[child.task] = outcome
                        continue
                    yield Event(child.task, outcome)
                    if child.task.needs is not None:
                        makes = child.task.needs.makes
                        users[makes] -= 1
                        if not users[makes] and not self.keep_data:
                            shutil.rmtree(self.cache / makes, ignore_errors=True)
                yield from self._said()
        finally:
            self.kill_all()

    def _has_room(self, first: Task) -> bool:
        """Say whether another task may start; what is under suspicion runs alone."""
        running = {child.task for child in self.running.values()}
        if running & self.suspects or ({first, first.needs} & self.suspects and running):
            return False
        return len(running) < self.jobs

    def _said(self) -> Generator[Event, None, None]:
        """Give the last line of every task that has said something new, now and then."""
        now = time.monotonic()
        if now - self.listened < task_log.SECONDS:
            return
        self.listened = now
        for child in self.running.values():
            line = task_log.last_line(child.folder) if child.task.limited else ""
            if line not in ("", child.said):
                child.said = line
                yield Event(child.task, said=line)

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

    @staticmethod
    def _put_back(task: Task, waiting: deque[Task], needed: dict[Task, Outcome | None]) -> None:
        if task in needed:
            del needed[task]
        else:
            waiting.appendleft(task)

    def _start(self, task: Task, folder: Path) -> bool:
        """Start a task; return False if the server was lost, and with it what runs."""
        folder.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(dir=folder, prefix="task-"))
        task_log.append(place, f"{task.name}\n".encode())
        pipe, output = os.pipe()
        os.set_blocking(pipe, False)
        token = secrets.token_hex(8)
        message = {
            "function": task.function,
            "arguments": task.arguments,
            "folder": str(place),
            "cache": str(self.cache),
            "memory": task.limits.memory if task.limits is not None else None,
            "token": token,
        }
        with signals.uninterrupted():
            try:
                pid = self._ask({"task": message}, output)
            finally:
                os.close(output)
            begun = time.monotonic()  # a server that is still importing is no task's time
            if pid is None:
                os.close(pipe)
                return False
            for child in self.running.values():
                child.alone = False
            child = Child(task, pid, place, pipe, begun, alone=not self.running, token=token)
            self.running[pid] = child
            self.selector.register(pipe, selectors.EVENT_READ, child)
        return True

    def _ask(self, message: dict[str, object], output: int) -> int | None:
        """Have a task started, by another server if there is none any more; return its process.

        With nothing running a lost server costs nothing but its start; otherwise None, and the
        tasks that run on it are found lost when they are next waited for.
        """
        for last in (False, True):
            try:
                server = self._connection()
                server.send(message, output)
                return int(server.expect("started")["started"])
            except ServerLostError:
                self._drop_server()
                if self.running:
                    return None
                if last:
                    raise
        return None

    def _wait(self) -> tuple[list[tuple[Child, Outcome]], list[Task]]:
        """Wait a little; return the tasks that have ended, and those that must run again."""
        try:
            if self.server is not None or not self.running:
                return self._finished(), []
        except ServerLostError:
            self._drop_server()
        with signals.uninterrupted():
            return self._lost()

    def _finished(self) -> list[tuple[Child, Outcome]]:
        server = self._connection()
        timeout = 0 if server.messages else POLL_SECONDS  # one may have come with another's start
        ready = self.selector.select(timeout)
        finished = []
        with signals.uninterrupted():
            for key, _ in ready:
                if key.data is not None:
                    self._read(key.data)
            if any(key.data is None for key, _ in ready):
                server.receive()
            for message in server.take("ended"):
                child = self.running.pop(message["ended"])
                self._read(child)
                self._hang_up(child)
                finished.append((child, self._outcome(child, message["code"])))
        if not finished:
            self._watch(server)
        return finished

    def _drop_server(self) -> None:
        if self.server is not None:
            self.selector.unregister(self.server.socket)
            self.server.close(patience=1)
            self.server = None

    def _lost(self) -> tuple[list[tuple[Child, Outcome]], list[Task]]:
        """Give up what ran on a server that is no more.

        A task that ran beside others is run again, alone; one that already did is to blame.
        """
        ended, again = [], []
        for child in self.running.values():
            self._hang_up(child)
            for process in child.seen:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            if child.verdict is None and not child.alone:
                again.append(child.task)
                continue
            reason = "the process that starts cells was stopped or killed while it ran alone"
            status, reason = child.verdict or ("failed", reason)
            outcome = Outcome(status, reason, result=self._measured(child), folder=child.folder)
            ended.append((child, outcome))
        self.running.clear()
        self.suspects.update(again)
        return ended, again

    def _read(self, child: Child) -> None:
        """Take in what a task has printed, some of it: one that never stops must not keep us."""
        with contextlib.suppress(BlockingIOError):
            for _ in range(READS):
                data = os.read(child.pipe, 1 << 16) if child.pipe >= 0 else b""
                if not data:
                    self._hang_up(child)
                    return
                child.output = (child.output + data)[-OUTPUT_KEPT:]
                task_log.append(child.folder, data)

    def _hang_up(self, child: Child) -> None:
        """Close the output of a task; a closed one would be ready to read for ever."""
        if child.pipe >= 0:
            self.selector.unregister(child.pipe)
            os.close(child.pipe)
            child.pipe = -1

    def _watch(self, server: ServerConnection) -> None:
        """Kill what has run too long or grown too large; looking costs, so not too often."""
        now = time.monotonic()
        if now - self.watched < POLL_SECONDS:
            return
        self.watched = now
        server.style()
        for child in self.running.values():
            if child.verdict is not None:
                if now - child.killed > KILL_SECONDS:
                    raise ServerLostError("the fork server does not end a task")
                continue
            child.seen = below(child.pid)
            child.peak = max(child.peak, resident(child.seen))
            limits = child.task.limits or (self.limits if child.task.limited else Limits())
            self._hold_to_limits(child, limits, now - child.begun)
        alive = [child for child in self.running.values() if child.verdict is None]
        if alive and self.cancelled():
            raise CancelledError
        if alive and memory.available() < LEAST_FREE * memory.total():
            largest = max(alive, key=lambda child: resident(child.seen))
            found = f"took {format_size(resident(largest.seen))}"
            self._kill(largest, "memory", f"{found} and left no memory for others")

    def _hold_to_limits(self, child: Child, limits: Limits, seconds: float) -> None:
        timeout, most = limits.timeout, limits.memory
        if timeout is not None and seconds > timeout:
            self._kill(child, "timeout", f"ran longer than {format_duration(timeout)}")
        elif most is not None and child.peak > most:
            found = f"took {format_size(child.peak)}; allowed: {format_size(most)}"
            self._kill(child, "memory", found)

    def _kill(self, child: Child, status: str, reason: str) -> None:
        child.verdict, child.killed = (status, reason), time.monotonic()
        self._connection().send({"kill": child.pid})

    def _measured(self, child: Child) -> dict[str, object]:
        """Return what was seen of a task from outside."""
        return {
            "wall": time.monotonic() - child.begun,
            "alone": child.alone,
            "tree_peak": child.peak,
            "threads": self.limits.threads,
            "environment": environment(),
        }

    def _outcome(self, child: Child, code: int) -> Outcome:
        """Put together how a task ended from what it wrote and how its process ended."""
        seen = Outcome(
            "failed",
            output=several_lines(child.output.decode(errors="replace")),
            result=self._measured(child),
            folder=child.folder,
        )
        if child.verdict is not None:
            status, reason = child.verdict
            return replace(seen, status=status, reason=reason)
        if code == CANNOT_WRITE:
            last = seen.output.strip().rpartition("\n")[2]
            trouble = storage_trouble(last, child.token, child.folder.parent)
            if trouble:
                raise StorageError(f"{child.task.name}: {trouble}")
        if code == -signal.SIGKILL and memory.kills() > child.kills_before:
            return replace(seen, status="memory", reason="the system ran out of memory")
        if code != 0 or not os.path.lexists(child.folder / FILE):
            return replace(seen, reason=describe_exit(code))
        try:
            drop_strange_files(child.folder)
            found = read_outcome(child.folder, child.task.returns)
        except (OSError, ValueError, RecursionError) as error:
            reason = f"left an outcome that cannot be believed: {error}"
            return replace(seen, reason=one_line(reason))
        return replace(found, output=seen.output, result={**found.result, **seen.result})

    def kill_all(self) -> None:
        """Kill every running task and wait until it is gone."""
        for child in self.running.values():
            child.verdict = child.verdict or ("failed", "interrupted")
            child.killed = child.killed or time.monotonic()
            with contextlib.suppress(ServerLostError):
                self._connection().send({"kill": child.pid})
        while self.running:
            for child, _ in self._wait()[0]:
                shutil.rmtree(child.folder, ignore_errors=True)

    def close(self) -> None:
        """End the server and with it every child."""
        self.selector.close()
        if self.server is not None:
            self.server.close()
