"""A cell's numbers and their cache ``OUT/.evaluated``: two files per cell.

The folder may be deleted at any time. A cached number is used only if its stamp is current: the
same codes, the same split, the same version of the evaluator.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.core.errors import DamagedError, HashbenchError
from hashbench.core.io import (
    load_checked_arrays,
    read_record,
    save_checked_arrays,
    write_record,
)
from hashbench.core.records import from_json, to_json
from hashbench.data.splits import Searched, StoredSplit
from hashbench.execution.store import Stored
from hashbench.measures import DEFAULT_MEASURES, parse

FOLDER = ".evaluated"

#: More cells than this are read from the disk again: each takes about 100 kB of memory.
CELLS_IN_MEMORY = 2500

PerQuery = npt.NDArray[np.float64]


#: Curves that reports draw; what speaks of a radius is left out where there are no codes.
CURVES = tuple(name for name in DEFAULT_MEASURES if parse(name).is_curve)


@dataclass(frozen=True)
class RankingScores:
    """What one task gives for one part of the database and one kind of codes.

    Attributes
    ----------
    task : ``image->text``, or another pair of views
    searched : the part and the codes
    scores : measure -> value, low, high, chance, chance_error; all but the first may be None
    curves : measure -> axis, x, precision, recall
    """

    task: str
    searched: Searched
    scores: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    curves: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class EvaluatedCell:
    """A cell's numbers: all that tables, reports and page show of it.

    Attributes
    ----------
    rankings : one per task and part of the database with codes; the part that tables show by
        default is the first
    codes : statistics of each stored set of codes, empty for methods without codes
    hamming : whether the method has codes
    """

    rankings: list[RankingScores]
    codes: list[dict[str, Any]]
    hamming: bool

    def has(self, measures: Iterable[str]) -> bool:
        """Say whether all of these are known, so far as they exist without codes."""
        # what does not depend on the order of items speaks of a Hamming radius
        wanted = [name for name in measures if self.hamming or parse(name).has_ties]
        return all(
            {*ranking.scores, *ranking.curves}.issuperset(wanted) for ranking in self.rankings
        )


class EvaluationCache:
    """The score cache of a folder of results; the last cells read are also held in memory.

    Parameters
    ----------
    out : the folder of results
    """

    def __init__(self, out: Path) -> None:
        self.out = out
        self.folder = out / FOLDER
        #: by id, the stamp and the numbers of cells
        self._in_memory: dict[str, tuple[Mapping[str, str], EvaluatedCell]] = {}
        #: the cell whose values by query were last written or read
        self._last: tuple[str, Mapping[str, PerQuery]] = ("", {})

    def read(self, cell_id: str, stamp: Mapping[str, str]) -> EvaluatedCell | None:
        """Return the numbers of a cell, None if they are not cached or of another stamp."""
        if cell_id not in self._in_memory:
            try:
                record = read_record(self.paths(cell_id)[0])
                self._keep_in_memory(cell_id, record["stamp"], from_json(EvaluatedCell, record))
            except (DamagedError, KeyError):
                return None
        known, evaluated = self._in_memory[cell_id]
        return evaluated if known == stamp else None

    def per_query(
        self, cell_id: str, stamp: Mapping[str, str], measure: str, task: str, searched: Searched
    ) -> PerQuery | None:
        """Return a measure's value for every query, None if it is not cached."""
        if self._last[0] != cell_id:
            try:
                self._last = (cell_id, load_checked_arrays(self.paths(cell_id)[1]))
            except DamagedError:
                return None
        return self._last[1].get(_key(stamp, measure, task, searched))

    def write(
        self,
        cell_id: str,
        stamp: Mapping[str, str],
        evaluated: EvaluatedCell,
        per_query: Mapping[tuple[str, str, Searched], PerQuery],
    ) -> None:
        """Cache a cell's numbers, and some of them query by query.

        If the folder cannot be written to, they are held in memory only.

        Parameters
        ----------
        per_query : by measure, task and what is searched
        """
        arrays = {_key(stamp, *key): values for key, values in per_query.items()}
        self._keep_in_memory(cell_id, stamp, evaluated)
        self._last = (cell_id, arrays)
        try:
            self.folder.mkdir(exist_ok=True)
            record_path, arrays_path = self.paths(cell_id)
            save_checked_arrays(arrays_path, arrays)
            record = {"stamp": dict(stamp), **to_json(evaluated)}
            write_record(record_path, record, indent=None)
        except OSError as error:
            if not self.out.is_dir():
                raise HashbenchError(f"{self.out} is not a folder of results") from error

    def paths(self, cell_id: str) -> tuple[Path, Path]:
        """Return the files with a cell's numbers and with its values by query."""
        return self.folder / f"{cell_id}.json", self.folder / f"{cell_id}.npz"

    def _keep_in_memory(
        self, cell_id: str, stamp: Mapping[str, str], evaluated: EvaluatedCell
    ) -> None:
        """Keep the numbers of a cell; forget all others when there are too many."""
        if len(self._in_memory) >= CELLS_IN_MEMORY:
            self._in_memory.clear()
        self._in_memory[cell_id] = (stamp, evaluated)


def _key(stamp: Mapping[str, str], measure: str, task: str, searched: Searched) -> str:
    """Return the name of an array in an npz file."""
    text = "\n".join((str(sorted(stamp.items())), measure, task, *searched))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def all_names(measures: Sequence[str]) -> list[str]:
    """Return measures with all that reports show besides, by their canonical names."""
    wanted = (*measures, *tie_variants(measures), *CURVES)
    return list(dict.fromkeys(str(parse(name)) for name in wanted))


def tie_variants(measures: Sequence[str]) -> list[str]:
    """Return the first number as the report of ties shows it: expected and in database order."""
    numbers = [measure for measure in map(parse, measures) if not measure.is_curve]
    return [
        str(measure.with_(ties=ties))
        for measure in numbers[:1]
        for ties in ("expected", "index")
        if measure.has_ties and measure["no_hits"] != "skip"
    ]


def fingerprint_of(stored: Stored, split: StoredSplit) -> dict[str, str]:
    """Return what has to be equal for remembered numbers to hold."""
    codes = stored.record.files["codes.npz"]
    return {"codes": codes, "split": split.checksum, "evaluator": evaluator_hash()}


@cache
def evaluator_hash() -> str:
    """Return a hash of everything that turns codes into numbers."""
    digest = hashlib.sha256()
    house = Path(__file__).parents[1]
    measures = sorted((house / "measures").glob("*.py"))
    here = Path(__file__).parent
    for path in (*measures, house / "core" / "codes.py", here / "scoring.py", Path(__file__)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
