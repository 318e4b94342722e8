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
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from hashbench.base.archives import declared_arrays
from hashbench.base.errors import StorageError

Arrays = Mapping[str, npt.NDArray[Any]]


def load_arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Return all arrays of an npz file; objects, which would need pickle, are refused.

    So are arrays that declare more than the file holds: ValueError.
    """
    declared_arrays(path)
    with np.load(path, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def checksum(path: Path) -> str:
    """Return the sha256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_json(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record for people and programs."""
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[IO[str]]:
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
