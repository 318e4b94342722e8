"""Records of trials on disk: one JSON line per trial, one file per search.

A study may have tens of thousands of trials, so that one folder per trial would be too heavy.
Every line carries a checksum: a truncated or changed line is ignored and its trial runs again.
"""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from hashbench.core.io import add_checksum, verify_checksum


@dataclass(frozen=True)
class TrialRecord:
    """How a trial ended.

    Attributes
    ----------
    id : id of its cell
    status : "done", "failed", "timeout", "memory" or "skipped"
    scores : the search's measure by task, empty if not done
    fit_seconds, wall_seconds : training time (wall time if unknown) and time of the process
    reason, traceback : one line and the full text, if not done
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
        """Return the record as one line of a file."""
        return json.dumps(add_checksum(asdict(self))).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> TrialRecord | None:
        """Return the record of a line, or None if the line is damaged."""
        try:
            return cls(**verify_checksum(json.loads(line)))
        except (ValueError, TypeError, AttributeError):
            return None


class Trials:
    """The records of a study's trials.

    Parameters
    ----------
    folder : ``trials`` in the folder of results
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _path(self, search: str) -> Path:
        return self.folder / f"{search}.jsonl"

    def _codes_path(self, search: str, trial: str) -> Path:
        return self.folder / search / f"{trial}.npz"

    def _records(self, search: str) -> list[TrialRecord]:
        path = self._path(search)
        lines = path.read_bytes().split(b"\n") if path.exists() else []
        records = map(TrialRecord.from_line, lines)
        return [record for record in records if record is not None]

    def read(self, search: str) -> dict[str, TrialRecord]:
        """Return the records of a search by trial id; the last record of a trial counts."""
        return {record.id: record for record in self._records(search)}

    def count(self, search: str) -> int:
        """Return the number of undamaged lines of a search."""
        return len(self._records(search))

    def add(self, search: str, record: TrialRecord) -> None:
        """Append a record, on a new line even if the last one is truncated."""
        self.folder.mkdir(exist_ok=True)
        with self._path(search).open("ab+") as stream:
            if stream.tell():
                stream.seek(-1, os.SEEK_END)
                if stream.read(1) != b"\n":
                    stream.write(b"\n")
            stream.write(record.to_line())

    def keep_codes(self, search: str, trial: str, path: Path) -> None:
        """Move the codes of a trial to the folder of its search."""
        target = self._codes_path(search, trial)
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(path, target)

    def merge(self, search: str, other: Trials) -> list[str]:
        """Copy the trials of a search from another folder; return those with different scores.

        The first record of a trial is kept, unless only the other one is done.
        """
        ours, different = self.read(search), []
        for record in other.read(search).values():
            known = ours.get(record.id)
            if known is None or (known.status != "done" and record.status == "done"):
                self.add(search, record)
            elif record.status == "done" and dict(known.scores) != dict(record.scores):
                different.append(record.id)
                continue
            codes = other._codes_path(search, record.id)
            if codes.exists() and not self._codes_path(search, record.id).exists():
                self.folder.mkdir(exist_ok=True)
                temporary = self.folder / f"{record.id}.part"
                shutil.copyfile(codes, temporary)
                self.keep_codes(search, record.id, temporary)
        return different
