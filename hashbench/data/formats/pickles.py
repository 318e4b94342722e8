"""NumPy's single arrays and pickles of arrays, read without running what they ask to run.

Unpickling calls whatever a file names. Here it may name NumPy's arrays and nothing else, and even
those are put together by the few lines below: NumPy's own code trusts a pickle, and a forged
description of entries would make it take numbers for addresses.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.data.formats.size_checks import check_fits
from hashbench.data.formats.variable import Variable, named_kind

#: Kinds of entries that a pickled array may have; of "O" only lists of further arrays.
KINDS = "fiubUSO"


class _Type:
    """A type of entries, in the three pieces that a pickle gives."""

    def __init__(self, code: Any, *_: Any) -> None:
        self.value = np.dtype(code if isinstance(code, str) else "V")
        if self.value.kind not in KINDS:
            raise pickle.UnpicklingError(f"found entries of {code!r}; allowed: numbers and texts")

    def __setstate__(self, state: Any) -> None:
        if state[1] in ("<", ">"):
            self.value = self.value.newbyteorder(state[1])


class _Array:
    """An array, filled by its state."""

    value: Any = None

    def __setstate__(self, state: Any) -> None:
        _, shape, kind, fortran, content = state
        self.value = _filled(content, kind.value, shape, "F" if fortran else "C")


def _filled(content: Any, dtype: np.dtype[Any], shape: Any, order: Any) -> npt.NDArray[Any]:
    if dtype.kind == "O":
        value = np.empty(len(content), object)
        value[:] = [_plain(each) for each in content]
        return value.reshape(shape, order=order)
    return np.frombuffer(bytes(content), dtype).reshape(shape, order=order)


def _reconstruct(*_: Any) -> _Array:
    return _Array()


def _from_buffer(content: Any, kind: _Type, shape: Any, order: str) -> _Array:
    array = _Array()
    array.value = _filled(content, kind.value, shape, order)
    return array


def _scalar(kind: _Type, content: Any) -> Any:
    return _filled(content, kind.value, (), "C")[()]


def _encode(text: str, encoding: str) -> bytes:
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"found the encoding {encoding!r}; allowed: 'latin1'")
    return text.encode("latin1")


#: What a pickle of arrays names, in every version of NumPy -> what is called instead.
ALLOWED = {
    "ndarray": object,
    "dtype": _Type,
    "multiarray._reconstruct": _reconstruct,
    "multiarray.scalar": _scalar,
    "numeric._frombuffer": _from_buffer,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("_codecs", "encode"):  # how old protocols write bytes
            return _encode
        inside = f"{module}.{name}".removeprefix("numpy.")
        inside = inside.removeprefix("_core.").removeprefix("core.")
        if module.partition(".")[0] != "numpy" or inside not in ALLOWED:
            raise pickle.UnpicklingError(f"found {module}.{name}; allowed: NumPy arrays alone")
        return ALLOWED[inside]


def _plain(value: Any) -> Any:
    if isinstance(value, _Array):
        return value.value
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value


def open_pickle(path: Path) -> dict[str, Variable]:
    """List the arrays of a pickled dictionary, or the one array of a pickle."""
    with path.open("rb") as stream:
        value = _Unpickler(stream).load()
    if not isinstance(value, Mapping):
        value = {path.stem: value}
    found: dict[str, Variable] = {}
    for name, member in value.items():
        array = _joined(np.asarray(_plain(member)))
        found[str(name)] = Variable(array.shape, named_kind(array.dtype), lambda array=array: array)  # type: ignore[misc]
    return found


def open_npy(path: Path) -> dict[str, Variable]:
    """Give the one array of a file its file's name."""
    with path.open("rb") as stream:
        version = np.lib.format.read_magic(stream)
        header = (
            np.lib.format.read_array_header_1_0
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0
        )
        shape, fortran, dtype = header(stream)
        if dtype.kind == "O":  # pieces of one array, as some authors' loaders save them
            value = _plain(_Unpickler(stream).load())
            array = _joined(value.reshape(shape, order="F" if fortran else "C"))
            return {path.stem: Variable(array.shape, named_kind(array.dtype), lambda: array)}

    needed, held = math.prod(shape) * dtype.itemsize, path.stat().st_size
    if needed > held:
        raise ValueError(f"{path.stem} declares {needed} bytes, the file holds {held}")
    check_fits(path.stem, shape, dtype.itemsize)

    def read() -> npt.NDArray[Any]:
        whole: npt.NDArray[Any] = np.load(path, allow_pickle=False)
        return whole

    return {path.stem: Variable(shape, named_kind(dtype), read)}


def _joined(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Put pieces with the same columns together; leave other objects for the reader to refuse."""
    pieces = list(array.ravel()) if array.dtype == object else []
    arrays = all(isinstance(piece, np.ndarray) and piece.ndim for piece in pieces)
    if pieces and arrays and len({piece.shape[1:] for piece in pieces}) == 1:
        return np.concatenate(pieces)
    return array
