"""Running the searches of a study: trials to their files, what wins to the plan."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from hashbench.execution.cell import Cell
from hashbench.execution.cell_codes import CellCodes
from hashbench.execution.executor import Executor
from hashbench.execution.plan import BuiltPlan, CellTask, Source, make_task
from hashbench.execution.progress import Progress
from hashbench.execution.run_cells import run_cells
from hashbench.execution.run_record import RunRecord
from hashbench.execution.store import Store
from hashbench.execution.tuning.search import Search, due
from hashbench.execution.tuning.status import add_tuned, read_records
from hashbench.execution.tuning.trials import TrialRecord

#: Scores codes on a split by a measure: a value a task.
Scorer = Callable[[CellCodes, str, str], Mapping[str, float]]


class Tuner:
    """Runs the searches of a study until each has what it may have.

    Parameters
    ----------
    found : the study's cells and searches; tuned cells are added to them
    executor, store, progress : what cells run with
    score : what turns the codes of a trial into its scores
    keep_codes : whether the store takes in the codes of trials as well
    """

    def __init__(
        self,
        found: BuiltPlan,
        executor: Executor,
        store: Store,
        progress: Progress,
        score: Scorer,
        keep_codes: bool,
    ) -> None:
        self.plan, self.sources = found.plan, found.sources
        self.executor, self.store, self.progress = executor, store, progress
        self.score, self.keep_codes = score, keep_codes
        self.seconds = self.plan.tune_seconds
        self.records: dict[str, dict[str, TrialRecord]] = {}

    def run(self, retry: Iterable[str], force: bool) -> None:
        """Run trials, in rounds where times decide how many there are."""
        self.records = read_records(self.plan, self.store.trials, retry, force)
        while todo := self._due():
            self.progress.message(f"tuning: {len(todo)} trials to run")
            owners = {make_task.cell.id: search for search, make_task in todo}
            run_cells(
                [make_task for _, make_task in todo],
                self.executor,
                self.store,
                self.progress,
                lambda *ended: self._keep(owners, *ended),  # noqa: B023
            )

    def _due(self) -> list[tuple[Search, CellTask]]:
        """Return the next trials; those that share prepared data come one after the other."""
        found = [
            (search, make_task(trial, self._source(search)))
            for search in self.plan.searches
            for trial in due(search, self.records[search.id], self.seconds)
        ]
        places: dict[str, int] = {}
        for _, each in found:
            places.setdefault(each.cell.split, len(places))
        return sorted(
            found, key=lambda pair: (places[pair[1].cell.split], pair[1].cell.preprocessing)
        )

    def _source(self, search: Search) -> Source:
        source = self.sources[search.cell.id]
        return replace(source, request=replace(source.request, validation=True))

    def _keep(
        self, owners: Mapping[str, Search], cell: Cell, record: RunRecord, folder: Path | None
    ) -> None:
        search = owners[cell.id]
        kept = self._record(search, cell, record, folder)
        self.store.trials.add(search.id, kept)
        self.records[search.id][cell.id] = kept

    def _record(
        self, search: Search, cell: Cell, record: RunRecord, folder: Path | None
    ) -> TrialRecord:
        wall = record.seconds.get("wall", 0.0)
        kept = TrialRecord(
            id=cell.id,
            status=record.status,
            fit_seconds=record.seconds.get("fit", wall),
            wall_seconds=wall,
            reason=record.reason,
            traceback=record.traceback,
        )
        if record.status != "done" or folder is None:
            return kept
        path = folder / "codes.npz"
        scores = self.score(CellCodes.load(path), cell.split, search.measure)
        if self.keep_codes:
            self.store.trials.keep_codes(search.id, cell.id, path)
        if not scores or not all(map(math.isfinite, scores.values())):
            return replace(kept, status="failed", reason=f"{search.measure} is not defined for it")
        return replace(kept, scores=dict(scores))

    def finish(self) -> None:
        """Add the tuned cells to the plan; they have the rows of what they were tuned from."""
        for tuned, origin in add_tuned(self.plan, self.records).items():
            self.sources[tuned] = self.sources[origin.id]
