"""NumPy arrays, archives of arrays and pickles of arrays.

A pickle may name NumPy's arrays only, so reading one cannot run code of its author.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.core.npz import declared_arrays
from hashbench.data.formats.file_variable import Variable, kind_of

#: What pickles of arrays name, in every version of NumPy.
ALLOWED = {
    ("_codecs", "encode"),
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"),
}


class _ArrayUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        module = module.replace("numpy.core", "numpy._core")
        if (module, name) not in ALLOWED:
            raise pickle.UnpicklingError(f"found {module}.{name}; allowed: NumPy arrays")
        return super().find_class(module, name)


def open_npy(path: Path) -> dict[str, Variable]:
    """Return the array of a file under the name of the file."""
    with path.open("rb") as stream:
        version = np.lib.format.read_magic(stream)
        read_header = (
            np.lib.format.read_array_header_1_0
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0
        )
        _, _, dtype = read_header(stream)
        if dtype.hasobject:
            pieces = _ArrayUnpickler(stream, encoding="latin1").load()
            return {path.stem: Variable.of(_joined(np.asarray(pieces)))}
    return {path.stem: Variable.of(np.load(path, mmap_mode="r"))}


def open_npz(path: Path) -> dict[str, Variable]:
    """Return the arrays of an archive."""

    def variable(name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Variable:
        def read() -> npt.NDArray[Any]:
            with np.load(path, allow_pickle=False) as archive:
                value: npt.NDArray[Any] = archive[name]
                return value

        return Variable(shape, kind_of(dtype), read)

    return {name: variable(name, *about) for name, about in declared_arrays(path).items()}


def open_pickle(path: Path) -> dict[str, Variable]:
    """Return the arrays of a pickled dictionary, or the one array of a pickle."""
    with path.open("rb") as stream:
        value = _ArrayUnpickler(stream, encoding="latin1").load()
    arrays = value if isinstance(value, Mapping) else {path.stem: value}
    return {str(name): Variable.of(_joined(np.asarray(array))) for name, array in arrays.items()}


def _joined(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Concatenate an object array of pieces with equal columns; return others as they are."""
    pieces = list(array.ravel()) if array.dtype == object else []
    arrays = all(isinstance(piece, np.ndarray) and piece.ndim for piece in pieces)
    if pieces and arrays and len({piece.shape[1:] for piece in pieces}) == 1:
        return np.concatenate(pieces)
    return array
