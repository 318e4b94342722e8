"""A task while it runs, and how it looks from outside: its processes, their memory, their end."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from hashbench.executors import Task


@dataclass
class Child:
    """A running task; `pid` is its keeper's, `seen` are the processes found below that."""

    task: Task
    pid: int
    folder: Path
    pipe: int
    begun: float
    alone: bool
    token: str
    output: bytes = b""
    peak: int = 0
    said: str = ""
    seen: set[psutil.Process] = field(default_factory=set)
    verdict: tuple[str, str] | None = None  # status and reason, once it has been killed
    killed: float = 0.0


def below(pid: int) -> set[psutil.Process]:
    """Return the processes that descend from one."""
    try:
        return set(psutil.Process(pid).children(recursive=True))
    except psutil.NoSuchProcess:
        return set()


def resident(processes: Iterable[psutil.Process]) -> int:
    """Return the resident set of processes, those that are gone not counted, in bytes."""
    total = 0
    for each in processes:
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
