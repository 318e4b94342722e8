"""How a cell ended: one record from the process that computed it to tables and page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Self

from hashbench.execution.executor import STATUSES, Outcome


@dataclass(frozen=True)
class RunRecord:
    """What is known of the run of a cell, besides its codes.

    Attributes
    ----------
    status : one of `STATUSES`
    reason, traceback : one line and the whole of it, if not done
    output : the end of what the method printed
    seconds : by phase: load, fit, recording, encode, search_per_query, wall
    peak_memory, resident_at_start : bytes
    threads : how many it was to compute with, and
    pools : the libraries that did, with how many each was left
    alone : whether no other cell ran beside it
    learned : whether there are learned codes
    item_bytes : what an item takes in the database, if these are vectors
    random_state : what the seed gave to the method
    environment : versions and machine
    ended : when, in UTC
    files : checksums by name
    """

    status: str
    reason: str = ""
    traceback: str = ""
    output: str = ""
    seconds: Mapping[str, float] = field(default_factory=dict)
    peak_memory: int | None = None
    resident_at_start: int | None = None
    threads: int | None = None
    pools: tuple[str, ...] = ()
    alone: bool | None = None
    learned: bool | None = None
    item_bytes: float | None = None
    random_state: int | None = None
    environment: Mapping[str, Any] = field(default_factory=dict)
    ended: str = ""
    files: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, outcome: Outcome) -> Self:
        """Return what the store keeps of an outcome; what a process left is not trusted."""
        result = outcome.result
        wall = result.get("wall")
        now = datetime.now(UTC).isoformat(timespec="seconds")
        measured = {
            "output": outcome.output,
            "threads": result.get("threads"),
            "alone": result.get("alone"),
            "environment": result.get("environment", {}),
            "ended": now,
        }
        own = ("resident_at_start", "pools", "learned", "item_bytes", "random_state")
        told = {
            "status": outcome.status,
            "reason": outcome.reason,
            "traceback": outcome.traceback,
            **{name: result[name] for name in own if name in result},
        }
        try:
            seconds = dict(result.get("seconds", {}))
            peak = max(result.get("peak", 0), result.get("tree_peak", 0))
            timed = seconds if wall is None else {**seconds, "wall": wall}
            return cls.from_json({**told, **measured, "seconds": timed, "peak_memory": peak})
        except (TypeError, ValueError) as error:
            reason = f"its process left an outcome that cannot be read ({error})"
            return cls.from_json({**measured, "status": "failed", "reason": reason})

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """Read what :meth:`to_json` wrote; ValueError names a field that is not right."""
        known = {each.name for each in fields(cls)}
        for name, value in record.items():
            if name not in known:
                raise ValueError(f"unknown field {name!r}")
            if not _ALLOWED[name](value):
                raise ValueError(f"{name}: found {str(value)[:40]!r}")
        if "status" not in record:
            raise ValueError("no status")
        values = dict(record)
        return cls(**{**values, "pools": tuple(values.get("pools") or ())})

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON can hold it."""
        return asdict(self)


def _is(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: type(value) in kinds


def _optional(*kinds: type) -> Callable[[Any], bool]:
    return _is(*kinds, type(None))


def _mapping(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, Mapping)
        and all(isinstance(key, str) for key in value)
        and all(type(each) in kinds for each in value.values())
    )


#: What each field may hold; a number is no truth value here.
_ALLOWED: dict[str, Callable[[Any], bool]] = {
    "status": lambda value: value in STATUSES,
    **dict.fromkeys(("reason", "traceback", "output", "ended"), _is(str)),
    "seconds": _mapping(int, float),
    **dict.fromkeys(
        ("peak_memory", "resident_at_start", "threads", "random_state"), _optional(int)
    ),
    "pools": lambda value: (
        value is None
        or (isinstance(value, list | tuple) and all(isinstance(each, str) for each in value))
    ),
    **dict.fromkeys(("alone", "learned"), _optional(bool)),
    "item_bytes": _optional(int, float),
    "environment": _mapping(str, int, float, type(None)),
    "files": _mapping(str),
}
