"""The one way of a study, whoever asks for it: prepared, planned, run, scored.

``hashbench run`` and :func:`hashbench.run` both make a :class:`Job` and carry it out; they differ
in what they are given and in what they show.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hashbench.analysis.csv_tables import Row
from hashbench.analysis.evaluate import write_tables
from hashbench.analysis.published import FOLDER as PUBLISHED
from hashbench.analysis.published import read_published
from hashbench.analysis.results import Results
from hashbench.api.study_args import default_out, jobs_of
from hashbench.core.errors import unknown
from hashbench.execution.executor import STATUSES, Executor, Limits
from hashbench.execution.grid import CellSpec, drafts, methods_left_out, resolved
from hashbench.execution.plan import (
    FILE,
    build_plan,
    cells_to_run,
    check_schema,
    make_task,
    no_space,
    run_order,
)
from hashbench.execution.progress import Progress
from hashbench.execution.run_cells import run_and_store
from hashbench.execution.server_connection import ServerConnection
from hashbench.execution.store import Store
from hashbench.execution.study import Study
from hashbench.execution.tuning.run import tune
from hashbench.neural.device import run_device
from hashbench.plugins.registry import Registry, discover
from hashbench.plugins.stored_facts import FILE as PLUGINS
from hashbench.plugins.stored_facts import describe_plugins

NOTES = "notes.txt"  # in OUT: what datasets say about themselves


@dataclass(frozen=True)
class Job:
    """A study that can run: everything it names exists.

    Attributes
    ----------
    study : what is asked
    registry : the plugins, those of the study included
    drafts : its cells before their datasets are looked at
    out : the folder of results
    jobs : how many cells at once
    choice : which cells that are there already run again, as `cells_to_run` takes it
    server : a fork server that was started ahead, or None
    """

    study: Study
    registry: Registry
    drafts: Sequence[CellSpec]
    out: Path
    jobs: int
    choice: Mapping[str, Any]
    server: ServerConnection | None = None

    def executor(self, cache: Path) -> Executor:
        """Return the executor that the study asks for."""
        limits = Limits(self.study.timeout, self.study.memory, self.study.threads)
        if self.study.executor == "dask":
            from hashbench.execution.dask import DaskExecutor

            return DaskExecutor(self.study.scheduler, self.jobs, limits, self.registry.paths)
        from hashbench.execution.local import LocalExecutor

        return LocalExecutor(self.jobs, limits, self.registry.paths, cache, server=self.server)


def prepare(
    asked: Study,
    tell: Callable[[str], None],
    *,
    retry: Sequence[str] = (),
    force: bool = False,
    server: ServerConnection | None = None,
) -> Job:
    """Return a job of what is asked; whatever does not exist is an error before anything is made.

    Parameters
    ----------
    asked : the study, as `asking.resolve` makes it
    tell : told what the user has to know: broken plugins, methods that are left out
    retry, force : cells with these statuses run again, or all
    server : a fork server that was started ahead, for the threads and device of the study
    """
    for status in retry:
        if status not in STATUSES:
            raise unknown("status", status, STATUSES)
    registry = discover(asked.plugins)
    for broken in registry.broken:
        tell(f"broken plugin {broken.path}: {broken.error}")
    for path in asked.published:
        read_published(Path(path))
    wanted = drafts(asked, registry)
    for needs, names in methods_left_out(asked, registry).items():
        tell(f"left out: {', '.join(names)}; they need {needs}")
    neural = {each.method for each in wanted if _needs_torch(registry, each.method)}
    jobs = jobs_of(asked)
    if neural and run_device(min(neural)) != "cpu" and asked.jobs is None:
        jobs = 1  # two cells on one GPU would only take each other's memory
    out = default_out(asked)
    check_schema(out)
    choice = {"retry": list(retry), "force": force, "timing": asked.timing}
    return Job(asked, registry, wanted, out, jobs, choice, server)


def _needs_torch(registry: Registry, method: str) -> bool:
    """Say whether a method trains a network."""
    return "torch" in registry.methods[method].cls.requires


def run_job(job: Job, progress: Progress) -> tuple[Results, list[Row], list[Row]]:
    """Run what of a job is not in its folder; return its results, and the rows of both tables."""
    with Store(job.out) as store:
        results = _compute(job, store, progress)
        return (results, *write_tables(results, store, progress))


def _compute(job: Job, store: Store, progress: Progress) -> Results:
    executor = job.executor(store.prepared)
    study, registry = job.study, job.registry
    try:
        found = build_plan(study, job.drafts, registry, executor, store.work, progress)
        replaced = [line for line in map(store.put_split, found.splits) if line]
        store.write_text("study.toml", resolved(study, registry).to_toml())
        _keep_published(study, store.path)
        store.write_text(FILE, found.plan.to_json())
        store.write_text(PLUGINS, _plugin_facts(job))
        present, wrong = store.audit(cells=found.plan.cells)
        untuned = no_space(found.plan, registry) if study.tunes else []
        for line in (*_folded_notes(found.notes, store), *replaced, *wrong, *untuned):
            progress.message(line)
        if found.plan.searches:
            tune(found, executor, store, progress, study.keep_trials, job.choice)
        ids = {cell.id for cell in found.plan.cells}
        stored = {name: each for name, each in present.items() if name in ids}
        todo = {cell.id for cell in cells_to_run(found.plan.cells, stored, **job.choice)}
        if stored:
            progress.message(
                f"{len(found.plan.cells) - len(todo)} of {len(found.plan.cells)} cells "
                "are in the store already"
            )
        # the only ones that say that they may take long
        long = {name for name, plugin in registry.methods.items() if not plugin.cls.scalable}
        tasks = [
            make_task(each, found.sources[each.id]) for each in run_order(found.plan.cells, long)
        ]
        left = [each for each in tasks if each.cell.id in todo]
        stored |= run_and_store(left, executor, store, progress)
    finally:
        executor.close()
    return Results(store.path, registry, found.plan, stored)


def _plugin_facts(job: Job) -> str:
    methods = [draft.method for draft in job.drafts]
    datasets = [draft.data.name for draft in job.drafts]
    return describe_plugins(job.registry, methods, datasets)


def _folded_notes(notes: Sequence[str], store: Store) -> list[str]:
    """Keep what datasets say about themselves beside the results; return one line about it."""
    if not notes:
        return []
    store.write_text(NOTES, "".join(f"{note}\n" for note in notes))
    counts = Counter(note.partition(":")[0].removeprefix("dataset ") for note in notes)
    said = ", ".join(f"{count} on {name}" for name, count in counts.items())
    return [f"notes: {said}; see {store.path / NOTES}"]


def _keep_published(study: Study, out: Path) -> None:
    """Put the printed numbers that a study names beside its results, where reports find them."""
    for name in study.published:
        path = Path(name)
        (out / PUBLISHED).mkdir(exist_ok=True)
        for each in (path, path.with_suffix(".toml")):
            if each.is_file():
                shutil.copyfile(each, out / PUBLISHED / each.name)
