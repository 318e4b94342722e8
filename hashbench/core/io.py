"""Files that are complete or not there, and what can be believed of them.

Everything that a run leaves behind is written through here: a kill or a full disk in the middle
leaves the old file or none, never half of one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from hashbench.core.errors import DamagedError, StorageError
from hashbench.core.npz import read_arrays

Arrays = Mapping[str, npt.NDArray[Any]]


def load_arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Return all arrays of an npz file; objects, which would need pickle, are refused.

    So are arrays that declare more than the file holds: ValueError.
    """
    return read_arrays(path)


def checksum(path: Path) -> str:
    """Return the sha256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def add_checksum(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with a checksum of itself, so that a changed value is noticed."""
    return {**record, "checksum": _record_checksum(record)}


def verify_checksum(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record without its checksum; ValueError if that is another record's.

    Examples
    --------
    >>> verify_checksum(add_checksum({"fit": 1.5}))
    {'fit': 1.5}
    >>> verify_checksum({**add_checksum({"fit": 1.5}), "fit": 1.4})
    Traceback (most recent call last):
    ValueError: it has changed since it was written
    """
    inside = {name: value for name, value in record.items() if name != "checksum"}
    if record.get("checksum") != _record_checksum(inside):
        raise ValueError("it has changed since it was written")
    return inside


def _record_checksum(record: Mapping[str, Any]) -> str:
    text = json.dumps(record, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def arrays_checksum(arrays: Arrays) -> str:
    """Return a hash of what arrays hold, however the file that holds them is compressed."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode() + array.tobytes())
    return digest.hexdigest()


def save_sealed(path: Path, arrays: Arrays) -> None:
    """Write arrays with a checksum of theirs among them."""
    save_arrays(path, {**arrays, "checksum": np.asarray(arrays_checksum(arrays))})


def load_sealed(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Read what `save_sealed` wrote; DamagedError if it is not that any more."""
    try:
        arrays = load_arrays(path)
        found = str(arrays.pop("checksum", ""))
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise DamagedError("it is missing") from error
        raise DamagedError(f"it cannot be read ({error})") from error
    if found != arrays_checksum(arrays):
        raise DamagedError("it has changed since it was written")
    return arrays


def write_json(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record for people and programs."""
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[IO[str]]:
    """Give a text file to write that takes the place of `path` only when it is complete."""
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with temporary.open("w", encoding="utf-8", newline="") as stream:
            yield stream
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Give a folder to fill that takes its name only when it is complete."""
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}-"))
    try:
        yield temporary
        with writing(target):
            if not target.exists():  # another worker may have been faster
                os.rename(temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Tell a full disk from whatever else may go wrong."""
    try:
        yield
    except OSError as error:
        # numpy counts the bytes it wrote and forgets why there were no more
        reason = error.strerror or f"incomplete ({error}); is the disk full?"
        raise StorageError(f"cannot write {path}: {reason}") from error


def save_arrays(path: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write arrays to a compressed npz file."""
    with writing(path):
        np.savez_compressed(path, **arrays)  # type: ignore[arg-type]
