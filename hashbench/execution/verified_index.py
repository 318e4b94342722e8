"""Cells that were checked before: as long as nobody touches their files, they are not read again.

``OUT/.checked`` has a line a cell: what it is, how it ended, and how the system described its files
just before they were compared with their checksums. A line carries a checksum of its own and holds
only while the description is the same. Whoever writes to a file, replaces or renames it changes
the time of its inode's last change, which nobody can set; a copy of the folder has other inodes.

What a disk forgets by itself shows in no description. So `verify` believes no line, and codes are
compared with their checksum before they are first read, see :meth:`Stored.codes`. The file may be
deleted at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hashbench.core.io import atomic_write
from hashbench.core.records import from_json, to_json
from hashbench.execution.cell import Cell
from hashbench.execution.run_record import RunRecord

FILE = ".checked"

#: The files of a cell, in the order of a description.
FILES = ("cell.json", "status.json", "codes.npz", "history.npz")

#: Nanoseconds in which a file system may not tell two changes apart.
TICK = 2 * 10**9

#: Versions and machines that lines have named: one of each, however many cells ran there.
_environments: dict[str, Any] = {}

#: Of every file its inode, size and times of change; None where there is none.
Description = list[list[int] | None]


@dataclass(frozen=True)
class CheckedCell:
    """What a line says: the cell, how it ended, and the files that said so."""

    cell: Cell
    record: RunRecord
    description: Description

    def to_line(self) -> bytes:
        """Return the line, after a break that ends whatever a full disk has cut before it."""
        about = (self.description, self.record.to_json(), to_json(self.cell))
        text = b"\t".join(json.dumps(each, separators=(",", ":")).encode() for each in about)
        return b"\n%b %b %b" % (_check(self.cell.id.encode(), text), self.cell.id.encode(), text)

    @classmethod
    def from_line(cls, line: bytes, cell: Cell | None = None) -> CheckedCell | None:
        """Read a line, of that cell if it is known; None if it is not what was written."""
        try:
            check, name, text = line.split(b" ", 2)
            if check != _check(name, text):
                return None
            description, record, about = text.split(b"\t")
            if cell is None:
                cell = from_json(Cell, json.loads(about))
                cell.__dict__["id"] = name.decode()  # computed when the cell was checked
            values = json.loads(record)
            values["pools"] = tuple(values["pools"])
            environment = values["environment"]
            values["environment"] = _environments.setdefault(repr(environment), environment)
            return cls(cell, RunRecord(**values), json.loads(description))
        except (ValueError, TypeError, KeyError, RecursionError):
            return None


def _check(name: bytes, text: bytes) -> bytes:
    return hashlib.sha256(name + b" " + text).hexdigest()[:16].encode()


def describe(folder: str) -> Description:
    """Return how the system describes the files of a cell now."""
    return [_described(f"{folder}{os.sep}{name}") for name in FILES]


def _described(path: str) -> list[int] | None:
    try:
        seen = os.stat(path)
    except OSError:
        return None
    return [seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns]


class CheckedCells:
    """The lines of a folder of results.

    Parameters
    ----------
    out : the folder
    """

    def __init__(self, out: Path) -> None:
        self.path = out / FILE
        self._lines: list[bytes] = []
        with contextlib.suppress(OSError):
            self._lines = [line for line in self.path.read_bytes().split(b"\n") if line]
        #: of several lines of a cell the last
        self._last = {line[17:37]: line for line in self._lines}
        self._new: list[CheckedCell] = []

    def recall(self, folder: str, name: str, cell: Cell | None = None) -> CheckedCell | None:
        """Return what was checked in a folder of that name, if nobody has touched it since."""
        line = self._last.get(os.fsencode(name))
        found = None if line is None else CheckedCell.from_line(line, cell)
        if found is None:
            return None
        # a file that was not there is none of the cell's, whoever may have put it there
        same = all(
            each is None or each == _described(f"{folder}{os.sep}{name}")
            for name, each in zip(FILES, found.description, strict=False)
        )
        return found if same and len(found.description) == len(FILES) else None

    def learn(self, found: CheckedCell) -> None:
        """Remember a cell that was just checked, unless its files are too new to be told apart."""
        newest = max(each[-1] for each in found.description if each is not None)
        if newest < time.time_ns() - TICK:
            self._new.append(found)

    def keep(self) -> None:
        """Write what was learned; where nothing can be written, it is learned again."""
        if len(self._lines) > 2 * len(self._last) + len(self._new):
            with contextlib.suppress(OSError), atomic_write(self.path) as stream:
                stream.writelines(f"\n{line.decode()}" for line in self._last.values())
        append(self.path.parent, self._new)
        self._new = []

    def damaged(self) -> int:
        """Return how many lines are not what was written."""
        return sum(CheckedCell.from_line(line) is None for line in self._lines)


def append(out: Path, found: Iterable[CheckedCell]) -> None:
    """Add lines in one go: others may do so at the same time."""
    data = b"".join(each.to_line() for each in found)
    with contextlib.suppress(OSError):
        if data:
            handle = os.open(out / FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                os.write(handle, data)
            finally:
                os.close(handle)
