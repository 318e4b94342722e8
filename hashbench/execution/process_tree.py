"""The processes below a process: found, measured and killed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import psutil

#: Whether this system lists the children of a process; most kernels of Linux do.
_LISTED = Path(f"/proc/self/task/{os.getpid()}/children").exists()


def children(pid: int) -> list[int]:
    """Return the children of a process.

    psutil looks through every process of the machine, which takes a tenth of a core at ten times
    a second.
    """
    found: list[int] = []
    if not _LISTED:
        with contextlib.suppress(psutil.NoSuchProcess):
            found = [child.pid for child in psutil.Process(pid).children()]
        return found
    with contextlib.suppress(OSError):  # a thread or the process has ended meanwhile
        for thread in os.listdir(f"/proc/{pid}/task"):
            text = Path(f"/proc/{pid}/task/{thread}/children").read_text()
            found += [int(child) for child in text.split()]
    return found


def process_tree(pid: int) -> Iterator[int]:
    """Yield a process and its descendants."""
    yield pid
    for child in children(pid):
        yield from process_tree(child)


def resident_memory(pid: int) -> int:
    """Return the resident set size of a process and its descendants, in bytes."""
    total = 0
    for each in process_tree(pid):
        with contextlib.suppress(psutil.NoSuchProcess):
            total += int(psutil.Process(each).memory_info().rss)
    return total


def kill_tree(pid: int) -> None:
    """Kill a process and its descendants."""
    for each in list(process_tree(pid)):
        with contextlib.suppress(psutil.NoSuchProcess):
            psutil.Process(each).kill()
