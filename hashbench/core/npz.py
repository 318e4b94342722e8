"""Read NumPy archives after comparing the sizes that they declare with the sizes of their files.

A header of a hundred bytes may declare a terabyte.
"""

from __future__ import annotations

import math
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
import numpy.typing as npt

#: Deflate makes at most so many bytes of one.
MOST_FROM_ONE = 1032

Declared = dict[str, tuple[tuple[int, ...], "np.dtype[Any]"]]
Order = Literal["C", "F"]


def declared_arrays(path: Path) -> Declared:
    """Return shape and type of every array of an npz file, by name.

    ValueError names an array whose bytes cannot be in the file.
    """
    return {name: (shape, dtype) for name, shape, dtype, _, _ in _opened(path)}


def read_arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Return every array of an npz file, by name; objects, which would need pickle, are refused.

    As numpy reads them, but opened once: a page of a thousand cells is made of as many archives.
    """
    found = {}
    for name, shape, dtype, order, stream in _opened(path):
        if dtype.hasobject:
            raise ValueError(f"{name} holds objects")
        needed = math.prod(shape) * dtype.itemsize
        data = bytearray(stream.read(needed))
        if len(data) < needed:
            raise ValueError(f"{name} breaks off")
        found[name] = np.ndarray(shape, dtype, data, order=order)
    return found


def _opened(path: Path) -> Iterator[tuple[str, tuple[int, ...], np.dtype[Any], Order, IO[bytes]]]:
    """Yield name, shape, type and order of every array, and the stream that its bytes follow in."""
    size = path.stat().st_size
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            if entry.flag_bits & 1:
                raise ValueError(f"{entry.filename} is encrypted")
            with archive.open(entry) as stream:
                try:
                    shape, order, dtype = _header(stream)
                    begun = stream.tell()
                except (EOFError, struct.error) as error:
                    raise ValueError(f"{entry.filename} breaks off") from error
                name = entry.filename.removesuffix(".npy")
                held = min(entry.file_size, MOST_FROM_ONE * min(entry.compress_size, size)) - begun
                needed = math.prod(shape) * dtype.itemsize
                if not dtype.hasobject and needed > max(held, 0):
                    raise ValueError(
                        f"{name} declares {needed} bytes, the file holds {max(held, 0)}"
                    )
                yield name, shape, dtype, order, stream


def _header(stream: Any) -> tuple[tuple[int, ...], Order, np.dtype[Any]]:
    """Read the header of an npy stream: shape, order and type."""
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    else:
        shape, fortran, dtype = np.lib.format.read_array_header_2_0(stream)
    if any(length < 0 for length in shape):
        raise ValueError(f"found shape {shape}; allowed: lengths from 0 up")
    return shape, "F" if fortran else "C", dtype
