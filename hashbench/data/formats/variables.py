"""The named variables in data files, with one interface for every format.

A variable has a name, a shape and a kind; its value is read on demand. Members of a struct or of
a short cell array are named as in MATLAB: ``data.X1``, ``data{2}``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.core.errors import HashbenchError
from hashbench.core.text import one_line
from hashbench.core.units import format_size
from hashbench.data.formats import csv_parquet, hdf5, matlab, numpy_files
from hashbench.data.formats.file_variable import Variable

TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
PICKLE_SUFFIXES = (".pkl", ".pickle")
SUFFIXES = (
    ".mat", ".h5", ".hdf5", ".h5py", ".npz", ".npy", ".parquet", *PICKLE_SUFFIXES, *TEXT_SUFFIXES,
)  # fmt: skip


@dataclass(frozen=True)
class File:
    """A file, and which of its variables are used under which names.

    Attributes
    ----------
    path : the file
    role : name for the only variable that is used; if empty, all keep their own names
    variable : which variable has the role, where the file has several
    prefix : text before the own names
    shards : all parts of a table in several parquet files, `path` among them
    """

    path: Path
    role: str = ""
    variable: str = ""
    prefix: str = ""
    shards: tuple[Path, ...] = ()

    def select(self, found: Mapping[str, Variable]) -> dict[str, Variable]:
        """Return the variables that are used, by their new names."""
        if not self.role:
            return {self.prefix + name: variable for name, variable in found.items()}
        wanted = self.variable or (self.role if self.role in found else self.path.stem)
        if len(found) == 1 and not self.variable:
            wanted = next(iter(found))
        if wanted not in found:
            names = ", ".join(f"{name} ({variable})" for name, variable in found.items())
            raise HashbenchError(
                f"{self.role}: found {names or 'nothing'} in {self.path.name}; choose one: "
                f"{self.role}:{self.path.name}:NAME"
            )
        return {self.role: found[wanted]}


class Variables(Mapping[str, Variable]):
    """The variables of one file, or of several that belong together, by name."""

    def __init__(self, files: Sequence[Path | File]) -> None:
        named = [File(each) if isinstance(each, Path) else each for each in files]
        self.paths = tuple(path for file in named for path in file.shards or (file.path,))
        self._found: dict[str, Variable] = {}
        for file in named:
            for name, variable in file.select(_open(file)).items():
                self._found.setdefault(one_line(name), variable)

    def add(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Add arrays as further variables."""
        self._found |= {name: Variable.of(array) for name, array in arrays.items()}

    def __getitem__(self, name: str) -> Variable:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __str__(self) -> str:
        return ", ".join(f"{name} ({variable})" for name, variable in self.items()) or "nothing"


def _open(file: File) -> dict[str, Variable]:
    """Return the variables of a file; each value that cannot be read is an error of one line."""
    path = file.path
    if not path.is_file():
        problem = "is a folder" if path.is_dir() else "does not exist"
        raise HashbenchError(f"file {str(path)!r} {problem}")
    try:
        found = _variables_of(path, file.shards)
    except HashbenchError:
        raise
    except Exception as error:  # parsers raise any exception on malformed bytes
        raise _unreadable(path, error) from error
    return {
        name: replace(variable, read=_checked_read(path, name, variable))
        for name, variable in found.items()
    }


def _variables_of(path: Path, shards: Sequence[Path]) -> dict[str, Variable]:
    suffix = path.suffix.lower()
    if suffix == ".npy":
        return numpy_files.open_npy(path)
    if suffix in PICKLE_SUFFIXES:
        return numpy_files.open_pickle(path)
    if suffix in TEXT_SUFFIXES:
        return csv_parquet.open_csv(path)
    if suffix == ".parquet":
        return csv_parquet.open_parquet(shards or [path])
    with path.open("rb") as stream:
        if stream.read(2) == b"PK":
            return numpy_files.open_npz(path)
    return hdf5.open_hdf5(path) if hdf5.is_hdf5(path) else matlab.open_matlab(path)


def _checked_read(path: Path, name: str, variable: Variable) -> Callable[[], Any]:
    def read() -> Any:
        try:
            if variable.kind != "sparse":
                _check_memory(name, variable)
            value = variable.read()
            if variable.kind == "sparse":
                value.check_format(full_check=True)  # row numbers outside the shape crash later
            return value
        except Exception as error:  # malformed bytes may come late in the file
            raise _unreadable(path, error) from error

    return read


def _check_memory(name: str, variable: Variable) -> None:
    """Raise ValueError if a value is larger than the memory."""
    import psutil

    try:
        itemsize = np.dtype(variable.kind).itemsize or 1
    except TypeError:  # a class of MATLAB, such as "logical"
        itemsize = 1
    needed, available = math.prod(variable.shape) * itemsize, psutil.virtual_memory().available
    if needed > available:
        raise ValueError(
            f"{name} takes {format_size(needed)}, {format_size(available)} of memory are free"
        )


def _unreadable(path: Path, error: Exception) -> HashbenchError:
    reason = one_line(error, 200) or type(error).__name__
    if isinstance(error, MemoryError):
        reason = "it takes more memory than is free"
    return HashbenchError(
        f"{path.name}: cannot be read ({reason}); allowed: complete files of {', '.join(SUFFIXES)}"
    )
