"""The folder of results: cells are written atomically, and checked when they are read.

A cell's folder appears by one rename. Its record lists its files with their checksums, and its id
can be computed from the record, so that damaged and foreign folders are found; they are moved to
``set-aside`` and named, never deleted. One process at a time writes: a lock that the system
releases when its owner dies.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy.typing as npt
import psutil
from filelock import FileLock, Timeout

from hashbench.core.errors import DamagedError, HashbenchError, describe_os_error
from hashbench.core.io import (
    atomic_write,
    checksum,
    load_checked_arrays,
    read_record,
    write_record,
)
from hashbench.core.npz import read_arrays
from hashbench.core.records import from_json, to_json
from hashbench.data.splits import StoredSplit, load_pictures, pictures_name
from hashbench.execution.cell import Cell
from hashbench.execution.cell_codes import CellCodes
from hashbench.execution.run_record import RunRecord
from hashbench.execution.tuning.trials import Trials
from hashbench.plugins.dataset import ContactSheet

SCHEMA = 3

#: The record of a cell in its folder.
CELL_FILE = "cell.json"


@dataclass(frozen=True)
class Stored:
    """A cell in the store, with the record of its run, and the folder of all cells."""

    cell: Cell
    record: RunRecord
    cells: Path

    @property
    def folder(self) -> Path:
        """The folder with the cell's files."""
        return self.cells / self.cell.id

    @property
    def status(self) -> str:
        """How the cell ended."""
        return self.record.status

    def codes(self) -> CellCodes:
        """Return the codes, which only a done cell has; HashbenchError if they have changed."""
        return CellCodes.load(self._checked_file("codes.npz"))

    def history(self) -> dict[str, npt.NDArray[Any]]:
        """Return the objective by iteration, empty if the method has none."""
        name = "history.npz"
        return read_arrays(self._checked_file(name)) if name in self.record.files else {}

    def _checked_file(self, name: str) -> Path:
        path = self.folder / name
        if not path.is_file() or checksum(path) != self.record.files[name]:
            raise HashbenchError(f"{path} is missing or has changed; run the study again")
        return path


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
        self._lock = FileLock(path / ".lock")
        self._owner_file = path / ".owner"

    def __enter__(self) -> Self:
        """Take the lock and remove the temporary files of a killed run."""
        self._new_folders = [each for each in (self.path, *self.path.parents) if not each.exists()]
        try:
            for folder in (self.cells, self.splits):
                folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(blocking=False)
        except Timeout:
            owner = self._read_owner() or "another process"
            raise HashbenchError(
                f"{self.path} is in use by {owner}; wait for it to end, or choose another folder "
                "with -o"
            ) from None
        except OSError as error:
            reason = describe_os_error(error, self.path)
            raise HashbenchError(f"{self.path} cannot be a folder of results: {reason}") from error
        self._owner_file.write_text(f"process {os.getpid()} on {os.uname().nodename}")
        self._recover()
        return self

    def __exit__(self, *_: object) -> None:
        self._recover()
        self._owner_file.unlink(missing_ok=True)
        self._lock.release()
        if self._new_folders and set(os.listdir(self.path)) <= {"cells", "splits", ".lock"}:
            self._remove_empty()

    def _remove_empty(self) -> None:
        """Remove the folders of a run that ended before it had a plan."""
        with contextlib.suppress(OSError):  # a folder that is not empty is kept
            self.cells.rmdir()
            self.splits.rmdir()
            (self.path / ".lock").unlink(missing_ok=True)
            for folder in self._new_folders:
                folder.rmdir()

    def _read_owner(self) -> str:
        try:
            return self._owner_file.read_text()
        except OSError:
            return ""

    def owner(self) -> str | None:
        """Return the process that writes here now, or None; a killed process does not count."""
        found = self._read_owner()
        match = re.fullmatch(r"process (\d+) on (.*)", found)
        here = match is not None and match[2] == os.uname().nodename
        if match is None or (here and not psutil.pid_exists(int(match[1]))):
            return None
        return found

    def _recover(self) -> None:
        """Restore a cell whose replacement was interrupted; remove other temporary files."""
        for old in self.work.glob("old-*"):
            target = self.cells / old.name.removeprefix("old-")
            if not target.exists():
                os.rename(old, target)
        for folder in (self.work, self.prepared):
            shutil.rmtree(folder, ignore_errors=True)

    def get(self, cell_id: str) -> Stored | None:
        """Return a cell, None if it is not there; DamagedError if it is not what was written."""
        folder = self.cells / cell_id
        return read_cell(folder) if folder.exists() else None

    def read(self, cells: Iterable[Cell] | None = None) -> tuple[dict[str, Stored], dict[str, str]]:
        """Return the cells of the store by id, and why others are damaged by the folder's name.

        Parameters
        ----------
        cells : those to read; every folder if None
        """
        present = set(os.listdir(self.cells)) if self.cells.is_dir() else set()
        names = sorted(present) if cells is None else [each.id for each in cells]
        found: dict[str, Stored] = {}
        damaged: dict[str, str] = {}
        for name in names:
            if name in present:
                try:
                    found[name] = read_cell(self.cells / name)
                except DamagedError as error:
                    damaged[name] = str(error)
        return found, damaged

    def audit(self) -> tuple[dict[str, Stored], list[str]]:
        """Check every cell and set damaged and foreign folders aside; return one line for each."""
        found, damaged = self.read()
        lines = [
            f"cell {name}: set aside in {self.set_aside(self.cells / name)}, {reason}"
            for name, reason in damaged.items()
        ]
        return found, lines

    def set_aside(self, path: Path) -> Path:
        """Move a damaged file or folder to ``set-aside``; return its new folder."""
        self.aside.mkdir(exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=self.aside, prefix=f"{path.name}-"))
        os.rename(path, folder / path.name)
        return folder

    def put(self, cell: Cell, record: RunRecord, files: Path | None) -> Stored:
        """Store a cell with the files of a folder, in place of an earlier outcome."""
        folder = self._new_folder()
        checksums = {}
        for name in ("codes.npz", "history.npz"):
            if record.status == "done" and files is not None and (files / name).exists():
                os.rename(files / name, folder / name)
                checksums[name] = checksum(folder / name)
        stored = Stored(cell, replace(record, files=checksums), self.cells)
        about = {"schema": SCHEMA, "cell": to_json(cell), "run": to_json(stored.record)}
        write_record(folder / CELL_FILE, about)
        self._place(folder, cell.id)
        return stored

    def copy(self, stored: Stored) -> None:
        """Copy a cell of another store here, in place of an earlier outcome."""
        folder = self._new_folder()
        shutil.copytree(stored.folder, folder, dirs_exist_ok=True)
        self._place(folder, stored.cell.id)

    def _new_folder(self) -> Path:
        self.work.mkdir(exist_ok=True)
        return Path(tempfile.mkdtemp(dir=self.work, prefix="new-"))

    def _place(self, folder: Path, cell_id: str) -> None:
        """Give a complete folder its name; `_recover` mends a kill between the renames."""
        target, old = self.cells / cell_id, self.work / f"old-{cell_id}"
        folder.chmod(0o755)  # temporary folders are private; results are to be read
        if target.exists():
            os.rename(target, old)
        os.rename(folder, target)
        shutil.rmtree(old, ignore_errors=True)

    def put_split(self, path: Path) -> str | None:
        """Move the file of a split here; return one line if it replaces a damaged one."""
        target, line = self.splits / path.name, None
        if target.exists():
            try:
                load_checked_arrays(target)
            except DamagedError as error:
                line = f"set aside splits/{path.name} in {self.set_aside(target)}: {error}"
        os.replace(path, target)
        return line

    def copy_split(self, path: Path) -> None:
        """Copy the file of a split from another store."""
        temporary = self._new_folder() / path.name
        shutil.copyfile(path, temporary)
        self.put_split(temporary)

    def split(self, name: str) -> StoredSplit:
        """Return labels, rows and strings of a split."""
        path = self.splits / f"{name}.npz"
        try:
            return StoredSplit.load(path)
        except DamagedError as error:
            raise HashbenchError(f"{path} is damaged: {error}; run the study again") from error

    def pictures(self, fingerprint: str) -> ContactSheet | None:
        """Return pictures of a dataset's items, if it gave any."""
        path = self.splits / f"{pictures_name(fingerprint)}.npz"
        try:
            return load_pictures(path) if path.exists() else None
        except DamagedError as error:
            raise HashbenchError(f"{path} is damaged: {error}; run the study again") from error

    def write_text(self, name: str, text: str) -> None:
        """Write a file of the folder, complete or not at all."""
        with atomic_write(self.path / name) as stream:
            stream.write(text)


def read_cell(folder: Path) -> Stored:
    """Return a cell that is complete and unchanged, or raise DamagedError."""
    about = read_record(folder / CELL_FILE)
    if about.get("schema") != SCHEMA:
        raise DamagedError(f"found schema {about.get('schema')}; this version reads {SCHEMA}")
    try:
        cell, record = from_json(Cell, about["cell"]), from_json(RunRecord, about["run"])
    except (ValueError, TypeError, KeyError) as error:
        raise DamagedError(f"{CELL_FILE} cannot be read ({error})") from error
    if cell.id != folder.name:
        raise DamagedError(f"its record belongs to the cell {cell.id}")
    if record.status == "done" and "codes.npz" not in record.files:
        raise DamagedError("it has no codes")
    for name, expected in record.files.items():
        path = folder / name
        if not path.is_file() or checksum(path) != expected:
            raise DamagedError(f"{name} is missing or has changed")
    return Stored(cell, record, folder.parent)
