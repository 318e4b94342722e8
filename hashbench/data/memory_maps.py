"""Write a dataset as plain arrays, and open it as memory maps.

The folder appears when it is complete. Arrays are written by plain writes: a full disk is then an
error, while a process that writes to a memory map would be killed.
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from hashbench.core.io import writing
from hashbench.core.validation import Matrix
from hashbench.plugins.dataset import Data, array_parts

_PARTS = ("_data", "_indices", "_indptr")  # of a CSR matrix


def save_data(data: Data, folder: Path) -> None:
    """Write a dataset as plain arrays; a view that is a map of a file is only pointed to."""
    maps: dict[int, dict[str, Any]] = {}
    for m, X in enumerate(data.views):
        whole = isinstance(getattr(X, "base", None), mmap.mmap)  # and no part of a map
        if isinstance(X, np.memmap) and whole and X.flags.c_contiguous:
            about = {"filename": str(X.filename), "offset": X.offset}
            maps[m] = {**about, "dtype": X.dtype.str, "shape": list(X.shape)}
            continue
        arrays = array_parts(X)
        for part, array in zip(_PARTS if len(arrays) > 1 else ("",), arrays, strict=True):
            np.save(folder / f"view_{m}{part}.npy", array)
    np.save(folder / "labels.npy", np.asarray(data.labels, np.uint8))
    for part, rows in data.given.items():
        np.save(folder / f"given_{part}.npy", rows)
    record = {
        "shapes": [list(X.shape) for X in data.views],
        "maps": maps,
        "view_names": data.view_names,
        "label_names": data.label_names,
        "given": sorted(data.given),
        "recipe": data.recipe,
    }
    (folder / "about.json").write_text(json.dumps(record))


def open_data(folder: Path) -> Data:
    """Map a dataset that :func:`save_data` wrote; display strings are not among it."""
    about = json.loads((folder / "about.json").read_text())
    return Data(
        views=[_open_view(folder, m, about) for m in range(len(about["shapes"]))],
        labels=np.load(folder / "labels.npy"),
        view_names=tuple(about["view_names"]),
        label_names=tuple(about["label_names"]),
        given={part: np.load(folder / f"given_{part}.npy") for part in about["given"]},
        recipe=about["recipe"],
    )


def _open_view(folder: Path, m: int, about: Mapping[str, Any]) -> Any:
    if str(m) in about["maps"]:
        place = about["maps"][str(m)]
        return np.memmap(**{**place, "shape": tuple(place["shape"])}, mode="r")
    if (folder / f"view_{m}.npy").exists():
        return np.load(folder / f"view_{m}.npy", mmap_mode="r")
    parts = [np.load(folder / f"view_{m}{part}.npy", mmap_mode="r") for part in _PARTS]
    return scipy.sparse.csr_matrix(tuple(parts), shape=about["shapes"][m])


def write_rows(blocks: Iterator[Matrix], path: Path, rows: int) -> None:
    """Write a matrix that comes in blocks of rows."""
    with writing(path), path.open("wb") as stream:
        for start, block in enumerate(blocks):
            if start == 0:
                shape = (rows, block.shape[1])
                header = {"descr": block.dtype.str, "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(stream, header)
            stream.write(np.ascontiguousarray(block).data)
