"""Where cells are computed: in processes of this machine, or on the workers of a Dask cluster.

An executor takes tasks and gives outcomes; it knows nothing of studies or of stores.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

STATUSES = ("done", "failed", "timeout", "memory", "skipped")


@dataclass(frozen=True)
class Limits:
    """What a limited task may use; None means no limit of its own."""

    timeout: float | None = None
    memory: int | None = None
    threads: int = 1


@dataclass(frozen=True)
class Task:
    """A function to call in a process of its own.

    Attributes
    ----------
    function : "module:name"; called as f(registry, folder, cache, **arguments)
    arguments : what JSON can hold
    name : what people call it
    makes : the folder that it leaves in the cache
    needs : a task whose folder in the cache this one reads
    limited : whether the study's limits of time and memory hold for it; they are for methods
    limits : limits of its own instead: those of reading files
    returns : what its result must hold, and a test for each; see hashbench.execution.outcomes
    """

    function: str
    arguments: Mapping[str, Any] = field(hash=False)
    name: str
    makes: str = ""
    needs: Task | None = None
    limited: bool = False
    limits: Limits | None = None
    returns: Mapping[str, Callable[[Any], bool]] = field(default_factory=dict, hash=False)


@dataclass
class Outcome:
    """How a task ended.

    Attributes
    ----------
    status : one of STATUSES
    reason : one line, if not done
    traceback : where it failed
    output : the end of what it printed
    result : what the function returned, and what was measured from outside
    folder : the files it wrote
    """

    status: str
    reason: str = ""
    traceback: str = ""
    output: str = ""
    result: dict[str, Any] = field(default_factory=dict)
    folder: Path | None = None


@dataclass(frozen=True)
class Event:
    """A task has started (no outcome yet), has said how far it is, or ended."""

    task: Task
    outcome: Outcome | None = None
    said: str = ""


class Executor(Protocol):
    """Runs tasks."""

    def run(self, tasks: Sequence[Task], folder: Path) -> Generator[Event, None, None]:
        """Run tasks, in order where possible; files go to folders below `folder`.

        Closing the iterator ends every task that is still running.
        """
        ...

    def close(self) -> None:
        """End every process that was started."""
        ...


class CancelledError(Exception):
    """Nobody waits for the task any more."""
