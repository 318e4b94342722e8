"""NumPy archives, looked at before anything is allocated: what they declare against what they hold.

A header of a hundred bytes may declare a terabyte.
"""

from __future__ import annotations

import math
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

#: Deflate makes at most so many bytes of one.
MOST_FROM_ONE = 1032

Declared = dict[str, tuple[tuple[int, ...], "np.dtype[Any]"]]


def declared_arrays(path: Path) -> Declared:
    """Return shape and type of every array of an npz file, by name.

    ValueError names an array whose bytes cannot be in the file.
    """
    found: Declared = {}
    size = path.stat().st_size
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            if entry.flag_bits & 1:
                raise ValueError(f"{entry.filename} is encrypted")
            try:
                with archive.open(entry) as stream:
                    shape, dtype = _header(stream)
                    begun = stream.tell()
            except (EOFError, struct.error) as error:
                raise ValueError(f"{entry.filename} breaks off") from error
            name = entry.filename.removesuffix(".npy")
            held = min(entry.file_size, MOST_FROM_ONE * min(entry.compress_size, size)) - begun
            needed = math.prod(shape) * dtype.itemsize
            if not dtype.hasobject and needed > max(held, 0):
                raise ValueError(f"{name} declares {needed} bytes, the file holds {max(held, 0)}")
            found[name] = (shape, dtype)
    return found


def _header(stream: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    else:
        shape, _, dtype = np.lib.format.read_array_header_2_0(stream)
    if any(length < 0 for length in shape):
        raise ValueError(f"found shape {shape}; allowed: lengths from 0 up")
    return shape, dtype
