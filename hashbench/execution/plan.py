"""The plan: every cell of a study with its identity, what is already there, what is left.

Kept in the store cell by cell, so that `status` and `merge` need neither plugins nor data.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hashbench.core.errors import HashbenchError
from hashbench.core.io import add_checksum, verify_checksum
from hashbench.data import preprocessing
from hashbench.data.prepare import DataSpec, SplitRequest
from hashbench.execution import external
from hashbench.execution.cell import RETURNS, Cell
from hashbench.execution.executor import Executor, Outcome, Task
from hashbench.execution.grid import CellSpec
from hashbench.execution.outcomes import is_text, is_texts
from hashbench.execution.store import SCHEMA, Stored
from hashbench.execution.study import Study
from hashbench.execution.tuning.search import Search, make_searches
from hashbench.plugins.registry import Registry
from hashbench.plugins.source_hash import source_hash

if TYPE_CHECKING:
    from hashbench.execution.progress import Progress

FILE = "plan.json"


@dataclass(frozen=True)
class Source:
    """Where the rows of a cell come from, and its codes if they were computed elsewhere."""

    spec: DataSpec
    request: SplitRequest
    codes: str = ""


@dataclass(frozen=True)
class CellTask:
    """A cell and the task that computes it."""

    cell: Cell
    task: Task


@dataclass(frozen=True)
class UnplannedCell:
    """A cell that cannot have an identity: its data or its parameters cannot be known."""

    dataset: str
    method: str
    params: str
    bits: int
    seed: int
    reason: str


@dataclass
class Plan:
    """Every cell of a study.

    Attributes
    ----------
    measures : what the tables are to hold
    cells : in the order they run
    missing : cells whose dataset could not be loaded, or whose search found nothing
    searches : what was tried to tune methods; each belongs to one of the cells
    tune_seconds : the training time that limited every search, or None
    """

    measures: tuple[str, ...]
    cells: list[Cell] = field(default_factory=list)
    missing: list[UnplannedCell] = field(default_factory=list)
    searches: list[Search] = field(default_factory=list)
    tune_seconds: float | None = None

    def to_json(self) -> str:
        """Return the plan as plan.json holds it."""
        record = {
            "schema": SCHEMA,
            "measures": list(self.measures),
            "cells": [cell.to_json() for cell in self.cells],
            "missing": [asdict(each) for each in self.missing],
            "searches": [each.to_json() for each in self.searches],
            "tune_seconds": self.tune_seconds,
        }
        return json.dumps(add_checksum(record), indent=1) + "\n"

    @classmethod
    def read(cls, out: Path) -> Plan:
        """Read the plan of a folder of results."""
        path = out / FILE
        if not path.is_file():
            raise HashbenchError(f"{out}: found no {FILE}; allowed: a folder made by hashbench run")
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            _check_schema(path, found["schema"])
            record = verify_checksum(found)
            cells = [Cell.from_json(each) for each in record["cells"]]
            missing = [UnplannedCell(**each) for each in record["missing"]]
            named = {cell.id: cell for cell in cells}
            searches = [Search.from_json(each, named) for each in record.get("searches", [])]
            limit = record.get("tune_seconds")
            return cls(tuple(record["measures"]), cells, missing, searches, limit)
        except HashbenchError:
            raise
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise HashbenchError(f"{path} is damaged: {error}; run the study again") from error


def check_schema(out: Path) -> None:
    """Refuse a folder of another version of hashbench, whose cells this one would set aside."""
    path = out / FILE
    try:
        found = json.loads(path.read_text(encoding="utf-8"))["schema"]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return  # no folder of results yet, or a damaged plan, which a run replaces
    _check_schema(path, found)


def _check_schema(path: Path, found: object) -> None:
    if found != SCHEMA:
        raise HashbenchError(
            f"{path}: found schema {found}; this version of hashbench reads and writes {SCHEMA}"
        )


@dataclass(frozen=True)
class BuiltPlan:
    """What a look at the datasets has found.

    Attributes
    ----------
    plan : the cells
    sources : for each cell, by its id, where its rows come from
    splits : the files of the splits, for the store
    notes : what the datasets say about themselves
    """

    plan: Plan
    sources: dict[str, Source]
    splits: list[Path]
    notes: list[str]


def build_plan(
    study: Study,
    wanted: Sequence[CellSpec],
    registry: Registry,
    executor: Executor,
    folder: Path,
    progress: Progress,
) -> BuiltPlan:
    """Load every dataset once, in a process of its own, and give each cell its identity."""
    tuned = {draft for draft in wanted if study.tunes and registry.methods[draft.method].cls.space}
    requests: dict[DataSpec, dict[SplitRequest, None]] = {}
    for draft in wanted:
        requests.setdefault(draft.data.spec, {})[draft.split] = None
        if draft in tuned:
            requests[draft.data.spec][replace(draft.split, validation=True)] = None
    steps = {
        spec: dict.fromkeys(d.data.preprocess for d in wanted if d.data.spec == spec)
        for spec in requests
    }
    styles = {spec: _look(spec, splits, steps[spec]) for spec, splits in requests.items()}
    outcomes: dict[Task, Outcome] = {}
    try:
        for event in executor.run(list(styles.values()), folder):
            if event.outcome is None:
                progress.loading_dataset(event.task.name)
            else:
                outcomes[event.task] = event.outcome
    finally:
        progress.datasets_loaded()
    found = BuiltPlan(Plan(study.measures, tune_seconds=study.tune_time), {}, [], [])
    for task, outcome in outcomes.items():
        found.notes.extend(f"{task.name}: {note}" for note in outcome.result.get("notes", ()))
        if outcome.folder is not None:
            found.splits.extend(outcome.folder.glob("*.npz"))
    validations: dict[str, str] = {}
    splits = {
        spec: dict(zip(requests[spec], outcomes[style].result.get("splits", ()), strict=False))
        for spec, style in styles.items()
    }
    for draft in wanted:
        spec = draft.data.spec
        outcome, names = outcomes[styles[spec]], splits[spec]
        if outcome.status != "done":
            # A reader that crashed could not say what it was reading.
            silent = not outcome.traceback and draft.data.name not in outcome.reason
            reason = f"{styles[spec].name}: {outcome.reason}" if silent else outcome.reason
            found.plan.missing.append(UnplannedCell(*draft.key, reason=reason))
            continue
        cell = _cell(draft, outcome.result, names[draft.split], registry)
        found.plan.cells.append(cell)
        found.sources[cell.id] = Source(spec, draft.split, draft.codes)
        if draft in tuned:
            validations[cell.id] = names[replace(draft.split, validation=True)]
    if not found.plan.cells:
        raise HashbenchError("; ".join(dict.fromkeys(m.reason for m in found.plan.missing)))
    found.plan.searches = make_searches(study, registry, found.plan.cells, validations)
    return found


def _look(
    spec: DataSpec,
    splits: Iterable[SplitRequest],
    preprocessings: Iterable[str | tuple[str, ...]],
) -> Task:
    arguments = {
        "dataset": spec.to_json(),
        "requests": [split.to_json() for split in splits],
        "preprocessings": list(preprocessings),
    }
    returns = {
        "fingerprint": is_text,
        "views": is_texts,
        "notes": is_texts,
        "splits": is_texts,
    }
    return Task("hashbench.data.prepare:inspect", arguments, f"dataset {spec}", returns=returns)


def _cell(draft: CellSpec, facts: Mapping[str, Any], split: str, registry: Registry) -> Cell:
    steps = preprocessing.declared(draft.data.preprocess, facts["views"])
    plugin = registry.methods[draft.method]
    outside = plugin.origin == external.ORIGIN
    source = external.source(draft.codes) if outside else source_hash(plugin)
    return draft.cell(facts["fingerprint"], split, steps, source)


def make_task(cell: Cell, source: Source) -> CellTask:
    """Return a cell with the task that computes it."""
    module = "external" if external.is_external(cell) else "cell"
    steps = list(cell.preprocessing)
    folder = f"split-{cell.split}-{'-'.join(steps)}"
    arguments = {
        "dataset": source.spec.to_json(),
        "fingerprint": cell.fingerprint,
        "request": source.request.to_json(),
        "steps": steps,
        "name": folder,
    }
    data = Task("hashbench.data.prepare:prepare", arguments, f"the data of {cell.dataset}", folder)
    own: dict[str, Any] = {"cell": cell.to_json(), "data": folder}
    if module == "external":
        own["codes"] = source.codes
    task = Task(
        f"hashbench.execution.{module}:compute",
        own,
        str(cell),
        needs=data,
        limited=True,
        returns=RETURNS,
    )
    return CellTask(cell, task)


def run_order(cells: Sequence[Cell], first: Collection[str] = ()) -> list[Cell]:
    """Return cells as they run: those that share prepared data one after the other.

    Of these, cells of the methods named `first` begin: with a long one at the end, all places but
    one would wait for it.
    """
    places: dict[tuple[str, tuple[str, ...]], int] = {}
    for cell in cells:
        places.setdefault((cell.split, cell.preprocessing), len(places))

    def place(cell: Cell) -> tuple[int, bool]:
        return places[cell.split, cell.preprocessing], cell.method not in first

    return sorted(cells, key=place)


def no_space(plan: Plan, registry: Registry) -> list[str]:
    """Name the methods of a tuned study that do not say what may be tuned, in one line."""
    methods = dict.fromkeys(cell.method for cell in plan.cells)
    without = [name for name in methods if not registry.methods[name].cls.space]
    return [f"not tuned, because they have no space: {', '.join(without)}"] if without else []


def cells_to_run(
    cells: Sequence[Cell],
    stored: Mapping[str, Stored],
    retry: Iterable[str] = (),
    force: bool = False,
    timing: bool = False,
) -> list[Cell]:
    """Return the cells that have to run: the missing ones, and those to be run again."""
    again = set(retry)

    def has_to_run(cell: Cell) -> bool:
        found = stored.get(cell.id)
        if found is None or force or found.status in again:
            return True
        return timing and found.status == "done" and not found.record.alone

    return [cell for cell in cells if has_to_run(cell)]


def wall_times(stored: Iterable[Stored]) -> list[tuple[Cell, float]]:
    """Return the cells that are done, with the seconds they took."""
    found = ((each, each.record.seconds.get("wall")) for each in stored if each.status == "done")
    return [(each.cell, float(wall)) for each, wall in found if wall is not None]
