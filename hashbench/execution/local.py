"""The local executor: up to so many tasks at once on this machine, each in a process of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from multiprocessing import Pipe
from pathlib import Path

from hashbench.core.errors import StorageError
from hashbench.core.isolation import describe_exit
from hashbench.core.threads import thread_variables
from hashbench.execution.executor import CancelledError, Event, Limits, Outcome, Task

POLL_SECONDS = 0.1  # between two checks whether a run is cancelled
END_SECONDS = 10  # for a pool to kill its tasks


class PoolProcess:
    """A process that runs :mod:`hashbench.execution.pool`; it begins to import at once.

    Parameters
    ----------
    threads : threads of each task
    """

    def __init__(self, threads: int) -> None:
        self.connection, theirs = Pipe()
        self.threads = threads
        self.busy = False
        self.tasks: set[int] = set()  # processes that were started for tasks
        self.process = subprocess.Popen(
            # -P: the installed package, not a source tree in the current folder
            [sys.executable, "-P", "-m", "hashbench.execution.pool", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env={**os.environ, **thread_variables(threads)},
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the run to handle
        )
        theirs.close()

    def run(self, tasks: Sequence[Task], folder: Path) -> Generator[Event | None, None, None]:
        """Run tasks and yield their events; None ten times a second when there are none."""
        self.busy = True
        self.connection.send((tasks, folder))
        started: dict[int, int] = {}
        while True:
            if not self.connection.poll(POLL_SECONDS):
                yield None
                continue
            message = self.connection.recv()
            if message is None:
                break
            number, content = message
            if isinstance(content, StorageError):
                raise content
            if isinstance(content, Outcome):
                self.tasks.discard(started.pop(number, 0))
                yield Event(tasks[number], content)
            elif isinstance(content, str):
                yield Event(tasks[number], log_line=content)
            else:
                started[number] = content
                self.tasks.add(content)
                yield Event(tasks[number])
        self.busy = False

    def close(self) -> None:
        """End the pool and every task."""
        self.connection.close()
        if not self.busy:
            self.process.kill()  # it may still be importing
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def end_tasks(self) -> int:
        """Kill the tasks of a pool that has ended; return its exit code."""
        for pid in self.tasks:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
        return self.process.wait()


@dataclass
class LocalExecutor:
    """Runs tasks in processes of this machine.

    Parameters
    ----------
    jobs : number of tasks at once
    limits : limits of a task
    plugins : the user's files and folders with plugins
    cache : a folder for prepared data
    keep_data : leave prepared data in the cache when no task needs them any more
    cancelled : called now and then; if it returns True, every task is ended
    pool : a pool that was started early, with the same number of threads
    """

    jobs: int
    limits: Limits
    plugins: Sequence[Path]
    cache: Path
    keep_data: bool = False
    cancelled: Callable[[], bool] = bool
    pool: PoolProcess | None = None

    def __post_init__(self) -> None:
        self._configure(self.pool or PoolProcess(self.limits.threads))

    def _configure(self, pool: PoolProcess) -> PoolProcess:
        from hashbench.execution.pool import Settings

        # a task may change its current folder
        plugins, cache = [path.resolve() for path in self.plugins], self.cache.resolve()
        with contextlib.suppress(ConnectionError):  # it has ended; the first task will show it
            pool.connection.send(Settings(self.jobs, self.limits, plugins, cache, self.keep_data))
        self.pool = pool
        return pool

    def run(self, tasks: Sequence[Task], folder: Path) -> Generator[Event, None, None]:
        """Run tasks and what they need; see :class:`hashbench.execution.executor.Executor`."""
        pool = self.pool or self._configure(PoolProcess(self.limits.threads))
        try:
            for event in pool.run(tasks, folder.resolve()):
                if event is not None:
                    yield event
                elif self.cancelled():
                    raise CancelledError
        except (EOFError, ConnectionError) as error:
            code = pool.end_tasks()
            raise ConnectionError(
                f"the process that starts cells: {describe_exit(code)}"
            ) from error
        finally:
            if pool.busy:
                self.close()

    def close(self) -> None:
        """End the pool and with it every task."""
        if self.pool is not None:
            self.pool.close()
            self.pool = None
