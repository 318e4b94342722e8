"""Run the trials of a study, score them, and add the tuned cells to its plan."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from hashbench.data.splits import StoredSplit
from hashbench.execution.cell import Cell
from hashbench.execution.cell_codes import CellCodes
from hashbench.execution.executor import Executor
from hashbench.execution.plan import (
    FILE,
    BuiltPlan,
    CellTask,
    Plan,
    UnplannedCell,
    make_task,
    run_order,
)
from hashbench.execution.progress import Progress
from hashbench.execution.run_cells import run_cells
from hashbench.execution.run_record import RunRecord
from hashbench.execution.store import Store
from hashbench.execution.tuning.search import Records, Search
from hashbench.execution.tuning.trials import TrialRecord, Trials


@dataclass(frozen=True)
class TrialCount:
    """The progress of searches.

    Attributes
    ----------
    searches : number of searches
    counts : number of ended trials by status
    left : the trials to run
    wall_times : trials that are done, with their seconds
    """

    searches: int
    counts: Counter[str] = field(default_factory=Counter)
    left: list[Cell] = field(default_factory=list)
    wall_times: list[tuple[Cell, float]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return the numbers as JSON data."""
        counts = {**self.counts, "left": len(self.left)}
        return {"searches": self.searches, "trials": sum(counts.values()), "counts": counts}


def tune(
    built: BuiltPlan,
    executor: Executor,
    store: Store,
    progress: Progress,
    *,
    keep_codes: bool,
    retry: Iterable[str] = (),
    force: bool = False,
) -> None:
    """Run the trials of a study and add the tuned cells to its plan.

    Parameters
    ----------
    built : the study's cells and searches
    keep_codes : whether the codes of trials are stored, not only their scores
    retry, force : statuses whose trials run again, or all trials
    """
    records = read_records(built.plan, store.trials, retry, force)
    split = cache(store.split)
    due = {search: search.missing(records[search.id]) for search in built.plan.searches}
    owners = {trial.id: search for search, trials in due.items() for trial in trials}

    def keep(trial: Cell, run: RunRecord, folder: Path | None) -> None:
        search, record = owners[trial.id], _trial_record(trial, run)
        if run.status == "done" and folder is not None:
            codes = folder / "codes.npz"
            record = _add_scores(record, search, CellCodes.load(codes), split(trial.split))
            if keep_codes:
                store.trials.keep_codes(search.id, trial.id, codes)
        store.trials.add(search.id, record)
        records[search.id][trial.id] = record

    if owners:
        progress.message(f"tuning: {len(owners)} trials to run")
        run_cells(_trial_tasks(built, due), executor, store, progress, keep)
    for tuned_id, original in add_tuned(built.plan, records).items():
        built.sources[tuned_id] = built.sources[original.id]
    store.write_text(FILE, built.plan.to_json())


def _trial_tasks(built: BuiltPlan, due: Mapping[Search, list[Cell]]) -> list[CellTask]:
    tasks: dict[Cell, CellTask] = {}
    for search, trials in due.items():
        source = built.sources[search.cell.id]
        source = replace(source, request=replace(source.request, validation=True))
        tasks |= {trial: make_task(trial, source) for trial in trials}
    return [tasks[trial] for trial in run_order(list(tasks))]


def _trial_record(cell: Cell, run: RunRecord) -> TrialRecord:
    wall = run.seconds.get("wall", 0.0)
    return TrialRecord(
        id=cell.id,
        status=run.status,
        fit_seconds=run.seconds.get("fit", wall),
        wall_seconds=wall,
        reason=run.reason,
        traceback=run.traceback,
    )


def _add_scores(
    record: TrialRecord, search: Search, codes: CellCodes, split: StoredSplit
) -> TrialRecord:
    """Return the record with the scores of the trial's codes; failed if one is not finite."""
    from hashbench.execution.scoring import encoded_scores  # imports numba: a second

    # Inner products depend on the number of threads in their last bits.
    with threadpool_limits(1, user_api="blas"):
        scores = encoded_scores(codes, split, search.measure)
    if not scores or not all(map(math.isfinite, scores.values())):
        return replace(record, status="failed", reason=f"{search.measure} is not defined for it")
    return replace(record, scores=dict(scores))


def read_records(
    plan: Plan, trials: Trials, retry: Iterable[str] = (), force: bool = False
) -> dict[str, dict[str, TrialRecord]]:
    """Return the records of trials by search and trial, without those to be run again."""
    again = set(retry)
    return {
        search.id: {
            trial: record
            for trial, record in trials.read(search.id).items()
            if not force and record.status not in again
        }
        for search in plan.searches
    }


def count_trials(plan: Plan, records: Mapping[str, Records]) -> TrialCount:
    """Count the trials of a plan that have ended, and those that have not."""
    found = TrialCount(len(plan.searches))
    for search in plan.searches:
        own = records[search.id]
        for trial in search.trials:
            if trial.id in own:
                found.counts[own[trial.id].status] += 1
                if own[trial.id].status == "done":
                    found.wall_times.append((trial, own[trial.id].wall_seconds))
        found.left.extend(search.missing(own))
    return found


def add_tuned(plan: Plan, records: Mapping[str, Records]) -> dict[str, Cell]:
    """Add the tuned cells of complete searches to a plan.

    Returns the cell that each tuned cell comes from, by the id of the tuned cell.
    """
    complete: dict[tuple[str, str, str, int], dict[int, Search]] = {}
    for search in plan.searches:
        if not search.missing(records[search.id]):
            complete.setdefault(_tuned_together(search.cell), {})[search.cell.bits] = search
    originals: dict[str, Cell] = {}
    for cell in list(plan.cells):
        by_bits = complete.get(_tuned_together(cell))
        if by_bits is None:
            continue
        search = by_bits.get(cell.bits) or next(iter(by_bits.values()))
        best = search.best_point(records[search.id])
        if best is None:
            reason = _no_score_reason(search, records[search.id])
            plan.missing.append(UnplannedCell(*replace(cell, tuned=True).key, reason=reason))
            continue
        tuned = search.tuned(cell, best)
        plan.cells.append(tuned)
        originals[tuned.id] = cell
    return originals


def _tuned_together(cell: Cell) -> tuple[str, str, str, int]:
    """Return what cells tuned by the same search share: everything but the code length."""
    return (cell.dataset, cell.name, cell.params, cell.seed)


def _no_score_reason(search: Search, records: Records) -> str:
    first = next((record.reason for record in records.values() if record.reason), "it did not run")
    return f"none of {len(search.points)} trials is done: {first}"
