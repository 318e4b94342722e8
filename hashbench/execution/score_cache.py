"""A cell's numbers, and the folder that remembers them: ``OUT/.evaluated``, two files a cell.

The folder may be deleted at any time. A file is believed if it is whole and its stamp is right:
made of these codes and this split, by this version of the evaluator. Its checksum is of the text
as it stands: writing the numbers of a thousand cells again, as `verify_checksum` does, would take
as long as reading them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.core.errors import HashbenchError
from hashbench.core.io import atomic_write, checksum, load_arrays, save_arrays, verify_checksum
from hashbench.data.splits import StoredSplit
from hashbench.execution.store import Stored
from hashbench.measures import DEFAULT_MEASURES, parse

FOLDER = ".evaluated"

PerQuery = npt.NDArray[np.float64]


#: Curves that reports draw; what speaks of a radius is left out where there are no codes.
CURVES = tuple(name for name in DEFAULT_MEASURES if parse(name).is_curve)


@dataclass(frozen=True)
class RankingScores:
    """What one task gives for one kind of database codes.

    Attributes
    ----------
    task : ``image->text``, or another pair of views
    database : "encoded" or "learned"
    scores : measure -> value, low, high, chance, chance_error; all but the first may be None
    curves : measure -> axis, x, precision, recall
    """

    task: str
    database: str
    scores: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    curves: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class EvaluatedCell:
    """A cell's numbers: all that tables, reports and page show of it.

    Attributes
    ----------
    rankings : one a task and kind of database codes
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

    def to_json(self) -> dict[str, Any]:
        """Return the numbers as JSON can hold them."""
        # dataclasses.asdict copies every point of every curve
        return {**vars(self), "rankings": [vars(ranking) for ranking in self.rankings]}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> EvaluatedCell:
        """Read what :meth:`to_json` wrote."""
        rankings = [RankingScores(**ranking) for ranking in record["rankings"]]
        return cls(rankings, record["codes"], record["hamming"])


class EvaluationCache:
    """The folder of what has been evaluated.

    Parameters
    ----------
    out : the folder of results
    """

    def __init__(self, out: Path) -> None:
        self.out = out
        self.folder = out / FOLDER
        #: the last cell whose values by query were written or read
        self._recent: tuple[str, Mapping[str, str], Mapping[str, PerQuery]] = ("", {}, {})
        #: of cells that were read: the stamp, and the checksum of their values by query
        self._read: dict[str, tuple[Mapping[str, str], str]] = {}

    def read(self, cell_id: str, stamp: Mapping[str, str]) -> EvaluatedCell | None:
        """Return what is known of a cell, if it holds."""
        try:
            record = self._record(cell_id)
            return EvaluatedCell.from_json(record) if record["stamp"] == stamp else None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None

    def _record(self, cell_id: str) -> Mapping[str, Any]:
        """Return what was written of a cell; ValueError if that has changed since."""
        record = unsealed((self.folder / f"{cell_id}.json").read_bytes())
        self._read[cell_id] = (record["stamp"], record["per_query"])
        return record

    def kept(self) -> set[str]:
        """Return the cells of which something is kept, whether it holds or not."""
        return {path.stem for path in self.folder.glob("*.json")}

    def per_query(
        self, cell_id: str, stamp: Mapping[str, str], measure: str, task: str, database: str
    ) -> PerQuery | None:
        """Return a measure's value for every query, if it is remembered and holds."""
        if self._recent[:2] != (cell_id, stamp):
            self._recent = (cell_id, stamp, self._read_per_query(cell_id, stamp))
        return self._recent[2].get(_key(measure, task, database))

    def _read_per_query(self, cell_id: str, stamp: Mapping[str, str]) -> Mapping[str, PerQuery]:
        try:
            if cell_id not in self._read:
                self._record(cell_id)
            path = self.folder / f"{cell_id}.npz"
            right = self._read[cell_id] == (stamp, checksum(path))
            return load_arrays(path) if right else {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return {}

    def write(
        self,
        cell_id: str,
        stamp: Mapping[str, str],
        evaluated: EvaluatedCell,
        per_query: Mapping[tuple[str, str, str], PerQuery],
    ) -> None:
        """Remember a cell's numbers, and some of them query by query.

        Parameters
        ----------
        per_query : by measure, task and kind of database codes
        """
        try:
            self.folder.mkdir(exist_ok=True)
            path = self.folder / f"{cell_id}.npz"
            arrays = {_key(*key): values for key, values in per_query.items()}
            save_arrays(path, arrays)
            record = {"stamp": dict(stamp), "per_query": checksum(path), **evaluated.to_json()}
            with atomic_write(self.folder / f"{cell_id}.json") as stream:
                stream.write(sealed(record))
            self._read.pop(cell_id, None)
            self._recent = (cell_id, stamp, arrays)
        except OSError as error:
            if not self.out.is_dir():
                raise HashbenchError(f"{self.out} is not a folder of results") from error
            # a folder that cannot be written to is read all the same


#: What remembered numbers begin with.
SEAL = b'{"checksum": "'


def sealed(record: Mapping[str, Any]) -> str:
    """Return a record as JSON that begins with a checksum of the rest."""
    body = json.dumps(record)  # json.dump encodes in Python, this in C
    return f'{SEAL.decode()}{hashlib.sha256(body.encode()).hexdigest()}", {body[1:]}'


def unsealed(text: bytes) -> dict[str, Any]:
    """Read what `sealed` wrote; ValueError if it is another text by now.

    Examples
    --------
    >>> unsealed(sealed({"fit": 1.5}).encode())
    {'fit': 1.5}
    >>> unsealed(sealed({"fit": 1.5}).replace("1.5", "1.4").encode())
    Traceback (most recent call last):
    ValueError: it has changed since it was written
    """
    start, end = len(SEAL), len(SEAL) + 64
    if not text.startswith(SEAL):
        return verify_checksum(
            json.loads(text)
        )  # as it was written before, with the checksum at the end
    body = b"{" + text[end + len('", ') :]
    if hashlib.sha256(body).hexdigest().encode() != text[start:end]:
        raise ValueError("it has changed since it was written")
    record: dict[str, Any] = json.loads(body)
    return record


def _key(measure: str, task: str, database: str) -> str:
    """Return a name that is a file's in an archive as well."""
    return hashlib.sha256(f"{measure}\n{task}\n{database}".encode()).hexdigest()[:16]


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
