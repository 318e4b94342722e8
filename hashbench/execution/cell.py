"""The cell: one method with its parameters, at one number of bits, on one split of a dataset.

A cell is the unit of work, of storage, of failure and of resumption. Its id is a hash of all that
determines its outcome, so that a stored outcome can be believed without asking who made it. One
function computes a cell, whichever executor calls it.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import resource
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_info

from hashbench.core import task_log
from hashbench.core.codes import as_words
from hashbench.core.errors import HashbenchError
from hashbench.core.io import save_arrays
from hashbench.core.validation import Matrix
from hashbench.data.prepare import Prepared
from hashbench.execution.cell_codes import CellCodes
from hashbench.execution.outcomes import is_amounts, is_count, is_flag, is_texts
from hashbench.plugins.method import LinearMethod, Method, VectorMethod
from hashbench.plugins.protocol import Protocol
from hashbench.plugins.registry import Plugin, Registry
from hashbench.plugins.selection import TUNED, full_name
from hashbench.plugins.source_hash import source_hash

#: Raised whenever the harness changes in a way that changes outcomes: no stored cell survives.
PROTOCOL_VERSION = 1

SEARCHES = 50  # queries that are timed

#: What :func:`compute` must return to be believed.
RETURNS = {
    "learned": is_flag,
    "seconds": is_amounts,
    "random_state": is_count,
    "resident_at_start": is_count,
    "peak": is_count,
    "pools": is_texts,
}


@dataclass(frozen=True)
class Cell:
    """What determines an outcome.

    Attributes
    ----------
    dataset : the dataset as tables print it, with the parameters that were set
    fingerprint : a hash of the data themselves
    protocol : how the dataset is split, and
    split : a hash of the rows it gave
    preprocessing : one name a view
    method : its name, and
    params : the parameters that differ from their defaults, as tables print them
    parameters : all parameters of the method, but n_bits and random_state
    source : a hash of the method's source
    bits, seed : numbers
    tuned : whether parameters and preprocessing were chosen on validation rows
    """

    dataset: str
    fingerprint: str
    protocol: Protocol
    split: str
    preprocessing: tuple[str, ...]
    method: str
    params: str
    parameters: Mapping[str, Any] = field(hash=False)
    source: str
    bits: int
    seed: int
    version: int = PROTOCOL_VERSION
    tuned: bool = False

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Cell:
        """Read what :meth:`to_json` wrote; a wrong record raises TypeError."""
        values = dict(record)
        values["protocol"] = Protocol.parse(values["protocol"])
        return cls(**{**values, "preprocessing": tuple(values["preprocessing"])})

    def to_json(self) -> dict[str, Any]:
        """Return the cell as JSON can hold it; what is not tuned says nothing about it."""
        # dataclasses.asdict copies every value: seconds in a study of many cells
        record = {name: self.__dict__[name] for name in _FIELDS}
        record["protocol"] = str(self.protocol)
        record["parameters"] = dict(self.parameters)
        if not self.tuned:
            del record["tuned"]
        return record

    @cached_property
    def id(self) -> str:
        """A hash of everything above."""
        return hashlib.sha256(_ENCODER.encode(self.to_json()).encode()).hexdigest()[:20]

    @property
    def name(self) -> str:
        """The method, tuned or not: ``edsh``, ``edsh(tuned)``."""
        return f"{self.method}{TUNED}" if self.tuned else self.method

    @property
    def label(self) -> str:
        """The method as tables print it: ``edsh[gamma=1]``."""
        return full_name(self.name, self.params)

    @property
    def key(self) -> tuple[str, str, str, int, int]:
        """What a reader tells cells apart by; also the order of tables."""
        return (self.dataset, self.name, self.params, self.bits, self.seed)

    def __str__(self) -> str:
        return f"{self.label} at {self.bits} bits on {self.dataset}, seed {self.seed}"


_FIELDS = tuple(each.name for each in fields(Cell))

#: Made once: plans have tens of thousands of cells.
_ENCODER = json.JSONEncoder(sort_keys=True, default=repr)


def random_state(seed: int) -> int:
    """Return the random state that a seed gives to every method: common random numbers."""
    return int.from_bytes(hashlib.sha256(f"random_state {seed}".encode()).digest()[:4], "little")


def compute(
    registry: Registry,
    folder: Path,
    cache: Path,
    cell: Mapping[str, Any],
    data: str,
) -> dict[str, Any]:
    """Compute one cell: fit on training rows, encode queries and database, write the codes.

    Parameters
    ----------
    registry : where the method is found
    folder : where codes.npz and history.npz are written
    cache : the folder with prepared data
    cell : the cell, as JSON holds it
    data : the name of the prepared split in the cache

    Returns
    -------
    dict
        Timings by phase in seconds, peak memory in bytes and what else the record keeps.
    """
    what = Cell.from_json(cell)
    resident = peak_memory()
    seconds: dict[str, float] = {}

    plugin = registry.get("methods", what.method)
    check_source(plugin, what)
    start = time.perf_counter()
    prepared = Prepared.open(cache / data)
    for module in plugin.cls.requires:  # what takes seconds to import is no training
        with contextlib.suppress(ModuleNotFoundError):  # fit says what to do then
            importlib.import_module(module)
    if plugin.cls.compiled:
        from hashbench.core.compilation import load

        load()
    seconds["load"] = time.perf_counter() - start

    method: Method = plugin.cls(
        **what.parameters, n_bits=what.bits, random_state=random_state(what.seed)
    )
    if method.supervised:
        prepared = prepared.with_labels_only()
    total = what.parameters.get("epochs", what.parameters.get("iterations"))
    method.on_record = task_log.TaskLog(folder, total if isinstance(total, int) else None)
    labels = prepared.train_labels if method.supervised else None
    validation: dict[str, Any] = (
        {"validation": prepared.validation} if method.early_stopping else {}
    )
    start = time.perf_counter()
    method.fit(list(prepared.train), labels, **validation)
    seconds["fit"] = time.perf_counter() - start - method.recording_seconds_
    seconds["recording"] = method.recording_seconds_
    check_fitted(method)

    start = time.perf_counter()
    encoded = encode(method, prepared, what.bits)
    seconds["encode"] = time.perf_counter() - start

    codes = checked(encoded, prepared)
    record: dict[str, Any] = {"learned": bool(codes.learned)}
    if isinstance(method, VectorMethod):
        record["item_bytes"] = float(method.item_bytes)
    seconds["search_per_query"] = search_seconds(codes)
    codes.save(folder / "codes.npz")
    history = {
        name: np.asarray(getattr(method, name + "_"), np.float64)
        for name in ("objective", "objective_seconds")
        if hasattr(method, name + "_")
    }
    if history:
        save_arrays(folder / "history.npz", history)
    return {
        **record,
        "seconds": seconds,
        "random_state": random_state(what.seed),
        "resident_at_start": resident,
        "peak": peak_memory(),
        "pools": thread_pools(),
    }


def check_source(plugin: Plugin, cell: Cell) -> None:
    """Refuse to compute a cell with another method than it was planned with."""
    found = source_hash(plugin)
    if found != cell.source:
        raise HashbenchError(
            f"method {cell.method}: found source {found}, the study was planned with "
            f"{cell.source}; every machine needs the same version, unchanged while a study starts"
        )


def check_fitted(method: Method) -> None:
    """Refuse hash functions with infinite or undefined weights: their signs mean nothing."""
    if not isinstance(method, LinearMethod):
        return
    for name in ("projections_", "means_", "offsets_"):
        for view, weights in enumerate(getattr(method, name, None) or []):
            wrong = int(np.size(weights) - np.isfinite(weights).sum())
            if wrong:
                raise HashbenchError(
                    f"{name}[{view}]: found {wrong} entries of {np.size(weights)} that are NaN or "
                    "infinite; allowed: finite numbers"
                )


def encode(method: Method, prepared: Prepared, bits: int) -> CellCodes:
    """Return what the method makes of queries and database, and what it has learned, unchecked."""
    if isinstance(method, VectorMethod):
        return CellCodes(
            tuple(method.vectors(X, view, "query") for view, X in enumerate(prepared.query)),
            tuple(method.vectors(X, view, "database") for view, X in enumerate(prepared.database)),
            _one_or_each(getattr(method, "vectors_", None)),
        )
    return CellCodes(
        tuple(method.encode(X, view) for view, X in enumerate(prepared.query)),
        tuple(method.encode(X, view) for view, X in enumerate(prepared.database)),
        _one_or_each(getattr(method, "codes_", None)),
        bits,
    )


def _one_or_each(learned: Any) -> tuple[Any, ...]:
    if learned is None:
        return ()
    return tuple(learned) if isinstance(learned, list | tuple) else (learned,)


def checked(codes: CellCodes, prepared: Prepared) -> CellCodes:
    """Return codes packed, or vectors in float32; say what is wrong with them if something is."""
    attribute = "vectors_" if codes.n_bits is None else "codes_"
    views = len(prepared.train)
    if len(codes.learned) not in (0, 1, views):
        raise HashbenchError(
            f"{attribute}: found {len(codes.learned)} arrays; allowed: one, or one a view ({views})"
        )

    def check(values: Any, X: Matrix, what: str) -> npt.NDArray[Any]:
        if codes.n_bits is None:
            return check_vectors(values, X.shape[0], what)
        return check_codes(values, X.shape[0], codes.n_bits, what)

    def each(role: str) -> tuple[npt.NDArray[Any], ...]:
        pairs = zip(getattr(codes, role), getattr(prepared, role), strict=True)
        what = "vectors" if codes.n_bits is None else "codes"
        return tuple(
            check(values, X, f"{what} of {role}, view {view}")
            for view, (values, X) in enumerate(pairs)
        )

    learned = tuple(check(values, prepared.train[0], attribute) for values in codes.learned)
    return replace(codes, query=each("query"), database=each("database"), learned=learned)


def check_codes(codes: Any, rows: int, bits: int, what: str) -> npt.NDArray[np.uint64]:
    """Return (rows, bits) codes packed, or say what is wrong with them."""
    shape = np.shape(codes)
    if shape != (rows, bits):
        raise HashbenchError(f"{what}: found shape {shape}; allowed: {(rows, bits)}")
    return as_words(codes, bits, what=what)[0]


def check_vectors(vectors: Any, rows: int, what: str) -> npt.NDArray[np.float32]:
    """Return (rows, p) vectors in float32, or say what is wrong with them."""
    values = np.asarray(vectors)
    if values.ndim != 2 or values.shape[0] != rows:
        raise HashbenchError(f"{what}: found shape {values.shape}; allowed: ({rows}, p)")
    if values.dtype.kind != "f" or not np.isfinite(values).all():
        raise HashbenchError(f"{what}: found entries that are not finite numbers")
    return values.astype(np.float32, copy=False)


def search_seconds(codes: CellCodes) -> float:
    """Return the mean time of a query of view 0 against all items of view 1, in seconds.

    A plain scan, one query after the other: distances or scores to every item, no ranking.
    """
    queries, items = codes.query[0][:SEARCHES], codes.database[1]
    words = np.ascontiguousarray(items.T)  # word by word: each is one run through memory
    start = time.perf_counter()
    for query in queries:
        if codes.n_bits is not None:
            distances = np.zeros(len(items), np.uint16)
            for column, word in zip(words, query, strict=True):
                distances += np.bitwise_count(column ^ word)
        else:
            query @ words
    return (time.perf_counter() - start) / len(queries)


def thread_pools() -> list[str]:
    """Return the libraries that compute in threads, with how many they were left."""
    return [
        f"{pool['internal_api']} {pool['version']}: {pool['num_threads']}"
        for pool in threadpool_info()
    ]


def peak_memory() -> int:
    """Return the largest resident set this process has had, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) if sys.platform == "darwin" else int(peak) * 1024
