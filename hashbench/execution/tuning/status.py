"""How far the searches of a study are, and the tuned cells that come of those that are over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hashbench.execution.cell import Cell
from hashbench.execution.plan import Plan, UnplannedCell
from hashbench.execution.tuning.search import Search, counted, due, winner
from hashbench.execution.tuning.trials import TrialRecord, Trials

#: The records of trials by their ids, for every search by its id.
Records = Mapping[str, Mapping[str, TrialRecord]]


def read_records(
    plan: Plan, trials: Trials, retry: Iterable[str] = (), force: bool = False
) -> dict[str, dict[str, TrialRecord]]:
    """Return the records of a plan's trials, those left out that are to be run again."""
    again = set(retry)
    return {
        search.id: {
            trial: record
            for trial, record in trials.read(search.id).items()
            if not force and record.status not in again
        }
        for search in plan.searches
    }


@dataclass(frozen=True)
class TrialCount:
    """How far searches are.

    Attributes
    ----------
    searches : how many there are
    counts : how many trials have ended, by status
    left : the trials to run; where time limits a search, those that are certain to
    walls : every trial that is done, with the seconds it took
    """

    searches: int
    counts: Counter[str] = field(default_factory=Counter)
    left: list[Cell] = field(default_factory=list)
    wall_times: list[tuple[Cell, float]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return the numbers."""
        counts = {**self.counts, "left": len(self.left)}
        return {"searches": self.searches, "trials": sum(counts.values()), "counts": counts}


def count_trials(plan: Plan, records: Records) -> TrialCount:
    """Count the trials of a plan that have ended, and those that have not."""
    found = TrialCount(len(plan.searches))
    for search in plan.searches:
        own = records[search.id]
        for trial in search.trials:
            if trial.id in own:
                found.counts[own[trial.id].status] += 1
                if own[trial.id].status == "done":
                    found.wall_times.append((trial, own[trial.id].wall_seconds))
        found.left.extend(due(search, own, plan.tune_seconds))
    return found


def add_tuned(plan: Plan, records: Records) -> dict[str, Cell]:
    """Add the tuned cells of searches that are over, and leave only points there that count.

    Returns, by the id of every tuned cell, the cell that it was tuned from.
    """
    searches: dict[tuple[str, str, str, int], dict[int, Search]] = {}
    for index, search in enumerate(plan.searches):
        if due(search, records[search.id], plan.tune_seconds):
            continue
        number = counted(search, records[search.id], plan.tune_seconds)
        cut = replace(search, points=search.points[:number])
        plan.searches[index] = cut
        searches.setdefault(_place(cut.cell), {})[cut.cell.bits] = cut
    origins: dict[str, Cell] = {}
    for cell in list(plan.cells):
        own = searches.get(_place(cell))
        if own is None:
            continue
        search = own.get(cell.bits) or next(iter(own.values()))
        ended = records[search.id]
        best = winner(search, ended, plan.tune_seconds)
        if best is None:
            first = next((r.reason for r in ended.values() if r.reason), "it was not run")
            reason = f"none of {len(search.points)} trials is done: {first}"
            plan.missing.append(UnplannedCell(*replace(cell, tuned=True).key, reason=reason))
            continue
        tuned = search.tuned(cell, best)
        plan.cells.append(tuned)
        origins[tuned.id] = cell
    return origins


def _place(cell: Cell) -> tuple[str, str, str, int]:
    """Return what cells that are tuned together have in common: all but the code length."""
    return (cell.dataset, cell.name, cell.params, cell.seed)
