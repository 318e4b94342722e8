"""The named variables in a file that people of this field exchange.

MATLAB v4 to v7.3, plain HDF5, NumPy arrays and archives, pickles of arrays, CSV and parquet look
alike from here: names, shapes as their
author saw them, and values that are read when asked for. What a struct or a short cell array
holds has a name too, as MATLAB writes it: ``data.X1``, ``data{2}``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.core.errors import HashbenchError
from hashbench.core.npz import declared_arrays
from hashbench.core.text import one_line
from hashbench.data.formats import csv_parquet, pickles
from hashbench.data.formats.size_checks import check_fits, check_hdf5, check_link, checked_sparse
from hashbench.data.formats.variable import Variable, named_kind

#: Containers that are told by what a file is called; all others by their first bytes.
BY_SUFFIX: Mapping[str, Callable[[Path], dict[str, Variable]]] = {
    ".npy": pickles.open_npy,
    ".pkl": pickles.open_pickle,
    ".pickle": pickles.open_pickle,
    ".csv": csv_parquet.open_csv,
    ".tsv": csv_parquet.open_csv,
    ".txt": csv_parquet.open_csv,
    ".parquet": csv_parquet.open_parquet,
}

SUFFIXES = (".mat", ".h5", ".hdf5", ".h5py", ".npz", *BY_SUFFIX)

#: A cell array longer than this is a list of items, not of views.
MOST_CELLS = 16

#: Groups of HDF5 within each other; a group may hold itself.
MOST_LEVELS = 16


@dataclass(frozen=True)
class File:
    """A file, and what is to be read of it under which name.

    Attributes
    ----------
    called : the name for the one variable that is wanted, or nothing: all, under their own names
    variable : which one that is, where the file has several
    prefix : what is put before their own names
    """

    path: Path
    called: str = ""
    variable: str = ""
    prefix: str = ""

    def pick(self, found: Mapping[str, Variable]) -> dict[str, Variable]:
        """Return what is to be read, by its new name."""
        if not self.called:
            return {self.prefix + name: variable for name, variable in found.items()}
        wanted = self.variable or (self.called if self.called in found else self.path.stem)
        if len(found) == 1 and not self.variable:
            wanted = next(iter(found))
        if wanted not in found:
            names = ", ".join(f"{name} ({variable})" for name, variable in found.items())
            raise HashbenchError(
                f"{self.called}: found {names or 'nothing'} in {self.path.name}; say which: "
                f"{self.called}:{self.path.name}:NAME"
            )
        return {self.called: found[wanted]}


class Variables(Mapping[str, Variable]):
    """The variables of one file, or of several that belong together, by name."""

    def __init__(self, files: Sequence[Path | File]) -> None:
        whole = [File(each) if isinstance(each, Path) else each for each in files]
        self.paths = tuple(file.path for file in whole)
        self._found: dict[str, Variable] = {}
        for file in whole:
            for name, variable in file.pick(_open(file.path)).items():
                self._found.setdefault(one_line(name), variable)

    def add(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Put arrays beside what the files have, as if they stood there."""
        for name, array in arrays.items():
            kind = named_kind(array.dtype)
            self._found[name] = Variable(array.shape, kind, lambda array=array: array)  # type: ignore[misc]

    def __getitem__(self, name: str) -> Variable:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __str__(self) -> str:
        return ", ".join(f"{name} ({variable})" for name, variable in self.items()) or "nothing"


def _open(path: Path) -> dict[str, Variable]:
    if not path.is_file():
        found = "is a folder" if path.is_dir() else "does not exist"
        raise HashbenchError(f"file {str(path)!r} {found}")
    try:
        if path.suffix.lower() in BY_SUFFIX:
            opened = BY_SUFFIX[path.suffix.lower()](path)
            return {name: _replace_read(path, each) for name, each in opened.items()}
        with path.open("rb") as stream:
            if stream.read(2) == b"PK":
                return _open_npz(path)
        import h5py

        return _open_hdf5(path) if h5py.is_hdf5(path) else _open_matlab(path)
    except HashbenchError:
        raise
    except Exception as error:  # the parsers raise anything on bytes that are not theirs
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> HashbenchError:
    reason = one_line(error, 200) or type(error).__name__
    if isinstance(error, MemoryError):
        reason = "it takes more memory than there is"
    return HashbenchError(
        f"{path.name}: cannot be read ({reason}); allowed: whole files of {', '.join(SUFFIXES)}"
    )


def _guarded(path: Path, read: Callable[[], Any]) -> Callable[[], Any]:
    """Let a value that cannot be read be the same one line as a file that cannot."""

    def value() -> Any:
        try:
            return checked_sparse(read())
        except Exception as error:  # as above: broken bytes may come late in the file
            raise _unreadable(path, error) from error

    return value


def _replace_read(path: Path, variable: Variable) -> Variable:
    return replace(variable, read=_guarded(path, variable.read))


def _open_npz(path: Path) -> dict[str, Variable]:
    def read(name: str) -> npt.NDArray[Any]:
        with np.load(path, allow_pickle=False) as archive:
            value: npt.NDArray[Any] = archive[name]
            return value

    found = {}
    for name, (shape, dtype) in declared_arrays(path).items():
        check_fits(name, shape, dtype.itemsize)
        value = _guarded(path, lambda name=name: read(name))  # type: ignore[misc]
        found[name] = Variable(shape, named_kind(dtype), value)
    return found


def _open_matlab(path: Path) -> dict[str, Variable]:
    import scipy.io

    def read(name: str) -> Any:
        return _plain(scipy.io.loadmat(path, variable_names=[name])[name])

    _check_whole(path)
    found: dict[str, Variable] = {}
    for name, shape, kind in scipy.io.whosmat(path):
        if kind != "sparse":
            check_fits(name, shape, 1, path.stat().st_size)
        if kind in ("cell", "struct"):
            found |= _members(name, kind, shape, read(name))
        else:
            found[name] = Variable(
                tuple(shape),
                kind,
                _guarded(path, lambda name=name: read(name)),  # type: ignore[misc]
            )
    return found


def _check_whole(path: Path) -> None:
    """Refuse a MATLAB v5 file that ends within a variable: scipy would leave out what follows."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        order = {b"IM": "little", b"MI": "big"}.get(stream.read(128)[126:])
        while order is not None and stream.tell() < size:
            tag = stream.read(8)
            length = int.from_bytes(tag[4:], order)  # type: ignore[arg-type]
            if len(tag) < 8 or stream.tell() + length > size:
                raise ValueError("the file breaks off")
            stream.seek(length, 1)


def _plain(value: Any) -> Any:
    """Turn scipy's struct and cell arrays into dictionaries and lists."""
    if isinstance(value, np.ndarray) and value.dtype.names:
        if value.size != 1:
            return [_plain(element) for element in value.ravel()]
        record = value.ravel()[0]
        return {name: _plain(record[name]) for name in value.dtype.names}
    if isinstance(value, np.void) and value.dtype.names:
        return {name: _plain(value[name]) for name in value.dtype.names}
    if isinstance(value, np.ndarray) and value.dtype == object:
        return [_plain(element) for element in value.ravel(order="F")]
    return value


def _members(name: str, kind: str, shape: Sequence[int], value: Any) -> dict[str, Variable]:
    """Name a struct's or a cell array's members; a value inside is in memory already."""
    if isinstance(value, dict):
        inside = {f"{name}.{key}": member for key, member in value.items()}
    elif isinstance(value, list) and len(value) <= MOST_CELLS:
        inside = {f"{name}{{{k}}}": member for k, member in enumerate(value, start=1)}
    else:
        return {name: Variable(tuple(shape), kind, lambda: value)}
    found: dict[str, Variable] = {}
    for full, member in inside.items():
        if isinstance(member, dict | list):
            inner = "struct" if isinstance(member, dict) else "cell"
            found |= _members(full, inner, (len(member),), member)
        else:
            array_kind = "char" if np.asarray(member).dtype.kind in "US" else str(member.dtype)
            found[full] = Variable(tuple(member.shape), array_kind, lambda member=member: member)  # type: ignore[misc]
    return found


def _open_hdf5(path: Path) -> dict[str, Variable]:
    """List what stands in an HDF5 file; MATLAB's own are stored transposed."""
    import h5py

    with h5py.File(path) as file:
        matlab = file.userblock_size > 0 or any(
            "MATLAB_class" in node.attrs for _, node in _linked(file)
        )
        found: dict[str, Variable] = {}
        for name, node in _linked(file):
            if not name.startswith("#"):  # where MATLAB keeps what cells refer to
                found |= _hdf5_members(path, file, name, node, matlab)
        return found


def _linked(group: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a group holds; what stands in another file is refused."""
    for name in group:
        check_link(name, group.get(name, getlink=True))
        yield name, group[name]


def _hdf5_members(path: Path, file: Any, name: str, node: Any, matlab: bool) -> dict[str, Variable]:
    import h5py

    if isinstance(node, h5py.Group):
        if "MATLAB_sparse" in node.attrs:
            columns = len(node["jc"]) - 1
            shape = (int(node.attrs["MATLAB_sparse"]), columns)
            return {name: Variable(shape, "sparse", _hdf5_reader(path, node.name, _sparse))}
        found: dict[str, Variable] = {}
        for key, member in _linked(node):
            if name.count(".") >= MOST_LEVELS:
                raise ValueError(f"more than {MOST_LEVELS} groups within each other")
            found |= _hdf5_members(path, file, f"{name}.{key}", member, matlab)
        return found
    check_hdf5(name, node, path.stat().st_size)
    kind = node.attrs.get("MATLAB_class", b"").decode() or str(node.dtype)
    if h5py.check_ref_dtype(node.dtype) is not None:
        if node.size > MOST_CELLS:
            return {name: Variable(node.shape[::-1], "cell", lambda: None)}
        found = {}
        for k, reference in enumerate(node[()].ravel(), start=1):
            found |= _hdf5_members(path, file, f"{name}{{{k}}}", file[reference], matlab)
        return found
    if h5py.check_string_dtype(node.dtype) is not None:
        kind = "char"
    if node.attrs.get("MATLAB_empty", 0):
        empty = tuple(int(size) for size in node[()])
        return {name: Variable(empty, kind, lambda: np.empty(empty))}
    shape = node.shape[::-1] if matlab else node.shape
    read = _transposed if matlab else _as_stored
    return {name: Variable(shape, kind, _hdf5_reader(path, node.name, read))}


def _hdf5_reader(path: Path, where: str, convert: Callable[[Any], Any]) -> Callable[[], Any]:
    def read() -> Any:
        import h5py

        with h5py.File(path) as file:
            return convert(file[where])

    return _guarded(path, read)


def _transposed(node: Any) -> Any:
    return node[()].T


def _as_stored(node: Any) -> Any:
    return node[()]


def _sparse(node: Any) -> Any:
    import scipy.sparse

    jc = node["jc"][()].astype(np.int64)
    rows = int(node.attrs["MATLAB_sparse"])
    values = node["data"][()] if "data" in node else np.empty(0)
    indices = node["ir"][()].astype(np.int64) if "ir" in node else np.empty(0, np.int64)
    return scipy.sparse.csc_array((values, indices, jc), shape=(rows, len(jc) - 1))
