"""The store: a folder of results that loses nothing and believes nothing it cannot check.

A cell's folder appears by one rename, complete or not at all. Every file is listed with its
checksum, and a cell's id can be computed from its own record, so that a damaged or foreign folder
is noticed; it is moved aside and named, never deleted. One process at a time writes: a lock that
the system releases when its owner dies, however it dies.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Self

import numpy.typing as npt

from hashbench.base.errors import HashbenchError, describe_os_error
from hashbench.base.files import checksum, load_arrays, replacing, write_json
from hashbench.data.stored_split import StoredSplit, load_pictures, pictures_name
from hashbench.plugins.dataset import ContactSheet
from hashbench.studies.cell import Cell
from hashbench.studies.cell_codes import CellCodes
from hashbench.studies.record import RunRecord
from hashbench.studies.trials import Trials

SCHEMA = 1


@dataclass(frozen=True)
class Stored:
    """A cell in the store, with its record."""

    cell: Cell
    record: RunRecord
    folder: Path

    @property
    def status(self) -> str:
        """How the cell ended."""
        return self.record.status

    def codes(self) -> CellCodes:
        """Return the codes, which only a done cell has."""
        return CellCodes.load(self.folder / "codes.npz")

    def history(self) -> dict[str, npt.NDArray[Any]]:
        """Return the objective by iteration, empty where the method has none."""
        path = self.folder / "history.npz"
        return load_arrays(path) if path.exists() else {}


class Store:
    """The results of a study on disk.

    Parameters
    ----------
    path : the folder, called OUT in messages
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cells = path / "cells"
        self.splits = path / "splits"
        self.aside = path / "set-aside"
        self.trials = Trials(path / "trials")
        self.work = path / ".work"
        self.prepared = path / ".prepared"
        self._lock: IO[str] | None = None

    def __enter__(self) -> Self:
        """Take the lock and clear away what a killed run has left half done."""
        try:
            for folder in (self.cells, self.splits):
                folder.mkdir(parents=True, exist_ok=True)
            self._lock = (self.path / ".lock").open("a+")
        except OSError as error:
            reason = describe_os_error(error, self.path)
            raise HashbenchError(f"{self.path} cannot be a folder of results: {reason}") from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.seek(0)
            owner = self._lock.read().strip() or "another process"
            self._lock.close()
            raise HashbenchError(
                f"{self.path} is in use by {owner}; wait for it to end, or choose another folder "
                "with -o"
            ) from None
        self._lock.truncate(0)
        self._lock.write(f"process {os.getpid()} on {os.uname().nodename}")
        self._lock.flush()
        self._recover()
        return self

    def __exit__(self, *_: object) -> None:
        self._recover()
        if self._lock is not None:
            self._lock.truncate(0)
            self._lock.close()

    def owner(self) -> str | None:
        """Return who writes here now, or nobody; what a killed process left does not count."""
        try:
            found = (self.path / ".lock").read_text().strip()
        except OSError:
            return None
        match = re.fullmatch(r"process (\d+) on (.*)", found)
        if match is None or (match[2] == os.uname().nodename and not _exists(int(match[1]))):
            return None
        return found

    def _recover(self) -> None:
        """Undo the replacement of a cell that was cut in the middle; clear everything else."""
        for old in self.work.glob("old-*"):
            place = self.cells / old.name.removeprefix("old-")
            if not place.exists():
                os.rename(old, place)
        for folder in (self.work, self.prepared):
            shutil.rmtree(folder, ignore_errors=True)

    def get(self, cell_id: str) -> Stored | None:
        """Return a cell, or None if it is not there; raise DamagedError if it is not right."""
        folder = self.cells / cell_id
        return read_cell(folder) if folder.exists() else None

    def read(self, cell_ids: Sequence[str]) -> dict[str, Stored]:
        """Return those cells that are there; wrong ones are skipped here and found by `audit`."""
        found = {}
        for cell_id in cell_ids:
            with contextlib.suppress(DamagedError):
                stored = self.get(cell_id)
                if stored is not None:
                    found[cell_id] = stored
        return found

    def audit(self) -> list[str]:
        """Move every folder aside that is no cell of this store; return a line for each."""
        lines = []
        for folder in sorted(self.cells.iterdir()):
            try:
                read_cell(folder)
            except DamagedError as error:
                self.aside.mkdir(exist_ok=True)
                place = Path(tempfile.mkdtemp(dir=self.aside, prefix=f"{folder.name}-"))
                os.rename(folder, place / folder.name)
                lines.append(f"set aside {folder.name} in {place}: {error}")
        return lines

    def put(self, cell: Cell, record: RunRecord, files: Path | None) -> Stored:
        """Store a cell with the files of a folder; an earlier outcome of it is replaced."""
        folder = self._new()
        checksums = {}
        for name in ("codes.npz", "history.npz"):
            if record.status == "done" and files is not None and (files / name).exists():
                os.rename(files / name, folder / name)
                checksums[name] = checksum(folder / name)
        write_json(folder / "cell.json", {"schema": SCHEMA, "id": cell.id, "cell": cell.to_json()})
        record = replace(record, files=checksums)
        write_json(folder / "status.json", {"schema": SCHEMA, **record.to_json()})
        self._place(folder, cell.id)
        return Stored(cell, record, self.cells / cell.id)

    def copy(self, stored: Stored) -> None:
        """Take in a cell of another store; an earlier outcome of it is replaced."""
        folder = self._new()
        shutil.copytree(stored.folder, folder, dirs_exist_ok=True)
        self._place(folder, stored.cell.id)

    def _new(self) -> Path:
        self.work.mkdir(exist_ok=True)
        return Path(tempfile.mkdtemp(dir=self.work, prefix="new-"))

    def _place(self, folder: Path, cell_id: str) -> None:
        """Give a complete folder its name; a kill between the renames is mended on opening."""
        place, old = self.cells / cell_id, self.work / f"old-{cell_id}"
        folder.chmod(0o755)  # temporary folders are private; results are to be read
        if place.exists():
            os.rename(place, old)
        os.rename(folder, place)
        shutil.rmtree(old, ignore_errors=True)

    def put_split(self, path: Path) -> None:
        """Take in the file of a split; a file of that name says the same, unless damaged."""
        os.replace(path, self.splits / path.name)

    def copy_split(self, path: Path) -> None:
        """Take in the file of a split from another store."""
        temporary = self._new() / path.name
        shutil.copyfile(path, temporary)
        self.put_split(temporary)

    def split(self, name: str) -> StoredSplit:
        """Return labels, rows and strings of a split."""
        return StoredSplit.load(self.splits / f"{name}.npz")

    def pictures(self, fingerprint: str) -> ContactSheet | None:
        """Return pictures of a dataset's items, if it gave any."""
        path = self.splits / f"{pictures_name(fingerprint)}.npz"
        return load_pictures(path) if path.exists() else None

    def write_text(self, name: str, text: str) -> None:
        """Write a file of the folder, complete or not at all."""
        with replacing(self.path / name) as stream:
            stream.write(text)


class DamagedError(ValueError):
    """A folder that claims to be a cell and is not a right one."""


def read_cell(folder: Path) -> Stored:
    """Return a cell that is complete and unchanged, or raise DamagedError."""
    try:
        about = json.loads((folder / "cell.json").read_text())
        cell = Cell.from_json(about["cell"])
        found = json.loads((folder / "status.json").read_text())
        schemas = {about["schema"], found.pop("schema")}
        if schemas == {SCHEMA}:
            record = RunRecord.from_json(found)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise DamagedError(f"its records cannot be read ({error})") from error
    if schemas != {SCHEMA}:
        others = ", ".join(sorted(str(schema) for schema in schemas - {SCHEMA}))
        raise DamagedError(f"found schema {others}; this version reads {SCHEMA}")
    if cell.id != folder.name:
        raise DamagedError(f"its records belong to the cell {cell.id}")
    if record.status == "done" and "codes.npz" not in record.files:
        raise DamagedError("it has no codes")
    for name, expected in record.files.items():
        path = folder / name
        if not path.is_file() or checksum(path) != expected:
            raise DamagedError(f"{name} is missing or has changed")
    return Stored(cell, record, folder)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's
        return True
    return True
