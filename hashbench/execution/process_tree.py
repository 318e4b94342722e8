"""A task while it runs, and how it looks from outside: its processes, their memory, their end."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from hashbench.core import memory
from hashbench.execution.executor import Task

#: Whether this system lists the children of a process; most kernels of Linux do.
_LISTED = Path(f"/proc/self/task/{os.getpid()}/children").exists()


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
    kills_before: int = field(default_factory=memory.kills)  # by the kernel, for lack of memory
    output: bytes = b""
    peak: int = 0
    said: str = ""
    seen: set[psutil.Process] = field(default_factory=set)
    verdict: tuple[str, str] | None = None  # status and reason, once it has been killed
    killed: float = 0.0


def below(pid: int) -> set[psutil.Process]:
    """Return the processes that descend from one."""
    found = set()
    for each in _descendants(pid):
        with contextlib.suppress(psutil.NoSuchProcess):
            found.add(psutil.Process(each))
    return found


def _descendants(pid: int) -> Iterator[int]:
    """Yield the numbers of processes below one, as Linux lists them, or by the parents of all.

    To look through every process of the machine ten times a second takes a tenth of a core.
    """
    if not _LISTED:
        with contextlib.suppress(psutil.NoSuchProcess):
            yield from (each.pid for each in psutil.Process(pid).children(recursive=True))
        return
    waiting = [pid]
    while waiting:
        # every thread has children of its own; what ends meanwhile is not there any more
        parent = waiting.pop()
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{parent}/task"):
                text = Path(f"/proc/{parent}/task/{thread}/children").read_text()
                children = [int(each) for each in text.split()]
                yield from children
                waiting += children


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
