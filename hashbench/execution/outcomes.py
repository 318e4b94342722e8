"""The border between a child and us: whatever a child leaves is data about one task.

A method runs in the process that writes the outcome, so the file may hold anything, or be
anything: it is read with a limit and believed only where it has the form that was asked for.
"""

from __future__ import annotations

import errno
import json
import math
import os
import stat
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hashbench.core.text import one_line, several_lines
from hashbench.execution.executor import STATUSES, Outcome

FILE = "outcome.json"

#: Larger ones were not written by us: texts are cut before they are written.
LARGEST = 1 << 20

#: The exit code of a child that could not write its outcome, and how the last line of its output
#: begins. A number that only the harness was told follows, so that nobody says so by chance.
CANNOT_WRITE = 74
CANNOT_WRITE_SIGN = "hashbench, no outcome: "

#: What is wrong with the disk and not with the one who writes to it.
_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.ESTALE)
_PROBE = 1 << 20  # bytes


def is_flag(value: Any) -> bool:
    """True for true and false."""
    return isinstance(value, bool)


def is_count(value: Any) -> bool:
    """True for a whole number from 0 up."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63


def is_amount(value: Any) -> bool:
    """True for a finite number from 0 up."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value) and value >= 0


def is_text(value: Any) -> bool:
    """True for a text."""
    return isinstance(value, str)


def is_texts(value: Any) -> bool:
    """True for a list of texts."""
    return isinstance(value, list) and all(is_text(each) for each in value)


def is_amounts(value: Any) -> bool:
    """True for finite numbers by name."""
    return isinstance(value, dict) and all(is_amount(each) for each in value.values())


def read_outcome(folder: Path, returns: Mapping[str, Callable[[Any], bool]]) -> Outcome:
    """Return how a task says that it ended; raise ValueError if it says nothing sensible."""
    found = json.loads(_content(folder / FILE))
    if not isinstance(found, dict) or found.get("status") not in STATUSES:
        raise ValueError(f"found {one_line(found, 80)!r}; allowed: a status")
    for key in ("reason", "traceback"):
        if not isinstance(found.get(key, ""), str):
            raise ValueError(f"{key}: found {one_line(found[key], 80)!r}; allowed: a text")
    result = found.get("result", {})
    if not isinstance(result, dict):
        raise ValueError(f"result: found {one_line(result, 80)!r}; allowed: values by name")
    if found["status"] == "done":
        for key, test in returns.items():
            if not test(result.get(key)):
                value = one_line(repr(result.get(key)), 80)
                raise ValueError(f"{key}: found {value}, which is not what was asked for")
    return Outcome(
        status=found["status"],
        reason=one_line(found.get("reason", "")),
        traceback=several_lines(found.get("traceback", "")),
        result=_harmless(result),
        folder=folder,
    )


def _harmless(value: Any) -> Any:
    """Return what JSON can hold with every text in it on one line and not too long."""
    if isinstance(value, str):
        return one_line(value)
    if isinstance(value, list):
        return [_harmless(each) for each in value]
    if isinstance(value, dict):
        return {one_line(key): _harmless(each) for key, each in value.items()}
    return value


def _content(path: Path) -> bytes:
    """Read a file that may be a pipe, a link to something else, or without end."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as stream:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST:
            raise ValueError("found something else than a small file")
        return stream.read(LARGEST)


def drop_strange_files(folder: Path) -> None:
    """Take away links, pipes and folders that a task has left among its files."""
    for entry in os.scandir(folder):
        if not entry.is_file(follow_symlinks=False):
            place = Path(tempfile.mkdtemp(dir=folder.parent, prefix="strange-"))
            os.rename(entry.path, place / "entry")


def storage_trouble(said: str, token: str, folder: Path) -> str:
    """Return why results cannot be written, if a child's last line says so and it is true.

    A child that has deleted its own folder cannot write either, and that is its own affair.
    """
    sign = f"{CANNOT_WRITE_SIGN}{token} "
    if not said.startswith(sign):
        return ""
    number, _, reason = said.removeprefix(sign).partition(" ")
    if number.isdecimal() and int(number) in _DISK:
        return one_line(reason)
    try:
        with tempfile.TemporaryFile(dir=folder) as stream:
            stream.write(bytes(_PROBE))
    except OSError:
        return one_line(reason)
    return ""
