"""The log of a running task: what it prints, and its progress.

A file in the task's work folder, deleted with it. It is only shown, never read as data.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import IO

from hashbench.core.units import format_duration

NAME = "live.log"
LARGEST = 1 << 20  # bytes; a task that prints for ever must not fill the disk
SECONDS = 1.0  # between two lines on how far a fit has come


def append(folder: Path, data: bytes) -> None:
    """Add to the log of a folder; do nothing if it cannot be written."""
    with contextlib.suppress(OSError), _opened(folder, os.O_WRONLY | os.O_CREAT) as log:
        if log.seek(0, os.SEEK_END) < LARGEST:
            log.write(data)


def last_line(folder: Path) -> str:
    """Return the last whole line of a log after its first, which names the task; or nothing."""
    try:
        with _opened(folder, os.O_RDONLY) as log:
            size = log.seek(0, os.SEEK_END)
            log.seek(max(0, size - 1024))
            lines = log.read().split(b"\n")[1:-1]
    except OSError:
        return ""
    return lines[-1].decode(errors="replace").strip() if lines else ""


def _opened(folder: Path, flags: int) -> IO[bytes]:
    """Open a log; a link or pipe that a task put in its place is refused, not waited for."""
    flags |= os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(folder / NAME, flags, 0o644)
    return os.fdopen(descriptor, "rb" if flags & os.O_ACCMODE == os.O_RDONLY else "ab", 0)


class TaskLog:
    """Writes to the log how far a fit has come, once a second at most.

    Parameters
    ----------
    folder : the task's
    total : how many iterations there will be, if that is known
    """

    def __init__(self, folder: Path, total: int | None) -> None:
        self.folder, self.total = folder, total
        self.last = time.monotonic()

    def __call__(self, count: int, value: float, seconds: float) -> None:
        """Write a line, unless there was one a moment ago."""
        now = time.monotonic()
        if now - self.last < SECONDS:
            return
        self.last = now
        text = f"iteration {count}"
        if self.total is not None and self.total >= count:
            left = format_duration(seconds / count * (self.total - count))
            text += f" of {self.total}, about {left} left"
        append(self.folder, f"{text}: objective {value:.6g}\n".encode())
