"""What a file declares, compared with what it holds and with the memory, before it is read.

A few bytes may declare a terabyte, name rows that are not there, or point to another file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from hashbench.core.npz import MOST_FROM_ONE
from hashbench.core.units import format_size

#: So much may be declared by a file that does not hold it: fill values need no bytes.
FREE = 1 << 26


def check_fits(
    name: str, shape: Sequence[int], itemsize: int, file_size: int | None = None
) -> None:
    """Raise ValueError if a variable cannot be in a file of that size, or not in memory."""
    import psutil

    needed = math.prod(int(length) for length in shape) * itemsize
    if file_size is not None and needed > FREE + MOST_FROM_ONE * file_size:
        held = format_size(file_size)
        raise ValueError(f"{name} declares {format_size(needed)}, the file has {held}")
    available = psutil.virtual_memory().available
    if needed > available:
        raise ValueError(
            f"{name} takes {format_size(needed)}, there are {format_size(available)} of memory"
        )


def check_hdf5(name: str, node: Any, file_size: int) -> None:
    """Raise ValueError for a dataset of HDF5 that is elsewhere or larger than its file allows."""
    if node.is_virtual or node.external:
        raise ValueError(f"{name} stands in another file; allowed: files that hold their data")
    stored = min(node.id.get_storage_size(), file_size)
    check_fits(name, node.shape or (), node.dtype.itemsize, stored)


def check_link(name: str, link: Any) -> None:
    """Raise ValueError for a link to another file."""
    import h5py

    if isinstance(link, h5py.ExternalLink):
        raise ValueError(
            f"{name} is a link to another file, {link.filename}; "
            "allowed: files that hold their data"
        )


def checked_sparse(value: Any) -> Any:
    """Return a value; ValueError if it is sparse and names rows or columns that are not there."""
    import scipy.sparse

    if not isinstance(value, scipy.sparse.sparray | scipy.sparse.spmatrix):
        return value
    matrix: Any = value
    check_fits("a sparse matrix", (sum(matrix.shape),), 16)
    columns = matrix.tocsc()
    columns.check_format(full_check=True)
    return columns
