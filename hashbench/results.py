"""The results of a study: two tables derived from what the store holds.

``results`` has a row a number: every measure of every done cell, for each task and each kind of
database codes. ``runs`` has a row a cell, done or not, with what depends on the machine. Nothing
here is kept as truth; both can be made again from the stored codes at any time.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import io
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import hashbench
from hashbench.cell import Cell
from hashbench.measures import parse_many
from hashbench.plan import Plan
from hashbench.store import Store, Stored, replacing

if TYPE_CHECKING:
    from hashbench.measures.rankings import Ranking

Row = dict[str, Any]
Arrays = Mapping[str, npt.NDArray[Any]]

RESULT_COLUMNS = (
    "dataset", "method", "params", "bits", "seed", "task", "database", "measure", "value",
)  # fmt: skip
RUN_COLUMNS = (
    "dataset", "method", "params", "bits", "seed", "status", "reason", "fit_seconds",
    "encode_seconds", "search_seconds_per_query", "load_seconds", "wall_seconds", "peak_memory",
    "threads", "alone", "learned", "item_bytes", "protocol", "preprocessing", "machine", "cpu",
    "hashbench", "git", "python", "numpy", "scipy", "id",
)  # fmt: skip

#: Columns of times, by the phase's name in a cell's record.
PHASES = {
    "fit": "fit_seconds",
    "encode": "encode_seconds",
    "search_per_query": "search_seconds_per_query",
    "load": "load_seconds",
    "wall": "wall_seconds",
}


def results(store: Store, done: Iterable[Stored], measures: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of results.csv for cells that are done, in the order they come."""
    split_name: str = ""
    split: Arrays = {}
    cache = ScoreCache(store.path / ".scores")
    for stored in done:
        if stored.cell.split != split_name:
            split_name, split = stored.cell.split, store.split(stored.cell.split)
        yield from cell_results(stored, split, measures, cache)


def cell_results(
    stored: Stored, split: Arrays, measures: Sequence[str], cache: ScoreCache
) -> Iterator[Row]:
    """Yield a done cell's numbers: database codes, then tasks, then measures."""
    from hashbench.measures.evaluation import evaluate_ranking  # imports numba: a second

    codes = stored.codes()
    hamming = "n_bits" in codes
    # Vectors have no Hamming radius.
    wanted = [measure for measure in parse_many(measures) if measure.has_ties or hamming]
    names = [str(name) for name in split["view_names"]]
    known = cache.read(stored)
    computed: dict[str, float] = {}
    for kind, asked, searched in rankings(codes, split):
        task = f"{names[asked]}->{names[searched]}"
        keys = {f"{kind} {task} {measure}": measure for measure in wanted if not measure.is_curve}
        lacking = [measure for key, measure in keys.items() if key not in known]
        if lacking:
            ranking = make_ranking(codes, split, kind, asked, searched)
            found = evaluate_ranking(ranking, lacking)
            computed |= {f"{kind} {task} {measure}": found[str(measure)] for measure in lacking}
            known |= computed
        for key, measure in keys.items():
            about = {"task": task, "database": kind, "measure": str(measure), "value": known[key]}
            yield {**dict(zip(RESULT_COLUMNS, stored.cell.key, strict=False)), **about}
    if computed:
        cache.write(stored, known)


class ScoreCache:
    """Numbers computed before, so that only new cells and new measures cost time.

    A file a cell, with a stamp of the codes and of the evaluator's source; whatever does not bear
    the right stamp is computed again. May be deleted at any time.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, stored: Stored) -> dict[str, float]:
        """Return the numbers that are known of a cell."""
        try:
            record = json.loads((self.folder / f"{stored.cell.id}.json").read_text())
            return dict(record["values"]) if record["stamp"] == self._stamp(stored) else {}
        except (OSError, ValueError, KeyError, TypeError):
            return {}

    def write(self, stored: Stored, values: Mapping[str, float]) -> None:
        """Keep the numbers of a cell."""
        self.folder.mkdir(exist_ok=True)
        record = {"stamp": self._stamp(stored), "values": values}
        with replacing(self.folder / f"{stored.cell.id}.json") as stream:
            json.dump(record, stream)

    @staticmethod
    def _stamp(stored: Stored) -> list[str]:
        return [str(stored.record["files"]["codes.npz"]), evaluator_hash()]


@functools.cache
def evaluator_hash() -> str:
    """Return a hash of everything that turns codes into numbers."""
    digest = hashlib.sha256()
    root = Path(hashbench.__file__).parent
    for path in (*sorted((root / "measures").glob("*.py")), root / "codes.py", Path(__file__)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


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
    from hashbench.measures.rankings import HammingRanking
    from hashbench.measures.scores import ScoreRanking

    query, database = codes[f"query_{asked}"], codes[f"database_{searched}"]
    labels = split["query_labels"], split["database_labels"]
    if kind == "learned":
        database = codes.get(f"learned_{searched}", codes.get("learned", database))
    if "n_bits" not in codes:
        return ScoreRanking(query, database, *labels)
    return HammingRanking(query, database, int(codes["n_bits"]), *labels)


def runs(plan: Plan, stored: Mapping[str, Stored]) -> list[Row]:
    """Return the rows of runs.csv: every cell that was asked for, run or not."""
    rows = [_run(cell, stored.get(cell.id)) for cell in plan.cells]
    rows += [{**asdict(each), "status": "failed"} for each in plan.missing]
    return sorted(rows, key=lambda row: [row[column] for column in RUN_COLUMNS[:5]])


def _run(cell: Cell, stored: Stored | None) -> Row:
    row: Row = {
        **dict(zip(RUN_COLUMNS, cell.key, strict=False)),
        "status": "missing",
        "protocol": cell.protocol,
        "preprocessing": ";".join(cell.preprocessing),
        "id": cell.id,
    }
    if stored is not None:
        record, seconds = stored.record, stored.record.get("seconds", {})
        row |= {column: seconds.get(phase) for phase, column in PHASES.items()}
        known = {**record, **record.get("environment", {})}
        row |= {column: known[column] for column in RUN_COLUMNS if column in known}
    return row


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
