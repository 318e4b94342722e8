"""Read and write files of results, atomically and with checksums.

A kill or a full disk while a file is written leaves the old file or none, never half of one.
Every JSON record contains a checksum of itself and may list other files with theirs; arrays that
no record lists contain a checksum of their own.
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

import msgspec
import numpy as np
import numpy.typing as npt

from hashbench.core.errors import DamagedError, StorageError
from hashbench.core.npz import read_arrays

Arrays = Mapping[str, npt.NDArray[Any]]


def checksum(path: Path) -> str:
    """Return the sha256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def add_checksum(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with a checksum of itself, so that a changed value is noticed."""
    return {**record, "checksum": _record_checksum(record)}


def verify_checksum(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record without its checksum; DamagedError if the record has changed.

    Examples
    --------
    >>> verify_checksum(add_checksum({"fit": 1.5}))
    {'fit': 1.5}
    >>> verify_checksum({**add_checksum({"fit": 1.5}), "fit": 1.4})
    Traceback (most recent call last):
    hashbench.core.errors.DamagedError: it has changed since it was written
    """
    content = {name: value for name, value in record.items() if name != "checksum"}
    if record.get("checksum") != _record_checksum(content):
        raise DamagedError("it has changed since it was written")
    return content


def _record_checksum(record: Mapping[str, Any]) -> str:
    # the json module would take twenty times as long
    return hashlib.sha256(msgspec.json.encode(record, order="sorted")).hexdigest()


def write_record(path: Path, record: Mapping[str, Any], indent: int | None = 1) -> None:
    """Write a JSON record with its checksum, complete or not at all."""
    text = json.dumps(add_checksum(record), indent=indent, ensure_ascii=False)
    with atomic_write(path) as stream:
        stream.write(text + "\n")


def read_record(path: Path) -> dict[str, Any]:
    """Read what `write_record` wrote; DamagedError names the file and what is wrong with it."""
    try:
        return verify_checksum(json.loads(path.read_bytes()))
    except FileNotFoundError as error:
        raise DamagedError(f"{path.name} is missing") from error
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise DamagedError(f"{path.name} cannot be read ({error})") from error


def arrays_checksum(arrays: Arrays) -> str:
    """Return a hash of the contents of arrays, independent of the compression of their file."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode() + array.tobytes())
    return digest.hexdigest()


def save_arrays(path: Path, arrays: Arrays) -> None:
    """Write arrays to a compressed npz file, without a checksum."""
    with writing(path):
        np.savez_compressed(path, **arrays)  # type: ignore[arg-type]


def save_checked_arrays(path: Path, arrays: Arrays) -> None:
    """Write arrays to a compressed npz file, with their checksum as one more array."""
    save_arrays(path, {**arrays, "checksum": np.asarray(arrays_checksum(arrays))})


def load_checked_arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Read what `save_checked_arrays` wrote; DamagedError if it has changed."""
    try:
        arrays = read_arrays(path)
        found = str(arrays.pop("checksum", ""))
    except FileNotFoundError as error:
        raise DamagedError("it is missing") from error
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, OSError) as error:
        raise DamagedError(f"it cannot be read ({error})") from error
    if found != arrays_checksum(arrays):
        raise DamagedError("it has changed since it was written")
    return arrays


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[IO[str]]:
    """Open a text file that replaces `path` when it is complete."""
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
    """Create a folder that gets its name when it is complete."""
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
    """Raise StorageError for every error of the file system."""
    try:
        yield
    except OSError as error:
        # numpy counts the bytes it wrote and forgets why there were no more
        reason = error.strerror or f"incomplete ({error}); is the disk full?"
        raise StorageError(f"cannot write {path}: {reason}") from error
