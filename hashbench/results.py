"""The results of a study: two tables derived from what the store holds.

``results`` has a row a number: every measure of every done cell, for each task and each kind of
database codes. ``runs`` has a row a cell, done or not, with what depends on the machine. Nothing
here is kept as truth; both can be made again from the stored codes at any time.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.cell import Cell
from hashbench.measures.evaluation import evaluate_ranking
from hashbench.measures.rankings import HammingRanking, Ranking
from hashbench.measures.scores import ScoreRanking
from hashbench.store import Store, Stored

Row = dict[str, Any]
Arrays = Mapping[str, npt.NDArray[Any]]

RESULT_COLUMNS = (
    "dataset", "method", "params", "bits", "seed", "task", "database", "measure", "value",
)  # fmt: skip
RUN_COLUMNS = (
    "dataset", "method", "params", "bits", "seed", "status", "reason", "fit_seconds",
    "encode_seconds", "load_seconds", "wall_seconds", "peak_memory", "threads", "alone", "learned",
    "protocol", "preprocessing", "machine", "cpu", "hashbench", "git", "python", "numpy", "scipy",
    "id",
)  # fmt: skip


def results(store: Store, cells: Sequence[Cell], measures: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of results.csv, in the order of the cells' keys."""
    found = store.read([cell.id for cell in cells])
    split_name, split = "", {}
    for cell in sorted(cells, key=lambda cell: cell.key):
        stored = found.get(cell.id)
        if stored is None or stored.status != "done":
            continue
        if cell.split != split_name:
            split_name, split = cell.split, store.split(cell.split)
        yield from cell_results(stored, split, measures)


def cell_results(stored: Stored, split: Arrays, measures: Sequence[str]) -> Iterator[Row]:
    """Yield a done cell's numbers: database codes, then tasks, then measures."""
    cell, codes = stored.cell, stored.codes()
    identity = dict(zip(RESULT_COLUMNS, cell.key, strict=False))
    names = [str(name) for name in split["view_names"]]
    for kind, asked, searched in rankings(codes, split):
        task = f"{names[asked]}->{names[searched]}"
        ranking = make_ranking(codes, split, kind, asked, searched)
        for measure, value in evaluate_ranking(ranking, measures).items():
            about = {"task": task, "database": kind, "measure": measure}
            yield {**identity, **about, "value": value}


def rankings(codes: Arrays, split: Arrays) -> Iterator[tuple[str, int, int]]:
    """Yield what there is to score: kind of database codes, view that asks, view searched.

    Learned codes exist for training rows; they are scored where those are the database.
    """
    views = range(len(split["view_names"]))
    kinds = ["encoded"]
    if learned_names(codes) and np.array_equal(split["train"], split["database"]):
        kinds.append("learned")
    for kind, (asked, searched) in itertools.product(kinds, itertools.permutations(views, 2)):
        yield kind, asked, searched


def learned_names(codes: Arrays) -> list[str]:
    """Return the arrays of learned codes: none, one, or one a view."""
    return [name for name in codes if name.startswith("learned")]


def make_ranking(codes: Arrays, split: Arrays, kind: str, asked: int, searched: int) -> Ranking:
    """Return the ranking of one task for one kind of database codes."""
    query, database = codes[f"query_{asked}"], codes[f"database_{searched}"]
    labels = split["query_labels"], split["database_labels"]
    if "n_bits" not in codes:
        return ScoreRanking(query, database, *labels)
    if kind == "learned":
        database = codes.get(f"learned_{searched}", codes.get("learned", database))
    return HammingRanking(query, database, int(codes["n_bits"]), *labels)


def runs(store: Store, cells: Iterable[Cell]) -> Iterator[Row]:
    """Yield the rows of runs.csv: every cell, with status "missing" if it has not run."""
    ordered = sorted(cells, key=lambda cell: cell.key)
    found = store.read([cell.id for cell in ordered])
    for cell in ordered:
        row: Row = {
            **dict(zip(RUN_COLUMNS, cell.key, strict=False)),
            "status": "missing",
            "protocol": cell.protocol,
            "preprocessing": ";".join(cell.preprocessing),
            "id": cell.id,
        }
        stored = found.get(cell.id)
        if stored is not None:
            record = stored.record
            seconds = record.get("seconds", {})
            row |= {f"{phase}_seconds": seconds.get(phase) for phase in SECONDS}
            row |= {key: record.get(key) for key in ("status", "reason", "threads", "alone")}
            row["peak_memory"] = record.get("peak_memory")
            row["learned"] = record.get("learned")
            environment = record.get("environment", {})
            row |= {k: environment.get(k) for k in RUN_COLUMNS if k in environment}
        yield row


SECONDS = ("fit", "encode", "load", "wall")


def to_csv(rows: Iterable[Row], columns: Sequence[str]) -> str:
    """Write rows as CSV, the same rows always as the same bytes."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows({key: _format(value) for key, value in row.items()} for row in rows)
    return stream.getvalue()


def _format(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:.10g}"
    return "" if value is None else value
