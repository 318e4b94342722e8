"""Run a study: prepare, plan, tune, compute, score.

``hashbench run`` and :func:`hashbench.run` both make a :class:`Job` and run it.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hashbench.analysis.csv_tables import Row
from hashbench.analysis.evaluate import write_tables
from hashbench.analysis.published import FOLDER as PUBLISHED
from hashbench.analysis.published import read_published
from hashbench.analysis.results import Results
from hashbench.api.study_args import default_out, n_jobs
from hashbench.core.errors import unknown
from hashbench.execution.cell import Cell
from hashbench.execution.executor import STATUSES, Executor, Limits
from hashbench.execution.grid import CellSpec, expand_grid, methods_left_out, resolved
from hashbench.execution.local import PoolProcess
from hashbench.execution.plan import (
    FILE,
    BuiltPlan,
    Plan,
    build_plan,
    cells_to_run,
    check_same_study,
    check_schema,
    make_task,
    run_order,
)
from hashbench.execution.progress import Progress
from hashbench.execution.run_cells import run_cells
from hashbench.execution.run_record import RunRecord
from hashbench.execution.store import Store, Stored
from hashbench.execution.study import Study
from hashbench.execution.tuning.run import tune
from hashbench.neural.device import run_device
from hashbench.plugins.registry import Registry, discover
from hashbench.plugins.stored_facts import FILE as PLUGINS
from hashbench.plugins.stored_facts import describe_plugins

NOTES = "notes.txt"  # in OUT: notes about datasets


@dataclass(frozen=True)
class Job:
    """A study that can run: everything it names exists.

    Attributes
    ----------
    study : the study
    registry : the plugins, those of the study included
    specs : its cells, before their datasets are loaded
    out : the folder of results
    jobs : how many cells at once
    retry, force : statuses of stored cells that run again, or all cells
    pool : a pool that is running already, or None
    """

    study: Study
    registry: Registry
    specs: Sequence[CellSpec]
    out: Path
    jobs: int
    retry: Sequence[str] = ()
    force: bool = False
    pool: PoolProcess | None = None

    def cells_to_run(self, cells: Sequence[Cell], stored: Mapping[str, Stored]) -> list[Cell]:
        """Return the cells that are not stored or run again."""
        return cells_to_run(cells, stored, self.retry, self.force, self.study.timing)

    def executor(self, cache: Path) -> Executor:
        """Return the study's executor."""
        limits = Limits(self.study.timeout, self.study.memory, self.study.threads)
        if self.study.executor == "dask":
            from hashbench.execution.dask import DaskExecutor

            return DaskExecutor(self.study.scheduler, self.jobs, limits, self.registry.paths)
        from hashbench.execution.local import LocalExecutor

        return LocalExecutor(self.jobs, limits, self.registry.paths, cache, pool=self.pool)


def prepare_job(
    study: Study,
    log: Callable[[str], None],
    *,
    retry: Sequence[str] = (),
    force: bool = False,
    replace: bool = False,
    pool: PoolProcess | None = None,
) -> Job:
    """Return the job of a study; names that do not exist raise before any file is written.

    Parameters
    ----------
    study : the study, as `study_args.resolve` returns it
    log : called with lines about broken plugins and methods that are left out
    retry, force : statuses of stored cells that run again, or all cells
    replace : whether the folder may hold another study
    pool : a pool that is running already, for the threads and device of the study
    """
    for status in retry:
        if status not in STATUSES:
            raise unknown("status", status, STATUSES)
    registry = discover(study.plugins)
    for broken in registry.broken:
        log(f"broken plugin {broken.path}: {broken.error}")
    for path in study.published:
        read_published(Path(path))
    specs = expand_grid(study, registry)
    for needs, names in methods_left_out(study, registry).items():
        log(f"left out: {', '.join(names)}; they need {needs}")
    used = {spec.method for spec in specs}
    neural = {name for name in used if "torch" in registry.methods[name].cls.requires}
    jobs = n_jobs(study)
    if neural and run_device(min(neural)) != "cpu" and study.jobs is None:
        jobs = 1  # two cells on one GPU would only take each other's memory
    out = default_out(study)
    check_schema(out)
    if not replace:
        check_same_study(out, study, specs)
    return Job(study, registry, specs, out, jobs, retry, force, pool)


def run_job(job: Job, progress: Progress) -> tuple[Results, list[Row], list[Row]]:
    """Run the cells that are not in the folder; return the results and the rows of both tables."""
    with Store(job.out) as store:
        executor = job.executor(store.prepared)
        try:
            built = build_plan(job.study, job.specs, job.registry, executor, store.work, progress)
            present = _write_study(job, built, store, progress)
            if built.plan.searches:
                keep = job.study.keep_trials
                retry, force = job.retry, job.force
                tune(built, executor, store, progress, keep_codes=keep, retry=retry, force=force)
            stored = _run_missing(job, built, present, executor, store, progress)
        finally:
            executor.close()
        results = Results(store.path, job.registry, built.plan, stored)
        return (results, *write_tables(results, store, progress))


def _write_study(job: Job, built: BuiltPlan, store: Store, progress: Progress) -> dict[str, Stored]:
    """Write plan, study, splits and notes; return the intact cells that are stored already."""
    replaced = [line for line in map(store.put_split, built.splits) if line]
    store.write_text("study.toml", resolved(job.study, job.registry).to_toml())
    _copy_published(job.study, store.path)
    store.write_text(FILE, built.plan.to_json())
    store.write_text(PLUGINS, _plugin_facts(job))
    present, damaged = store.audit()
    untuned = no_space(built.plan, job.registry) if job.study.tune else []
    for line in (*_write_notes(built.notes, store), *replaced, *damaged, *untuned):
        progress.message(line)
    return present


def _run_missing(
    job: Job,
    built: BuiltPlan,
    present: Mapping[str, Stored],
    executor: Executor,
    store: Store,
    progress: Progress,
) -> dict[str, Stored]:
    """Run and store the cells that have to run; return all stored cells of the plan."""
    cells = built.plan.cells
    stored = {cell.id: present[cell.id] for cell in cells if cell.id in present}
    todo = {cell.id for cell in job.cells_to_run(cells, stored)}
    if stored:
        progress.message(f"{len(cells) - len(todo)} of {len(cells)} cells are in the store already")
    # only these methods state that they may take long
    slow = {name for name, plugin in job.registry.methods.items() if not plugin.cls.scalable}
    tasks = [
        make_task(cell, built.sources[cell.id])
        for cell in run_order(cells, slow)
        if cell.id in todo
    ]

    def keep(cell: Cell, record: RunRecord, folder: Path | None) -> None:
        stored[cell.id] = store.put(cell, record, folder)

    run_cells(tasks, executor, store, progress, keep)
    return stored


def no_space(plan: Plan, registry: Registry) -> list[str]:
    """Return a line that names the methods that cannot be tuned, if there are any."""
    methods = dict.fromkeys(cell.method for cell in plan.cells)
    without = [name for name in methods if not registry.methods[name].cls.space]
    return [f"not tuned, because they have no space: {', '.join(without)}"] if without else []


def _plugin_facts(job: Job) -> str:
    methods = [spec.method for spec in job.specs]
    datasets = [spec.data.name for spec in job.specs]
    return describe_plugins(job.registry, methods, datasets)


def _write_notes(notes: Sequence[str], store: Store) -> list[str]:
    """Write the notes about datasets to a file; return those on unused data, and a summary."""
    if not notes:
        return []
    store.write_text(NOTES, "".join(f"{note}\n" for note in notes))
    counts = Counter(note.partition(":")[0].removeprefix("dataset ") for note in notes)
    summary = ", ".join(f"{count} on {name}" for name, count in counts.items())
    unused = [note for note in notes if ": not used: " in note]
    return [*unused, f"notes: {summary}; see {store.path / NOTES}"]


def _copy_published(study: Study, out: Path) -> None:
    """Copy the published numbers that a study names into OUT, where reports find them."""
    for name in study.published:
        path = Path(name)
        (out / PUBLISHED).mkdir(exist_ok=True)
        for each in (path, path.with_suffix(".toml")):
            if each.is_file():
                shutil.copyfile(each, out / PUBLISHED / each.name)
