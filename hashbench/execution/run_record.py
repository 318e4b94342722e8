"""How a cell ended: one record from the process that computed it to tables and page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, Self

from hashbench.core.records import from_json
from hashbench.execution.executor import Outcome


@dataclass(frozen=True)
class RunRecord:
    """What is known of the run of a cell, apart from its codes.

    Attributes
    ----------
    status : how it ended
    reason, traceback : why it is not done: one line, and the traceback
    output : the end of what the method printed
    seconds : by phase: load, fit, recording, encode, search_per_query, wall
    peak_memory, resident_at_start : bytes
    threads : how many threads the cell was given
    pools : the libraries that compute in threads, with the number of threads of each
    alone : whether no other cell ran at the same time
    learned : whether there are learned codes
    training_unknown : whether the codes come from elsewhere and may be trained on any rows
    hamming : whether Hamming distances are compared, not vectors
    item_bytes : size of an item in the database
    random_state : the random state that the seed gave to the method
    environment : versions and machine
    ended : when, in UTC
    files : sha256 of the cell's files by name
    """

    status: Literal["done", "failed", "timeout", "memory", "skipped"]
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
    training_unknown: bool = False
    hamming: bool | None = None
    item_bytes: float | None = None
    random_state: int | None = None
    environment: Mapping[str, str | int | float | None] = field(default_factory=dict)
    ended: str = ""
    files: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, outcome: Outcome) -> Self:
        """Return the record of an outcome; failed if the process left values of other types."""
        result = outcome.result
        measured = {
            "output": outcome.output,
            "threads": result.get("threads"),
            "alone": result.get("alone"),
            "environment": result.get("environment", {}),
            "ended": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        returned = (
            "resident_at_start", "pools", "learned", "training_unknown", "hamming", "item_bytes",
            "random_state",
        )  # fmt: skip
        record: dict[str, Any] = {
            **measured,
            "status": outcome.status,
            "reason": outcome.reason,
            "traceback": outcome.traceback,
            **{name: result[name] for name in returned if name in result},
        }
        try:
            record["seconds"] = dict(result.get("seconds", {}))
            record["peak_memory"] = max(result.get("peak", 0), result.get("tree_peak", 0))
            if "wall" in result:
                record["seconds"]["wall"] = result["wall"]
            return from_json(cls, record)
        except (TypeError, ValueError) as error:
            reason = f"its process left an outcome that cannot be read ({error})"
            return from_json(cls, {**measured, "status": "failed", "reason": reason})
