"""Compute one cell in a subprocess: fit a method, encode queries and database, write the codes."""

from __future__ import annotations

import contextlib
import importlib
import resource
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_info

from hashbench.core import task_log
from hashbench.core.codes import as_words
from hashbench.core.errors import DeclinedError, HashbenchError
from hashbench.core.io import save_arrays
from hashbench.core.records import from_json
from hashbench.core.validation import Matrix
from hashbench.data.prepare import Prepared
from hashbench.execution.cell import DISTANCE, Cell, random_state
from hashbench.execution.cell_codes import CellCodes
from hashbench.plugins.method import LinearMethod, Method, VectorMethod
from hashbench.plugins.registry import Plugin, Registry
from hashbench.plugins.source_hash import source_hash

TIMED_QUERIES = 50


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
    cell : the cell as JSON data
    data : the name of the prepared split in the cache

    Returns
    -------
    dict
        Seconds by phase, peak memory in bytes and the other fields of the record.
    """
    resident = peak_memory()
    what = from_json(Cell, cell)
    plugin = registry.get("methods", what.method)
    check_source(plugin, what)
    seconds: dict[str, float] = {}
    with _timed(seconds, "load"):
        prepared = Prepared.open(cache / data)
        _load_modules(plugin)
    method = _make_method(plugin, what, folder)
    if method.supervised and not prepared.train_labels.shape[1]:
        raise DeclinedError("it is supervised, and the data have no labels")
    if method.supervised:
        prepared = prepared.with_labels_only()
    with _timed(seconds, "fit"):
        _fit_method(method, prepared)
    seconds["recording"] = method.recording_seconds_
    seconds["fit"] -= seconds["recording"]
    check_fitted(method)
    with _timed(seconds, "encode"):
        encoded = encode(method, prepared, what.bits, _is_asymmetric(plugin, what))
    codes = checked(encoded, prepared)
    codes.save(folder / "codes.npz")
    _save_history(method, folder / "history.npz")
    return cell_record(what, codes, seconds, resident, method.item_bytes)


@contextlib.contextmanager
def _timed(seconds: dict[str, float], phase: str) -> Iterator[None]:
    """Store the seconds that a block takes."""
    start = time.perf_counter()
    yield
    seconds[phase] = time.perf_counter() - start


def _load_modules(plugin: Plugin) -> None:
    """Import what takes seconds, so that it does not count as training."""
    for module in plugin.cls.requires:
        with contextlib.suppress(ModuleNotFoundError):  # fit says how to install it
            importlib.import_module(module)
    if plugin.cls.compiled:
        from hashbench.core.compilation import load

        load()


def _make_method(plugin: Plugin, cell: Cell, folder: Path) -> Method:
    """Return the method of a cell, which logs its iterations to a folder."""
    state = random_state(cell.seed)
    parameters = dict(cell.parameters)
    if _is_asymmetric(plugin, cell):
        del parameters[DISTANCE]
    method: Method = plugin.cls(**parameters, n_bits=cell.bits, random_state=state)
    total = cell.parameters.get("epochs", cell.parameters.get("iterations"))
    method.on_record = task_log.TaskLog(folder, total if isinstance(total, int) else None)
    return method


def _is_asymmetric(plugin: Plugin, cell: Cell) -> bool:
    """Return whether real queries are compared; a method's own parameter is something else."""
    return DISTANCE in cell.parameters and DISTANCE not in plugin.cls.defaults()


def _fit_method(method: Method, prepared: Prepared) -> None:
    labels = prepared.train_labels if method.supervised else None
    more: dict[str, Any] = {"validation": prepared.validation} if method.early_stopping else {}
    method.fit(list(prepared.train), labels, **more)


def _save_history(method: Method, path: Path) -> None:
    """Write the recorded values of the objective, if there are any."""
    history = {
        name: np.asarray(getattr(method, name + "_"), np.float64)
        for name in ("objective", "objective_seconds")
        if hasattr(method, name + "_")
    }
    if history:
        save_arrays(path, history)


def cell_record(
    cell: Cell,
    codes: CellCodes,
    seconds: Mapping[str, float],
    resident: int,
    item_bytes: float,
) -> dict[str, Any]:
    """Return the result of a cell's task: times, memory and thread pools."""
    return {
        "learned": bool(codes.learned),
        "hamming": codes.n_bits is not None,
        "item_bytes": float(item_bytes),
        "seconds": {**seconds, "search_per_query": search_seconds(codes)},
        "random_state": random_state(cell.seed),
        "resident_at_start": resident,
        "peak": peak_memory(),
        "pools": thread_pools(),
    }


def check_source(plugin: Plugin, cell: Cell) -> None:
    """Raise an error if the method's source is not the one that the cell was planned with."""
    found = source_hash(plugin)
    if found != cell.source:
        raise HashbenchError(
            f"method {cell.method}: found source {found}, the study was planned with "
            f"{cell.source}; every machine needs the same version, unchanged while a study starts"
        )


def check_fitted(method: Method) -> None:
    """Raise an error if weights of hash functions are infinite or NaN."""
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


def encode(method: Method, prepared: Prepared, bits: int, asymmetric: bool = False) -> CellCodes:
    """Return the method's codes of queries and database, and its learned codes, unchecked.

    With the asymmetric distance, the real values of queries and the codes as -1 and +1 (A. Gordo,
    F. Perronnin, Y. Gong, S. Lazebnik: Asymmetric distances for binary embeddings, IEEE TPAMI
    2014). Their inner product is the norm sum_j |q_j| less twice that of the bits that differ.
    """
    if asymmetric:
        learned = _as_tuple(getattr(method, "codes_", None))
        return CellCodes(
            tuple(method.project(X, view) for view, X in enumerate(prepared.query)),
            tuple(_signs(method.encode(X, view)) for view, X in enumerate(prepared.database)),
            tuple(map(_signs, learned)),
        )
    if isinstance(method, VectorMethod):
        return CellCodes(
            tuple(method.vectors(X, view, "query") for view, X in enumerate(prepared.query)),
            tuple(method.vectors(X, view, "database") for view, X in enumerate(prepared.database)),
            _as_tuple(getattr(method, "vectors_", None)),
        )
    return CellCodes(
        tuple(method.encode(X, view) for view, X in enumerate(prepared.query)),
        tuple(method.encode(X, view) for view, X in enumerate(prepared.database)),
        _as_tuple(getattr(method, "codes_", None)),
        bits,
    )


def _signs(codes: Any) -> npt.NDArray[np.float32]:
    return np.where(codes, np.float32(1), np.float32(-1))


def _as_tuple(learned: Any) -> tuple[Any, ...]:
    if learned is None:
        return ()
    return tuple(learned) if isinstance(learned, list | tuple) else (learned,)


def checked(codes: CellCodes, prepared: Prepared) -> CellCodes:
    """Return packed codes, or vectors in float32; raise an error if shape or dtype is wrong."""
    attribute = "vectors_" if codes.n_bits is None else "codes_"
    views = len(prepared.train)
    if len(codes.learned) not in (0, 1, views):
        raise HashbenchError(
            f"{attribute}: found {len(codes.learned)} arrays; allowed: one, or one per view"
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
    """Return packed (rows, bits) codes; raise an error if the shape is wrong."""
    shape = np.shape(codes)
    if shape != (rows, bits):
        raise HashbenchError(f"{what}: found shape {shape}; allowed: {(rows, bits)}")
    return as_words(codes, bits, what=what)[0]


def check_vectors(vectors: Any, rows: int, what: str) -> npt.NDArray[np.float32]:
    """Return (rows, p) vectors in float32; raise an error if they are not finite."""
    values = np.asarray(vectors)
    if values.ndim != 2 or values.shape[0] != rows:
        raise HashbenchError(f"{what}: found shape {values.shape}; allowed: ({rows}, p)")
    if values.dtype.kind != "f" or not np.isfinite(values).all():
        raise HashbenchError(f"{what}: found entries that are not finite numbers")
    return values.astype(np.float32, copy=False)


def search_seconds(codes: CellCodes) -> float:
    """Return the mean seconds of one query of view 0 against all items of view 1.

    A linear scan, one query after the other: distances or scores to every item, no ranking.
    """
    queries, items = codes.query[0][:TIMED_QUERIES], codes.database[1]
    words = np.ascontiguousarray(items.T)
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
    """Return the libraries with thread pools and their numbers of threads."""
    return [
        f"{pool['internal_api']} {pool['version']}: {pool['num_threads']}"
        for pool in threadpool_info()
    ]


def peak_memory() -> int:
    """Return the peak resident memory of this process in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) if sys.platform == "darwin" else int(peak) * 1024
