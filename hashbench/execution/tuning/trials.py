"""Trials in the store: what is kept of them is a line each, in one file a search.

A study may have tens of thousands of trials; a folder for each, as cells have, would be heavier
than what it holds. A line carries its own checksum: one that a kill has cut in the middle, or that
something has changed, is as if it were not there, and its trial runs again.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class TrialRecord:
    """How a trial ended.

    Attributes
    ----------
    id : that of its cell
    status : "done", "failed", "timeout", "memory" or "skipped"
    scores : the measure of the search by task, empty if not done
    fit_seconds, wall_seconds : what it cost; a trial without a time of training costs its life
    reason, traceback : one line and the whole of it, if not done
    """

    id: str
    status: str
    scores: Mapping[str, float] = field(default_factory=dict)
    fit_seconds: float = 0.0
    wall_seconds: float = 0.0
    reason: str = ""
    traceback: str = ""

    @property
    def score(self) -> float:
        """The mean over the tasks; nan if not done."""
        values = list(self.scores.values())
        return math.fsum(values) / len(values) if values else math.nan

    def to_line(self) -> bytes:
        """Return the record as a line of its file."""
        text = json.dumps(asdict(self), sort_keys=True)
        return f"{_check(text)} {text}\n".encode()

    @classmethod
    def from_line(cls, line: bytes) -> TrialRecord | None:
        """Read a line; None if it is not what was written."""
        try:
            check, _, text = line.decode().partition(" ")
            return cls(**json.loads(text)) if check == _check(text) else None
        except (ValueError, TypeError):
            return None


def _check(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


class Trials:
    """The trials of a study on disk.

    Parameters
    ----------
    folder : ``trials`` in the folder of results
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, search: str) -> dict[str, TrialRecord]:
        """Return the trials of a search by their ids; of several records of one the last."""
        try:
            lines = self._path(search).read_bytes().split(b"\n")
        except FileNotFoundError:
            return {}
        found = (TrialRecord.from_line(line) for line in lines)
        return {record.id: record for record in found if record is not None}

    def count(self, search: str) -> int:
        """Return how many lines of a search are what was written."""
        lines = self._path(search).read_bytes().split(b"\n")
        return sum(TrialRecord.from_line(line) is not None for line in lines)

    def add(self, search: str, record: TrialRecord) -> None:
        """Append a record; what was cut off before it ends there."""
        self.folder.mkdir(exist_ok=True)
        with self._path(search).open("ab+") as stream:
            if stream.tell():
                stream.seek(-1, os.SEEK_END)
                if stream.read(1) != b"\n":
                    stream.write(b"\n")
            stream.write(record.to_line())

    def take(self, search: str, other: Trials) -> list[str]:
        """Take in the trials of a search from another store; return those that end otherwise.

        Of two records of a trial the first is kept, unless only the other one is done.
        """
        ours, differing = self.read(search), []
        for record in other.read(search).values():
            known = ours.get(record.id)
            if known is None or (known.status != "done" and record.status == "done"):
                self.add(search, record)
            elif record.status == "done" and dict(known.scores) != dict(record.scores):
                differing.append(record.id)
                continue
            codes = other.folder / search / f"{record.id}.npz"
            place = self.folder / search / codes.name
            if codes.exists() and not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(codes, temporary := place.with_suffix(".part"))
                os.replace(temporary, place)
        return differing

    def keep_codes(self, search: str, trial: str, path: Path) -> None:
        """Take in the file of a trial's codes, for those who ask for them."""
        place = self.folder / search
        place.mkdir(parents=True, exist_ok=True)
        os.replace(path, place / f"{trial}.npz")

    def _path(self, search: str) -> Path:
        return self.folder / f"{search}.jsonl"
