"""Data on their way to cells: loaded once, split, preprocessed, and left on disk as memory maps.

Cells that share a split share one folder of maps, so that no cell reads a dataset's own files,
nothing is pickled, and the system keeps one copy in memory however many cells look at it. Maps
are read-only: a method that changes its input is found out. The folder is a cache; it may be
deleted at any time. What measures and reports need later (labels, rows, strings) goes into the
store instead, a small file a split.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from hashbench import findings, preprocessing
from hashbench.codes import pack
from hashbench.dataset import ContactSheet, Data, Dataset, Split, array_parts
from hashbench.errors import HashbenchError
from hashbench.executors import StorageError
from hashbench.layouts import FileDataset
from hashbench.registry import Registry
from hashbench.validation import Matrix, check_labels

PAGE = 1024  # 4-byte numbers in a page of memory


@dataclass(frozen=True)
class DataSpec:
    """Which dataset: a plugin by name, or a file (None), with its parameters."""

    plugin: str | None
    params: tuple[tuple[str, Any], ...] = ()

    def make(self, registry: Registry) -> Dataset:
        """Return the dataset."""
        if self.plugin is None:
            return FileDataset(**dict(self.params))
        dataset: Dataset = registry.get("datasets", self.plugin).cls(**dict(self.params))
        return dataset

    def __str__(self) -> str:
        return self.plugin or str(dict(self.params)["path"])

    def to_json(self) -> dict[str, Any]:
        """Return what :meth:`from_json` reads."""
        return {"plugin": self.plugin, "params": dict(self.params)}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> DataSpec:
        """Read a dataset's name and parameters."""
        return cls(record["plugin"], tuple(sorted(record["params"].items())))


@dataclass(frozen=True)
class SplitRequest:
    """A split that some cells need."""

    protocol: str
    seed: int
    train_rows: int | None = None


@dataclass(frozen=True)
class Prepared:
    """A split of a dataset, ready for cells: read-only maps.

    Attributes
    ----------
    train, query, database : lists of (rows, d_m) arrays, one a view
    train_labels : (rows, classes) uint8
    """

    train: list[Matrix]
    query: list[Matrix]
    database: list[Matrix]
    train_labels: npt.NDArray[np.uint8]

    @classmethod
    def open(cls, folder: Path) -> Prepared:
        """Map the files of a folder and read them once, so that no later phase waits for a disk."""
        about = json.loads((folder / "about.json").read_text())
        files = about["files"]
        maps = {
            file: [
                _touched(np.load(folder / f"{file}_{m}.npy", mmap_mode="r"))
                for m in range(about["views"])
            ]
            for file in set(files.values())  # mapped twice, memory would be counted twice
        }
        parts = {part: maps[file] for part, file in files.items()}
        return cls(**parts, train_labels=np.load(folder / "train_labels.npy", mmap_mode="r"))


def _touched(X: Matrix) -> Matrix:
    X.reshape(-1)[::PAGE].sum()
    return X


def inspect(
    registry: Registry,
    folder: Path,
    cache: Path,
    dataset: Mapping[str, Any],
    requests: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Load a dataset, leave it in the cache, and make every split that is asked for.

    The files of the splits, which the store keeps, are written to `folder`.

    Returns
    -------
    dict
        Fingerprint, number of views, notes, and the names of the splits, in the order asked for.
    """
    plugin = DataSpec.from_json(dataset).make(registry)
    data = plugin.load()
    check_data(data, plugin.name)
    _keep(data, cache)
    names: list[str] = []
    found: list[findings.Finding] = []
    if data.pictures is not None:
        with writing(folder):
            save_pictures(data.pictures, folder / f"{pictures_name(data.fingerprint)}.npz")
    for request in requests:
        split = make_split(plugin, data, SplitRequest(**request))
        if not names:  # the first split stands for all: what leaks there leaks elsewhere
            found = findings.inspect(data, split)
        names.append(split_name(data.fingerprint, split))
        with writing(folder):
            save_split(split, data, folder / f"{names[-1]}.npz")
    return {
        "fingerprint": data.fingerprint,
        "views": len(data.views),
        "notes": [*data.notes, *map(str, found)],
        "splits": names,
    }


def prepare(
    registry: Registry,
    folder: Path,
    cache: Path,
    dataset: Mapping[str, Any],
    fingerprint: str,
    request: Mapping[str, Any],
    steps: Sequence[str],
    name: str,
) -> dict[str, Any]:
    """Split and preprocess a dataset into the folder `name` of the cache."""
    if (cache / name).exists():
        return {}
    plugin = DataSpec.from_json(dataset).make(registry)
    if not _place(fingerprint, cache).exists():
        _load_again(plugin, fingerprint, cache)
    data = open_data(_place(fingerprint, cache))
    split = make_split(plugin, data, SplitRequest(**request))
    with new_folder(cache / name) as temporary:
        parts = {"train": split.train, "query": split.query}
        if not split.database_is_train:
            parts["database"] = split.database
        for m, (X, chosen) in enumerate(zip(data.views, steps, strict=True)):
            transform = preprocessing.fit(chosen, X, split.train)
            for part, rows in parts.items():
                blocks = preprocessing.blocks(transform, X, rows)
                write_rows(blocks, temporary / f"{part}_{m}.npy", len(rows))
        np.save(temporary / "train_labels.npy", data.labels[split.train])
        database = "train" if split.database_is_train else "database"
        files = {"train": "train", "query": "query", "database": database}
        about = {"views": len(data.views), "files": files}
        (temporary / "about.json").write_text(json.dumps(about))
    return {}


def _place(fingerprint: str, cache: Path) -> Path:
    return cache / f"data-{fingerprint}"


def _keep(data: Data, cache: Path) -> None:
    if not _place(data.fingerprint, cache).exists():
        place = _place(data.fingerprint, cache)
        with new_folder(place) as temporary, writing(place):
            save_data(data, temporary)


def _load_again(plugin: Dataset, fingerprint: str, cache: Path) -> None:
    """Fill a cache that has been emptied, or that of another machine."""
    data = plugin.load()
    if data.fingerprint != fingerprint:
        raise HashbenchError(
            f"dataset {plugin.name}: found data with fingerprint {data.fingerprint}; "
            f"the study was planned with {fingerprint}"
        )
    _keep(data, cache)


def make_split(plugin: Dataset, data: Data, request: SplitRequest) -> Split:
    """Return a split; a cap on the training rows takes a random part of them."""
    split = plugin.split(data, request.protocol, request.seed)
    if request.train_rows is None or request.train_rows >= len(split.train):
        return split
    rng = np.random.default_rng([request.seed, 0xCA9])
    chosen = rng.choice(split.train, size=request.train_rows, replace=False)
    return Split(np.sort(chosen), split.query, split.database)


def check_data(data: Data, name: str) -> None:
    """Refuse data whose views and labels do not belong together."""
    if len(data.views) < 2 or len(data.view_names) != len(data.views):
        raise HashbenchError(
            f"dataset {name}: found {len(data.views)} views with {len(data.view_names)} names; "
            "allowed: two views or more, a name each"
        )
    rows = [X.shape[0] for X in data.views]
    if len(set(rows)) > 1:
        raise HashbenchError(f"dataset {name}: found {rows} rows in the views; allowed: one number")
    check_labels(data.labels, rows[0])


# --- a dataset in the cache ---------------------------------------------------------------------


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
    }
    (folder / "about.json").write_text(json.dumps(record))


_PARTS = ("_data", "_indices", "_indptr")


def open_data(folder: Path) -> Data:
    """Map a dataset that :func:`save_data` wrote; display strings are not among it."""
    about = json.loads((folder / "about.json").read_text())
    return Data(
        views=[_open_view(folder, m, about) for m in range(len(about["shapes"]))],
        labels=np.load(folder / "labels.npy"),
        view_names=tuple(about["view_names"]),
        label_names=tuple(about["label_names"]),
        given={part: np.load(folder / f"given_{part}.npy") for part in about["given"]},
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
    """Write a matrix that comes in blocks of rows.

    By plain writes: a full disk is then an error, where a map that is written to would be killed.
    """
    with writing(path), path.open("wb") as stream:
        for start, block in enumerate(blocks):
            if start == 0:
                shape = (rows, block.shape[1])
                header = {"descr": block.dtype.str, "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(stream, header)
            stream.write(np.ascontiguousarray(block).data)


# --- what the store keeps of a split ------------------------------------------------------------


def split_name(fingerprint: str, split: Split) -> str:
    """Return a name for a split of one dataset: rows alone do not tell whose rows they are."""
    return hashlib.sha256(f"{fingerprint} {split.hash}".encode()).hexdigest()[:16]


def pictures_name(fingerprint: str) -> str:
    """Return the name of the file with a dataset's pictures, beside those of its splits."""
    return f"pictures-{fingerprint}"


def save_pictures(pictures: ContactSheet, path: Path) -> None:
    """Write the pictures of a dataset's items, so that reports never need the dataset."""
    np.savez(
        path,
        png=np.frombuffer(pictures.png, np.uint8),
        size=np.asarray(pictures.size),
        columns=np.asarray(pictures.columns),
    )


def save_split(split: Split, data: Data, path: Path) -> None:
    """Write what measures and reports need of a split."""
    arrays: dict[str, Any] = {
        "train": split.train,
        "query": split.query,
        "database": split.database,
        "query_labels": pack(data.labels[split.query].astype(bool)),
        "database_labels": pack(data.labels[split.database].astype(bool)),
        "n_labels": np.asarray(data.labels.shape[1]),
        "view_names": np.asarray(data.view_names),
        "label_names": np.asarray(data.label_names, dtype=np.str_),
    }
    if data.strings is not None:
        strings = np.asarray(data.strings, dtype=np.str_)
        arrays["query_strings"] = strings[split.query]
        arrays["database_strings"] = strings[split.database]
    np.savez_compressed(path, **arrays)


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Give a folder to fill that takes its name only when it is complete."""
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}-"))
    try:
        yield temporary
        if not target.exists():  # another worker may have been faster
            os.rename(temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Tell a full disk from whatever else may go wrong."""
    try:
        yield
    except OSError as error:
        raise StorageError(
            error.errno, f"cannot write {path}: {error.strerror or error}"
        ) from error
