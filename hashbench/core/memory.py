"""Memory of the machine or the container, and processes killed for lack of it."""

from __future__ import annotations

import contextlib
from functools import cache
from pathlib import Path

import psutil

_CGROUPS = Path("/sys/fs/cgroup")


def available() -> int:
    """Return the bytes that may still be allocated, on the machine and in this control group."""
    free = int(psutil.virtual_memory().available)
    for folder, limit, used in _limits():
        with contextlib.suppress(OSError, ValueError):
            held = int((folder / used).read_text())
            free = min(free, int((folder / limit).read_text()) - held + _reclaimable(folder))
    return max(free, 0)


def total() -> int:
    """Return the bytes of memory of the machine, or of this control group if it has fewer."""
    size = int(psutil.virtual_memory().total)
    for folder, limit, _ in _limits():
        with contextlib.suppress(OSError, ValueError):  # "max": no limit
            size = min(size, int((folder / limit).read_text()))
    return size


def kills() -> int:
    """Return how many processes the kernel has killed so far because memory ran out."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/vmstat").read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0


@cache
def _limits() -> list[tuple[Path, str, str]]:
    """Return the folders that limit this process, with the files of limit and use in them."""
    found = []
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, kinds, path = line.split(":", 2)
            if kinds == "":  # version 2
                found.append((_CGROUPS, path, "memory.max", "memory.current"))
            elif "memory" in kinds.split(","):
                names = "memory.limit_in_bytes", "memory.usage_in_bytes"
                found.append((_CGROUPS / "memory", path, *names))
    return [
        (folder, limit, used)
        for root, path, limit, used in found
        # inside a container its own group is mounted as the root
        for folder in dict.fromkeys((root / path.lstrip("/"), root))
        if (folder / limit).is_file()
    ]


def _reclaimable(folder: Path) -> int:
    """Return the bytes of a group's use that the kernel gives back: cached files."""
    for line in (folder / "memory.stat").read_text().splitlines():
        name, _, value = line.partition(" ")
        if name in ("inactive_file", "total_inactive_file"):
            return int(value)
    return 0
