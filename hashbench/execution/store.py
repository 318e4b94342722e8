"""The store: a folder of results that loses nothing and believes nothing it cannot check.

A cell's folder appears by one rename, complete or not at all. Every file is listed with its
checksum, and a cell's id can be computed from its own record, so that a damaged or foreign folder
is noticed; it is moved aside and named, never deleted. One process at a time writes: a lock that
the system releases when its owner dies, however it dies.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy.typing as npt
from filelock import FileLock, Timeout

from hashbench.core.errors import DamagedError, HashbenchError, describe_os_error
from hashbench.core.io import (
    add_checksum,
    atomic_write,
    checksum,
    load_arrays,
    load_sealed,
    verify_checksum,
    write_json,
)
from hashbench.core.records import from_json, to_json
from hashbench.data.splits import StoredSplit, load_pictures, pictures_name
from hashbench.execution.cell import Cell
from hashbench.execution.cell_codes import CellCodes
from hashbench.execution.run_record import RunRecord
from hashbench.execution.tuning.trials import Trials
from hashbench.execution.verified_index import CheckedCell, CheckedCells, append, describe
from hashbench.plugins.dataset import ContactSheet

SCHEMA = 2


@dataclass(frozen=True)
class Stored:
    """A cell in the store, with its record, and the folder of all cells.

    `compared` names the files whose checksums were compared here; others are when first read.
    """

    cell: Cell
    record: RunRecord
    cells: Path
    compared: set[str] = field(default_factory=set, compare=False, repr=False)

    @property
    def folder(self) -> Path:
        """Where the cell's files are."""
        return self.cells / self.cell.id

    @property
    def status(self) -> str:
        """How the cell ended."""
        return self.record.status

    def codes(self) -> CellCodes:
        """Return the codes, which only a done cell has; what has changed by now is an error."""
        return CellCodes.load(self._file("codes.npz"))

    def history(self) -> dict[str, npt.NDArray[Any]]:
        """Return the objective by iteration, empty where the method has none."""
        name = "history.npz"
        return load_arrays(self._file(name)) if name in self.record.files else {}

    def _file(self, name: str) -> Path:
        path = self.folder / name
        known = name in self.compared
        if not path.is_file() or (not known and checksum(path) != self.record.files[name]):
            raise HashbenchError(f"{path} is missing or has changed; run the study again")
        self.compared.add(name)
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
        """Take the lock and clear away what a killed run has left half done."""
        try:
            for folder in (self.cells, self.splits):
                folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(blocking=False)
        except Timeout:
            owner = self._owner() or "another process"
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

    def _owner(self) -> str:
        try:
            return self._owner_file.read_text()
        except OSError:
            return ""

    def owner(self) -> str | None:
        """Return who writes here now, or nobody; what a killed process left does not count."""
        found = self._owner()
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

    def read(self, cells: Iterable[Cell]) -> tuple[dict[str, Stored], dict[str, str]]:
        """Return those cells that are there and right, and why others that are there are not."""
        found: dict[str, Stored] = {}
        damaged: dict[str, str] = {}
        checked = CheckedCells(self.path)
        present = set(os.listdir(self.cells)) if self.cells.is_dir() else set()
        for cell in cells:
            if cell.id not in present:
                continue
            try:
                found[cell.id] = _checked(self.cells, cell.id, checked, cell)
            except DamagedError as error:
                damaged[cell.id] = str(error)
        checked.keep()
        return found, damaged

    def audit(
        self, anew: bool = False, cells: Iterable[Cell] = (), keep: bool = False
    ) -> tuple[dict[str, Stored], list[str]]:
        """Check every cell, and move every folder aside that is none; return a line for each.

        `anew`: also those that nobody has touched since they were checked. `cells`: those that are
        at hand, and need not be made again. `keep`: leave everything where it is.
        """
        found: dict[str, Stored] = {}
        lines = []
        checked = CheckedCells(self.path)
        known = {cell.id: cell for cell in cells}
        for folder in sorted(self.cells.iterdir()) if self.cells.is_dir() else ():
            try:
                found[folder.name] = (
                    read_cell(folder)
                    if anew
                    else _checked(self.cells, folder.name, checked, known.get(folder.name))
                )
            except DamagedError as error:
                place = "" if keep else f"set aside in {self.set_aside(folder)}, "
                lines.append(f"cell {folder.name}: {place}{error}")
        if not keep:
            checked.keep()
        return found, lines

    def set_aside(self, path: Path) -> Path:
        """Move a file or folder that is not right out of the way; return where it is now."""
        self.aside.mkdir(exist_ok=True)
        place = Path(tempfile.mkdtemp(dir=self.aside, prefix=f"{path.name}-"))
        os.rename(path, place / path.name)
        return place

    def put(self, cell: Cell, record: RunRecord, files: Path | None) -> Stored:
        """Store a cell with the files of a folder; an earlier outcome of it is replaced."""
        folder = self._new()
        checksums = {}
        for name in ("codes.npz", "history.npz"):
            if record.status == "done" and files is not None and (files / name).exists():
                os.rename(files / name, folder / name)
                checksums[name] = checksum(folder / name)
        write_json(folder / "cell.json", {"schema": SCHEMA, "id": cell.id, "cell": to_json(cell)})
        record = replace(record, files=checksums)
        write_json(folder / "status.json", add_checksum({"schema": SCHEMA, **record.to_json()}))
        self._place(folder, cell.id)
        append(self.path, [CheckedCell(cell, record, describe(str(self.cells / cell.id)))])
        return Stored(cell, record, self.cells, set(checksums))

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

    def put_split(self, path: Path) -> str | None:
        """Take in the file of a split; return a line if a damaged one was in its place."""
        place, line = self.splits / path.name, None
        if place.exists():
            try:
                load_sealed(place)
            except DamagedError as error:
                line = f"set aside splits/{path.name} in {self.set_aside(place)}: {error}"
        os.replace(path, place)
        return line

    def copy_split(self, path: Path) -> None:
        """Take in the file of a split from another store."""
        temporary = self._new() / path.name
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


def _checked(cells: Path, name: str, checked: CheckedCells, cell: Cell | None = None) -> Stored:
    """Return a cell that is known to be right, or read it."""
    place = f"{cells}{os.sep}{name}"
    known = checked.recall(place, name, cell)
    if known is not None:
        return Stored(known.cell, known.record, cells)
    description = describe(place)  # before it is read: what changes meanwhile differs from it
    stored = read_cell(cells / name)
    checked.learn(CheckedCell(stored.cell, stored.record, description))
    return stored


def read_cell(folder: Path) -> Stored:
    """Return a cell that is complete and unchanged, or raise DamagedError."""
    try:
        about = json.loads((folder / "cell.json").read_text())
        cell = from_json(Cell, about["cell"])
        found = json.loads((folder / "status.json").read_text())
        schemas = {about["schema"], found["schema"]}
        if schemas == {SCHEMA}:
            found = verify_checksum(found)
            record = RunRecord.from_json({k: v for k, v in found.items() if k != "schema"})
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
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
    return Stored(cell, record, folder.parent, set(record.files))


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's
        return True
    return True
