"""MATLAB files of the versions before 7.3, read by scipy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hashbench.data.formats.file_variable import MOST_CELLS, Variable, kind_of


def open_matlab(path: Path) -> dict[str, Variable]:
    """Return the variables of a file; structs and cell arrays are read at once."""
    import scipy.io

    def read(name: str) -> Any:
        value: Any = scipy.io.loadmat(path, variable_names=[name])[name]
        return _plain(value) if isinstance(value, np.ndarray) else value.tocsc()

    _check_complete(path)
    found: dict[str, Variable] = {}
    for name, shape, kind in scipy.io.whosmat(path):
        if kind in ("cell", "struct"):
            found |= _members(name, kind, shape, read(name))
        else:
            found[name] = Variable(tuple(shape), kind, lambda name=name: read(name))  # type: ignore[misc]
    return found


def _check_complete(path: Path) -> None:
    """Raise ValueError if a file ends within a variable, which scipy would silently leave out."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        order = {b"IM": "little", b"MI": "big"}.get(stream.read(128)[126:])
        while order is not None and stream.tell() < size:
            tag = stream.read(8)
            length = int.from_bytes(tag[4:], order)  # type: ignore[arg-type]
            if len(tag) < 8 or stream.tell() + length > size:
                raise ValueError("the file is incomplete")
            stream.seek(length, 1)


def _plain(value: Any) -> Any:
    """Return scipy's struct and cell arrays as dictionaries and lists."""
    if isinstance(value, np.ndarray) and value.dtype.names and value.size == 1:
        return _plain(value.ravel()[0])
    if isinstance(value, np.void) and value.dtype.names:
        return {name: _plain(value[name]) for name in value.dtype.names}
    if isinstance(value, np.ndarray) and (value.dtype.names or value.dtype == object):
        return [_plain(element) for element in value.ravel(order="F")]
    return value


def _members(name: str, kind: str, shape: Sequence[int], value: Any) -> dict[str, Variable]:
    """Return the members of a struct or a short cell array by their names in MATLAB."""
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
            sparse = not isinstance(member, np.ndarray)
            found[full] = Variable.of(
                member.tocsc() if sparse else member,
                "sparse" if sparse else kind_of(member.dtype),
            )
    return found
