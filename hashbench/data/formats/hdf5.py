"""MATLAB v7.3 files and other HDF5 files, read by h5py.

MATLAB's own are stored transposed. Readers for v7.3 alone (pymatreader, mat73) were tried: they
read every variable at once and drop axes of length one, so that a single query loses its row.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from hashbench.data.formats.file_variable import MOST_CELLS, Variable, kind_of


def is_hdf5(path: Path) -> bool:
    """Return whether a file is an HDF5 file, whatever its suffix."""
    import h5py

    return bool(h5py.is_hdf5(path))


def open_hdf5(path: Path) -> dict[str, Variable]:
    """Return the variables of a file."""
    import h5py

    with h5py.File(path) as file:
        matlab = file.userblock_size > 0 or any(
            "MATLAB_class" in node.attrs for node in file.values()
        )
        found: dict[str, Variable] = {}
        for name, node in file.items():
            if not name.startswith("#"):  # MATLAB stores the elements of cells there
                found |= _members(path, name, node, matlab)
        return found


def _members(path: Path, name: str, node: Any, matlab: bool) -> dict[str, Variable]:
    """Return a dataset, the members of a group or the elements of a cell array by name."""
    import h5py

    if isinstance(node, h5py.Group):
        if "MATLAB_sparse" in node.attrs:
            shape = (int(node.attrs["MATLAB_sparse"]), len(node["jc"]) - 1)
            return {name: Variable(shape, "sparse", _reader(path, node.name, _read_sparse))}
        return {
            key: variable
            for member in node
            for key, variable in _members(path, f"{name}.{member}", node[member], matlab).items()
        }
    kind = node.attrs.get("MATLAB_class", b"").decode() or kind_of(node.dtype)
    if h5py.check_string_dtype(node.dtype) is not None:
        kind = "char"
    if node.attrs.get("MATLAB_empty", 0):
        return {name: Variable.of(np.empty([int(size) for size in node[()]]), kind)}
    shape = node.shape[::-1] if matlab else node.shape
    if h5py.check_ref_dtype(node.dtype) is not None:
        if node.size > MOST_CELLS:
            return {name: Variable(shape, "cell", lambda: None)}
        return {
            key: variable
            for k, reference in enumerate(node[()].ravel(), start=1)
            for key, variable in _members(
                path, f"{name}{{{k}}}", node.file[reference], matlab
            ).items()
        }
    convert = _read_transposed if matlab else np.asarray
    return {name: Variable(shape, kind, _reader(path, node.name, convert))}


def _reader(path: Path, node: str, convert: Callable[[Any], Any]) -> Callable[[], Any]:
    """Return a function that opens the file and reads a node."""

    def read() -> Any:
        import h5py

        with h5py.File(path) as file:
            return convert(file[node])

    return read


def _read_transposed(node: Any) -> Any:
    return node[()].T


def _read_sparse(node: Any) -> Any:
    import scipy.sparse

    starts = node["jc"][()].astype(np.int64)
    values = node["data"][()] if "data" in node else np.empty(0)
    rows = node["ir"][()].astype(np.int64) if "ir" in node else np.empty(0, np.int64)
    shape = (int(node.attrs["MATLAB_sparse"]), len(starts) - 1)
    return scipy.sparse.csc_array((values, rows, starts), shape=shape)
