"""Interface of executors, which compute cells on this machine or on the workers of a Dask cluster.

An executor takes tasks and returns outcomes; it knows nothing of studies or of stores.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

STATUSES = ("done", "failed", "timeout", "memory", "skipped")


@dataclass(frozen=True)
class Limits:
    """Limits of one task; None means no limit.

    Attributes
    ----------
    timeout : seconds
    memory : bytes
    threads : number of threads
    """

    timeout: float | None = None
    memory: int | None = None
    threads: int = 1


@dataclass(frozen=True)
class Task:
    """A function to call in a process of its own.

    Attributes
    ----------
    function : "module:name"; called as f(registry, folder, cache, **arguments)
    arguments : values that JSON can hold
    name : name for messages
    makes : the folder in the cache that the task writes
    needs : a task whose folder in the cache this one reads
    limited : whether the study's limits of time and memory apply
    """

    function: str
    arguments: Mapping[str, Any] = field(hash=False)
    name: str
    makes: str = ""
    needs: Task | None = None
    limited: bool = False


@dataclass
class Outcome:
    """How a task ended.

    Attributes
    ----------
    status : one of STATUSES
    reason : one line, if not done
    traceback : of the error, if one was raised
    output : the end of what the task printed
    result : what the function returned, and what the executor measured
    folder : the files that the task wrote
    """

    status: str
    reason: str = ""
    traceback: str = ""
    output: str = ""
    result: dict[str, Any] = field(default_factory=dict)
    folder: Path | None = None


@dataclass(frozen=True)
class Event:
    """A task has started (no outcome, no log line), has written a line to its log, or has ended."""

    task: Task
    outcome: Outcome | None = None
    log_line: str = ""


class Executor(Protocol):
    """Runs tasks."""

    def run(self, tasks: Sequence[Task], folder: Path) -> Generator[Event, None, None]:
        """Run tasks, in order where possible; each writes into a new folder in `folder`.

        Closing the iterator ends every task that is still running.
        """
        ...

    def close(self) -> None:
        """End every process that was started."""
        ...


class CancelledError(Exception):
    """The task is no longer wanted."""
