"""Load, split and preprocess datasets, and write them to disk as memory maps for cells.

Cells that share a split share one folder of maps, so that no cell reads a dataset's own files,
nothing is pickled, and the system keeps one copy in memory however many cells look at it. Maps
are read-only: a method that changes its input fails. The folder is a cache; it may be
deleted at any time. What measures and reports need later (labels, rows, strings) goes into the
store instead, in one small file per split.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.core.errors import HashbenchError
from hashbench.core.io import new_folder, writing
from hashbench.core.records import from_json
from hashbench.core.validation import Matrix, check_labels
from hashbench.data import feature_scale, preprocessing, quality
from hashbench.data.formats import FileDataset
from hashbench.data.memory_maps import open_data, save_data, write_rows
from hashbench.data.splits import StoredSplit, pictures_name, save_pictures, split_name
from hashbench.plugins.dataset import Data, Dataset, Split, pair_queries
from hashbench.plugins.protocol import Protocol, Rows, labelled_rows, wrong_labels
from hashbench.plugins.registry import Registry

PAGE = 1024  # 4-byte numbers in a page of memory

#: The file with a hash of each row of each view.
DIGESTS = "digests.npy"

#: One in so many training rows is a validation query, up to a number that ranks methods well
#: enough; as large a share is the unseen database of trials.
VALIDATION_SHARE, MOST_VALIDATION = 5, 2000


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


@dataclass(frozen=True)
class SplitRequest:
    """A split that some cells need; `validation` divides its training rows for trials."""

    protocol: Protocol
    seed: int
    train_rows: int | None = None
    validation: bool = False


@dataclass(frozen=True)
class Prepared:
    """A split of a dataset, ready for cells: read-only maps.

    Attributes
    ----------
    train, query, database : lists of (rows, d_m) arrays, one a view
    train_labels : (rows, classes) uint8
    labelled : the training rows that have labels; None if all do
    validation : positions among the training rows, for methods that stop early
    """

    train: list[Matrix]
    query: list[Matrix]
    database: list[Matrix]
    train_labels: npt.NDArray[np.uint8]
    validation: Rows
    labelled: Rows | None = None

    @classmethod
    def open(cls, folder: Path) -> Prepared:
        """Map the files of a folder and read them once, so that no later phase waits for a disk."""
        about = json.loads((folder / "about.json").read_text())
        files = about["files"]
        maps = {
            file: [
                _load_pages(np.load(folder / f"{file}_{m}.npy", mmap_mode="r"))
                for m in range(about["views"])
            ]
            for file in set(files.values())  # mapped twice, memory would be counted twice
        }
        labels = np.load(folder / "train_labels.npy", mmap_mode="r")
        parts = {part: maps[file] for part, file in files.items()}
        if files["train"] == "database":  # its first rows are the training rows
            parts["train"] = [X[: len(labels)] for X in parts["train"]]
        held_out = np.load(folder / "validation.npy")
        labelled = folder / "labelled.npy"
        chosen = np.load(labelled) if labelled.exists() else None
        return cls(**parts, train_labels=labels, validation=held_out, labelled=chosen)

    def with_labels_only(self) -> Prepared:
        """Return the split without training rows that have no labels: what supervision can use."""
        if self.labelled is None:
            return self
        train = [X[self.labelled] for X in self.train]
        return replace(
            self,
            train=train,
            train_labels=self.train_labels[self.labelled],
            validation=np.flatnonzero(np.isin(self.labelled, self.validation)),
            labelled=None,
        )


def _load_pages(X: Matrix) -> Matrix:
    """Read one number of each page, so that the whole map is in memory."""
    X.reshape(-1)[::PAGE].sum()
    return X


def load_dataset(
    registry: Registry,
    folder: Path,
    cache: Path,
    dataset: Mapping[str, Any],
    requests: Sequence[Mapping[str, Any]],
    preprocessings: Sequence[str | Sequence[str]] = (),
) -> dict[str, Any]:
    """Load a dataset, leave it in the cache, and make every requested split.

    The files of the splits, which the store keeps, are written to `folder`. The scale of the views
    is checked after each of the preprocessings.

    Returns
    -------
    dict
        Fingerprint, names of the views, notes, and the names of the splits in the order of the
        requests.
    """
    plugin = from_json(DataSpec, dataset).make(registry)
    data = plugin.load()
    check_data(data, plugin.name)
    scans = [quality.scan(X) for X in data.views]
    digests = quality.all_digests(scans)
    _cache_data(data, digests, cache)
    names: list[str] = []
    found: list[str] = []
    if data.pictures is not None:
        save_pictures(data.pictures, folder / f"{pictures_name(data.fingerprint)}.npz")
    for request in requests:
        split = make_split(plugin, data, from_json(SplitRequest, request), digests)
        if not names:  # the first split stands for all: what leaks there leaks elsewhere
            findings = quality.inspect(data, split, scans)
            found = [*map(str, findings), *_scales(data, split, preprocessings)]
        names.append(split_name(data.fingerprint, split))
        StoredSplit.of(split, data).save(folder / f"{names[-1]}.npz")
    return {
        "fingerprint": data.fingerprint,
        "views": list(data.view_names),
        "labels_per_row": float(np.count_nonzero(data.labels) / max(1, data.n_rows)),
        "notes": [*data.notes, *found],
        "splits": names,
    }


def _scales(
    data: Data, split: Split, preprocessings: Sequence[str | Sequence[str]]
) -> Iterator[str]:
    """Yield what is unusual about the scale of the views, in one line per preprocessing."""
    for texts in preprocessings:
        steps = preprocessing.steps_by_view(texts, data.view_names)
        pairs = zip(steps, data.views, strict=True)
        lines = feature_scale.unusual(
            data.view_names, [feature_scale.measure(text, X, split.train) for text, X in pairs]
        )
        if lines:
            yield f"{'; '.join(lines)} (preprocessing {' / '.join(steps)})"


def prepare_split(
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
    plugin = from_json(DataSpec, dataset).make(registry)
    if not _data_folder(fingerprint, cache).exists():
        _load_again(plugin, fingerprint, cache)
    data = open_data(_data_folder(fingerprint, cache))
    digests = np.load(_data_folder(fingerprint, cache) / DIGESTS)
    wanted = from_json(SplitRequest, request)
    split = make_split(plugin, data, wanted, digests)
    with new_folder(cache / name) as temporary:
        parts = {"query": split.query, "database": split.database}
        shared = np.array_equal(split.database[: len(split.train)], split.train)
        if not shared:
            parts["train"] = split.train
        for m, (X, chosen) in enumerate(zip(data.views, steps, strict=True)):
            transform = preprocessing.fit(chosen, X, split.train)
            for part, rows in parts.items():
                blocks = preprocessing.blocks(transform, X, rows)
                write_rows(blocks, temporary / f"{part}_{m}.npy", len(rows))
        train = "database" if shared else "train"
        files = {"train": train, "query": "query", "database": "database"}
        about = {"views": len(data.views), "files": files}
        with writing(temporary):
            labels, labelled = training_labels(data, split, wanted)
            np.save(temporary / "train_labels.npy", labels)
            if labelled is not None:
                np.save(temporary / "labelled.npy", labelled)
            held_out = validation_rows(len(split.train), plugin.name, wanted)
            np.save(temporary / "validation.npy", held_out)
            StoredSplit.of(split, data).save(temporary / "split.npz")
            (temporary / "about.json").write_text(json.dumps(about))
    return {}


def _data_folder(fingerprint: str, cache: Path) -> Path:
    return cache / f"data-{fingerprint}"


def _cache_data(data: Data, digests: npt.NDArray[np.bytes_], cache: Path) -> None:
    if not _data_folder(data.fingerprint, cache).exists():
        place = _data_folder(data.fingerprint, cache)
        with new_folder(place) as temporary, writing(place):
            save_data(data, temporary)
            np.save(temporary / DIGESTS, digests)


def _load_again(plugin: Dataset, fingerprint: str, cache: Path) -> None:
    """Fill a cache that has been emptied, or that of another machine."""
    data = plugin.load()
    if data.fingerprint != fingerprint:
        raise HashbenchError(
            f"dataset {plugin.name}: found data with fingerprint {data.fingerprint}; "
            f"the study was planned with {fingerprint}"
        )
    _cache_data(data, quality.all_digests(map(quality.scan, data.views)), cache)


def make_split(
    plugin: Dataset,
    data: Data,
    request: SplitRequest,
    digests: npt.NDArray[np.bytes_] | None = None,
) -> Split:
    """Return a split; a cap on the training rows takes a random part of them.

    For trials the training rows are divided into queries, a database that is not trained on and
    training rows: codes of rows that a method was trained on would reward memorising.

    Parameters
    ----------
    digests : (views, n) a hash of each row, if they have been computed already
    """
    split = plugin.split(data, request.protocol, request.seed)
    if request.train_rows is not None and request.train_rows < len(split.train):
        rng = np.random.default_rng([request.seed, 0xCA9])
        chosen = rng.choice(split.train, size=request.train_rows, replace=False)
        split = replace(split, train=np.sort(chosen), trainable=split.train)
    if request.validation:
        split = _validation_split(plugin, split, request)
    if request.protocol.drops_copies and not split.paired:
        if digests is None:
            digests = quality.all_digests(map(quality.scan, data.views))
        split = replace(split, copies=quality.copied_queries(digests, split))
    return split


def _validation_split(plugin: Dataset, split: Split, request: SplitRequest) -> Split:
    """Return the training rows divided into queries, an unseen database and training rows."""
    count = len(split.train)
    if count < VALIDATION_SHARE:
        raise HashbenchError(
            f"dataset {plugin.name}: found {count} training rows; allowed: {VALIDATION_SHARE} or "
            "more, so that trials have queries, a database and training rows"
        )
    order = _shuffled(count, plugin.name, replace(request, validation=False))
    queries = _count_queries(count)
    ends = [queries, queries + count // VALIDATION_SHARE]
    query, database, train = (np.sort(split.train[rows]) for rows in np.split(order, ends))
    trials = Split(train, query, database, split.altered)
    return pair_queries(trials) if split.paired else trials


def validation_rows(count: int, name: str, request: SplitRequest) -> Rows:
    """Return positions among so many training rows: the queries of trials and early stopping."""
    return np.sort(_shuffled(count, name, request)[: _count_queries(count)])


def _count_queries(count: int) -> int:
    return min(count // VALIDATION_SHARE, MOST_VALIDATION)


def _shuffled(count: int, name: str, request: SplitRequest) -> Rows:
    """Return a random order that follows from dataset, protocol and seed alone, not from rows."""
    text = f"validation {name} {request.protocol} {request.seed} {request.validation}"
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
    return np.random.default_rng(seed).permutation(count)


def training_labels(
    data: Data, split: Split, request: SplitRequest
) -> tuple[npt.NDArray[np.uint8], Rows | None]:
    """Return the labels of the training rows, and which rows have any if not all do."""
    protocol, labels = request.protocol, data.labels[split.train]
    if protocol.label_noise:
        labels = wrong_labels(labels, protocol.label_noise, request.seed)
    if protocol.label_fraction == 1:
        return labels, None
    return labels, labelled_rows(len(labels), protocol.label_fraction, request.seed)


def check_data(data: Data, name: str) -> None:
    """Refuse data whose views and labels do not belong together."""
    if len(data.views) < 2 or len(data.view_names) != len(data.views):
        raise HashbenchError(
            f"dataset {name}: found {len(data.views)} views with {len(data.view_names)} names; "
            "allowed: two views or more, a name each"
        )
    for view, X in zip(data.view_names, data.views, strict=True):
        if len(X.shape) != 2:
            shape = " x ".join(map(str, X.shape))
            raise HashbenchError(
                f"dataset {name}: view {view}: found {shape}; "
                "allowed: two dimensions, one row per item"
            )
    rows = [X.shape[0] for X in data.views]
    if len(set(rows)) > 1:
        raise HashbenchError(f"dataset {name}: found {rows} rows in the views; allowed: one number")
    check_labels(data.labels, rows[0])
