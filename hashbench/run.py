"""A study from beginning to end: plan, compute what is missing, store, derive the tables."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from hashbench import preprocessing, results
from hashbench.cell import Cell
from hashbench.errors import HashbenchError
from hashbench.executors import Executor, Outcome, Task
from hashbench.grid import Draft, drafts
from hashbench.prepare import DataSpec, SplitRequest
from hashbench.progress import Progress
from hashbench.provenance import source_hash
from hashbench.registry import Registry
from hashbench.store import SCHEMA, Store, Stored
from hashbench.study import Study


@dataclass(frozen=True)
class Planned:
    """A cell of a study and the data it needs."""

    cell: Cell
    draft: Draft

    @property
    def task(self) -> Task:
        """The task that computes the cell."""
        draft, cell = self.draft, self.cell
        name = f"split-{cell.split}-{'-'.join(cell.preprocessing)}"
        arguments = {
            "dataset": draft.data.spec.to_json(),
            "fingerprint": cell.fingerprint,
            "request": asdict(draft.split),
            "steps": list(cell.preprocessing),
            "name": name,
        }
        needs = Task("hashbench.prepare:prepare", arguments, f"the data of {cell.dataset}")
        own = {"cell": cell.to_json(), "data": name}
        return Task("hashbench.cell:compute", own, str(cell), needs)


@dataclass
class Plan:
    """Every cell of a study, and the datasets that could not be loaded."""

    study: Study
    planned: list[Planned]
    unavailable: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def cells(self) -> list[Cell]:
        """The cells, in the order they run."""
        return [each.cell for each in self.planned]


def make_plan(study: Study, registry: Registry, executor: Executor, store: Store) -> Plan:
    """Load every dataset once, in a process of its own, and give each cell its identity."""
    wanted = drafts(study, registry)
    requests: dict[DataSpec, dict[SplitRequest, None]] = {}
    for draft in wanted:
        requests.setdefault(draft.data.spec, {})[draft.split] = None
    tasks = {
        spec: Task(
            "hashbench.prepare:inspect",
            {"dataset": spec.to_json(), "requests": [asdict(request) for request in splits]},
            f"dataset {spec.plugin or dict(spec.params)['path']}",
        )
        for spec, splits in requests.items()
    }
    outcomes = {
        event.task: event.outcome
        for event in executor.run(list(tasks.values()), store.work)
        if event.outcome is not None
    }
    sources = {
        name: source_hash(registry.methods[name]) for name in {draft.method for draft in wanted}
    }
    plan = Plan(study, [])
    facts: dict[DataSpec, dict[str, Any]] = {}
    for spec, task in tasks.items():
        outcome = outcomes[task]
        if outcome.status != "done":
            continue
        facts[spec] = outcome.result
        plan.notes += [f"{task.name}: {note}" for note in outcome.result["notes"]]
        if outcome.folder is not None:
            for path in outcome.folder.glob("*.npz"):
                store.put_split(path)
            shutil.rmtree(outcome.folder, ignore_errors=True)
    for draft in wanted:
        spec = draft.data.spec
        if spec not in facts:
            plan.unavailable[draft.data.label] = outcomes[tasks[spec]].reason
            continue
        found = facts[spec]
        name = dict(zip(requests[spec], found["splits"], strict=True))[draft.split]
        steps = preprocessing.declared(draft.data.preprocess, found["views"])
        cell = draft.cell(found["fingerprint"], name, steps, sources[draft.method])
        plan.planned.append(Planned(cell, draft))
    if not plan.planned:
        raise HashbenchError("; ".join(plan.unavailable.values()))
    return plan


def pending(
    plan: Plan, stored: Mapping[str, Stored], retry: Iterable[str], force: bool, timing: bool
) -> list[Planned]:
    """Return the cells that have to run: the missing ones, and those to be run again."""
    again = set(retry)

    def has_to_run(each: Planned) -> bool:
        found = stored.get(each.cell.id)
        if found is None or force or found.status in again:
            return True
        return timing and found.status == "done" and not found.record.get("alone")

    return [each for each in plan.planned if has_to_run(each)]


def execute(
    todo: Sequence[Planned], executor: Executor, store: Store, progress: Progress
) -> Counter[str]:
    """Run cells and store each as it ends; return how many ended in which way."""
    cells = {each.task: each.cell for each in todo}
    counts: Counter[str] = Counter()
    progress.begin(len(todo))
    events = executor.run(list(cells), store.work)
    try:
        for event in events:
            cell = cells[event.task]
            if event.outcome is None:
                progress.started(cell)
                continue
            record = make_record(event.outcome)
            store.put(cell, record, event.outcome.folder)
            if event.outcome.folder is not None:
                shutil.rmtree(event.outcome.folder, ignore_errors=True)
            counts[record["status"]] += 1
            seconds = float(event.outcome.result.get("wall", 0.0))
            progress.ended(cell, record["status"], record["reason"], seconds)
    finally:
        events.close()  # type: ignore[attr-defined]
        progress.close()
    return counts


def make_record(outcome: Outcome) -> dict[str, Any]:
    """Return what the store keeps of an outcome, besides its files."""
    result = outcome.result
    seconds = {**result.get("seconds", {}), "wall": result.get("wall")}
    return {
        "status": outcome.status,
        "reason": outcome.reason,
        "traceback": outcome.traceback,
        "output": outcome.output,
        "seconds": seconds,
        "peak_memory": max(result.get("peak", 0), result.get("tree_peak", 0)),
        "resident_at_start": result.get("resident_at_start"),
        "threads": result.get("threads"),
        "alone": result.get("alone"),
        "learned": result.get("learned"),
        "item_bytes": result.get("item_bytes"),
        "environment": result.get("environment", {}),
    }


def write_plan(plan: Plan, store: Store) -> None:
    """Write what was asked: for people, and cell by cell for programs."""
    store.write_text("study.toml", plan.study.to_toml())
    record = {
        "schema": SCHEMA,
        "measures": plan.study.measures,
        "cells": [cell.to_json() for cell in plan.cells],
        "unavailable": plan.unavailable,
    }
    store.write_text("plan.json", json.dumps(record, indent=1) + "\n")


def write_tables(store: Store, cells: Sequence[Cell], measures: Sequence[str]) -> list[results.Row]:
    """Derive results.csv and runs.csv; return the rows of the former."""
    rows = list(results.results(store, cells, measures))
    store.write_text("results.csv", results.to_csv(rows, results.RESULT_COLUMNS))
    store.write_text("runs.csv", results.to_csv(results.runs(store, cells), results.RUN_COLUMNS))
    return rows
