"""``hashbench run``: a study from a file, by name, or from flags."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from hashbench.base import interrupts
from hashbench.base.errors import HashbenchError, describe_os_error, unknown
from hashbench.base.units import format_count, format_duration, format_size
from hashbench.commands import find_plugins, plugin_option
from hashbench.executors import STATUSES, Executor, Limits
from hashbench.measures import parse_many
from hashbench.neural.runtime import DEVICE, run_device
from hashbench.plugins.registry import Registry
from hashbench.plugins.selection import bare_name, split_items
from hashbench.printing.terminal import Order, tables
from hashbench.results.papers import FOLDER as PUBLISHED
from hashbench.results.papers import read_published
from hashbench.results.results import Results
from hashbench.results.tables import write_tables
from hashbench.results.tuning import tune
from hashbench.studies.grid import Draft, drafts, left_out, resolved
from hashbench.studies.plan import (
    FILE,
    Plan,
    check_schema,
    estimate,
    in_order,
    no_space,
    pending,
    planned,
    survey,
)
from hashbench.studies.progress import Progress, make_progress
from hashbench.studies.run import execute
from hashbench.studies.store import Store
from hashbench.studies.study import DEFAULT_STUDY, Study, load_study, read_study

RESULTS = "hashbench-results"

#: Flags that make a study of their own if no study is named.
GRID = ("methods", "datasets", "bits", "seeds")
KEYS = (
    *GRID, "measures", "timeout", "memory", "threads", "jobs", "out", "executor", "scheduler",
    "timing", "tune", "tune_time", "tune_bits", "keep_trials", "published",
)  # fmt: skip

PAGE = "report/index.html"  # in OUT, as are the notes
NOTES = "notes.txt"  # what datasets say about themselves
INTERRUPTED = 130
REASONS = 5  # said on the terminal; all of them are in runs.csv


@click.command("run")
@click.argument("study", required=False)
@click.option(
    "-m", "--methods", multiple=True, help="Methods: edsh,cca*  edsh[gamma=1|10]  all,!lssh."
)
@click.option(
    "-d", "--datasets", multiple=True, help="Datasets or files: wiki,synthetic[rows=500],mine.mat."
)
@click.option("-b", "--bits", help="Code lengths: 16,32.")
@click.option("-s", "--seeds", help="How many seeds (3 means 0,1,2), or which ones: 3,5.")
@click.option("-o", "--out", help=f"Folder of the results; default {RESULTS}/STUDY.")
@click.option("-j", "--jobs", help="Cells at once; default: cores / threads.")
@click.option("--measures", help="Names of measures: AP,P@100.")
@click.option("--published", multiple=True, help="CSV with numbers that a paper prints.")
@click.option("--plan", "plan_only", is_flag=True, help="Show what would run, and run nothing.")
@click.option("--timeout", help="Longest time of a cell: 10m.")
@click.option("--memory", help="Largest resident set of a cell and its processes: 8G.")
@click.option("--threads", help="Threads of each cell; default 1.")
@click.option(
    "--device",
    envvar=DEVICE,
    default="auto",
    help="Where networks are trained: auto (default), cpu, cuda, cuda:1, mps.",
)
@click.option("--retry", default="", help="Run these again: failed,timeout,memory,skipped.")
@click.option("--force", is_flag=True, help="Run every cell again.")
@click.option(
    "--timing/--no-timing", default=None, help="Run cells one at a time, for times that compare."
)
@click.option("--tune", help="Tune each method: so many points of its space, on training rows.")
@click.option("--tune-time", help="Tune each method for so long (training time): 10m.")
@click.option("--tune-bits", help="middle (default): tune at one code length; each: at every one.")
@click.option("--keep-trials/--drop-trials", default=None, help="Keep the codes of trials.")
@click.option("--executor", help="local (default) or dask.")
@click.option("--scheduler", help="Address of a Dask scheduler; implies --executor dask.")
@click.option("--quiet", is_flag=True, help="No progress.")
@click.option(
    "--report/--no-report",
    default=True,
    envvar="HASHBENCH_REPORT",
    help="Write reports and the page at the end; default: yes.",
)
@plugin_option
def run_command(study: str | None, plugins: tuple[str, ...], **flags: Any) -> None:
    """Run a study: every method on every dataset at every code length, for every seed.

    STUDY is the name of a study that comes with hashbench (quick, paper, paper-wiki, scale) or a
    TOML file whose keys are the flags' names; flags win over it. Without STUDY and without
    flags, quick runs. What is already in OUT is not run again.

    Exit codes: 0 all cells are done, 1 some are not, 2 bad input, 130 interrupted.
    """
    asked = resolve(study, plugins, flags)
    retry = [status.strip() for status in flags["retry"].split(",") if status.strip()]
    for status in retry:
        if status not in STATUSES:
            raise unknown("status", status, STATUSES)
    registry = find_plugins(asked.plugins)
    for path in asked.published:
        read_published(Path(path))
    wanted = drafts(asked, registry)  # before anything is made: what is asked for must exist
    for needs, names in left_out(asked, registry).items():
        click.echo(f"left out: {', '.join(names)}; they need {needs}", err=True)
    os.environ[DEVICE] = flags["device"]  # which the processes of cells inherit
    neural = {name for name in (each.method for each in wanted) if needs_torch(registry, name)}
    device = run_device(min(neural)) if neural else "cpu"
    jobs, out = jobs_of(asked), default_out(asked)
    if device != "cpu" and asked.jobs is None:
        jobs = 1  # two cells on one GPU would only take each other's memory
    check_schema(out)
    if asked.out is None and not flags["quiet"]:
        click.echo(f"results: {out}", err=True)
    progress = make_progress(flags["quiet"])
    choice = {"retry": retry, "force": flags["force"], "timing": asked.timing}
    if flags["plan_only"]:
        show_plan(asked, wanted, registry, out, jobs, choice, progress)
        return
    interrupts.listen()
    try:
        with Store(out) as store:
            results = compute(asked, wanted, registry, store, jobs, choice, progress)
            rows, runs = write_tables(results, store, progress)
    except KeyboardInterrupt:
        click.echo(f"\ninterrupted; {_saved(out)}", err=True)
        sys.exit(INTERRUPTED)
    except OSError as error:
        click.echo(f"hashbench: {describe_os_error(error, out)}; {_saved(out)}", err=True)
        sys.exit(1)
    numbers = [measure for measure in parse_many(asked.measures) if not measure.is_curve]
    if numbers:
        order = shown_order(asked, results.plan, out, flags["report"])
        click.echo(tables(rows, runs, str(numbers[0]), order))
    else:
        click.echo(f"every measure is a curve; hashbench report {out} draws them")
    code = conclude(runs, out)
    if flags["report"]:
        write_report(results)
    sys.exit(code)


def compute(
    study: Study,
    wanted: Sequence[Draft],
    registry: Registry,
    store: Store,
    jobs: int,
    choice: Mapping[str, Any],
    progress: Progress,
) -> Results:
    """Plan a study, run what is not in the store, and return what it has given."""
    executor = make_executor(study, registry, jobs, store.prepared)
    try:
        found = survey(study, wanted, registry, executor, store.work, progress)
        replaced = [line for line in map(store.put_split, found.splits) if line]
        store.write_text("study.toml", resolved(study, registry).to_toml())
        keep_published(study, store.path)
        store.write_text(FILE, found.plan.to_json())
        present, wrong = store.audit()
        untuned = no_space(found.plan, registry) if study.tunes else []
        for line in (*folded_notes(found.notes, store), *replaced, *wrong, *untuned):
            progress.note(line)
        if found.plan.searches:
            tune(found, executor, store, progress, study.keep_trials, choice)
        ids = {cell.id for cell in found.plan.cells}
        stored = {name: each for name, each in present.items() if name in ids}
        todo = {cell.id for cell in pending(found.plan.cells, stored, **choice)}
        if stored:
            progress.note(
                f"{len(found.plan.cells) - len(todo)} of {len(found.plan.cells)} cells "
                "are in the store already"
            )
        tasks = [planned(each, found.sources[each.id]) for each in in_order(found.plan.cells)]
        left = [each for each in tasks if each.cell.id in todo]
        stored |= execute(left, executor, store, progress)
    finally:
        executor.close()
    return Results(store.path, registry, found.plan, stored)


def folded_notes(notes: Sequence[str], store: Store) -> list[str]:
    """Keep what datasets say about themselves beside the results; return one line about it."""
    if not notes:
        return []
    store.write_text(NOTES, "".join(f"{note}\n" for note in notes))
    counts = Counter(note.partition(":")[0].removeprefix("dataset ") for note in notes)
    said = ", ".join(f"{count} on {name}" for name, count in counts.items())
    return [f"notes: {said}; see {store.path / NOTES}"]


def shown_order(study: Study, plan: Plan, out: Path, report: bool) -> Order:
    """Return how the table is sorted: as asked where methods were named, else the best first."""
    cells = plan.cells
    items = [item for text in study.methods for item in split_items(text)]
    return Order(
        [cell.dataset for cell in cells],
        [cell.label for cell in cells],
        {bare_name(item) for item in items},
        str(out / (PAGE if report else "results.csv")),
    )


def keep_published(study: Study, out: Path) -> None:
    """Put the printed numbers that a study names beside its results, where reports find them."""
    for name in study.published:
        path = Path(name)
        read_published(path)
        (out / PUBLISHED).mkdir(exist_ok=True)
        for each in (path, path.with_suffix(".toml")):
            if each.is_file():
                shutil.copyfile(each, out / PUBLISHED / each.name)


def needs_torch(registry: Registry, method: str) -> bool:
    """Say whether a method trains a network."""
    return "torch" in registry.methods[method].cls.requires


def make_executor(study: Study, registry: Registry, jobs: int, cache: Path) -> Executor:
    """Return the executor that a study asks for."""
    limits = Limits(study.timeout, study.memory, study.threads)
    if study.executor == "dask":
        from hashbench.executors.dask import DaskExecutor

        return DaskExecutor(study.scheduler, jobs, limits, registry.paths)
    from hashbench.executors.local import LocalExecutor

    return LocalExecutor(jobs, limits, registry.paths, cache)


def show_plan(
    study: Study,
    wanted: Sequence[Draft],
    registry: Registry,
    out: Path,
    jobs: int,
    choice: Mapping[str, Any],
    progress: Progress,
) -> None:
    """Print the grid, what is done and how long the rest may take; change nothing in OUT."""
    with tempfile.TemporaryDirectory() as folder:
        executor = make_executor(study, registry, jobs, Path(folder) / "cache")
        try:
            plan = survey(study, wanted, registry, executor, Path(folder), progress).plan
        finally:
            executor.close()
    stored, _ = Store(out).read([cell.id for cell in plan.cells])
    todo = pending(plan.cells, stored, **choice)
    waiting = {cell.id for cell in todo}
    for dataset in dict.fromkeys(cell.dataset for cell in plan.cells):
        cells = [cell for cell in plan.cells if cell.dataset == dataset]
        bits = ",".join(map(str, dict.fromkeys(cell.bits for cell in cells)))
        seeds = ",".join(map(str, dict.fromkeys(cell.seed for cell in cells)))
        click.echo(f"{dataset}: {bits} bits, seeds {seeds}")
        methods = list(dict.fromkeys(cell.label for cell in cells))
        width = max(map(len, methods))
        for method in methods:
            own = [cell for cell in cells if cell.label == method]
            left = sum(cell.id in waiting for cell in own)
            click.echo(f"  {method:{width}} {format_count(len(own), 'cell'):>10}, {left:4} to run")
    for reason, count in Counter(each.reason for each in plan.missing).items():
        click.echo(f"not available, {format_count(count, 'cell')}: {reason}")
    seconds, unjudged = estimate(todo, stored, jobs)
    counts = Counter(each.status for each in stored.values())
    done = ", ".join(f"{number} {status}" for status, number in counts.items())
    longest = "none" if study.timeout is None else format_duration(study.timeout)
    largest = "none" if study.memory is None else format_size(study.memory)
    threads = format_count(study.threads, "thread")
    click.echo(f"limits of a cell: time {longest}, memory {largest}, {threads}")
    total = format_count(len(plan.cells), "cell")
    click.echo(f"{total}; in {out}: {done or 'nothing yet'}; {len(todo)} to run")
    if len(unjudged) < len(todo):
        never = format_count(len(unjudged), "cell")
        besides = f", besides {never} of methods never run" if unjudged else ""
        click.echo(f"about {format_duration(seconds)} left with {jobs} at once{besides}")


def resolve(study: str | None, plugins: Sequence[str], flags: Mapping[str, Any]) -> Study:
    """Return the study that a name or file and the flags ask for."""
    keys = {key: _plain(flags[key]) for key in KEYS if flags[key] not in (None, ())}
    base = load_study(DEFAULT_STUDY if study is None else study)
    if study is None and any(key in keys for key in GRID):
        keys["name"] = study_name({**keys, "plugins": list(plugins)})
        base = replace(base, timeout=None)  # a limit that nobody set is none
    if plugins:
        keys["plugins"] = [*base.plugins, *plugins]
    asked = read_study(keys, "the flags", base)
    if asked.timing and asked.executor != "local":
        raise HashbenchError(
            f"timing: found executor {asked.executor!r}; allowed: 'local', because nobody can tell "
            "what else runs beside a worker"
        )
    return asked


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def study_name(keys: Mapping[str, Any]) -> str:
    """Return a name for a study from flags that says what it is, and is no other study's."""
    what = {key: value for key, value in keys.items() if key in (*GRID, "plugins")}
    digest = hashlib.sha256(json.dumps(what, sort_keys=True, default=str).encode()).hexdigest()
    said = [
        re.sub(r"[^A-Za-z0-9]+", "-", str(keys[key])).strip("-")[:30].strip("-")
        for key in GRID
        if key in keys
    ]
    return "-".join([*said, digest[:6]])


def default_out(study: Study) -> Path:
    """Return the folder of a study's results."""
    return Path(study.out or Path(RESULTS) / study.name)


def jobs_of(study: Study) -> int:
    """Return how many cells run at once."""
    return 1 if study.timing else study.jobs or max(1, _cores() // study.threads)


def conclude(runs: Sequence[Mapping[str, Any]], out: Path) -> int:
    """Say how the cells ended, with the first reasons why not, and return the exit code."""
    counts = Counter(row["status"] for row in runs)
    said = ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])
    click.echo(f"\n{format_count(counts.total(), 'cell')}: {said}. See {out}/results.csv")
    wrong = counts.total() - counts["done"] - counts["skipped"]
    if wrong:
        unfinished = [row for row in runs if row["status"] not in ("done", "skipped")]
        reasons = Counter(str(row.get("reason") or row["status"]) for row in unfinished)
        for reason, cells in reasons.most_common(REASONS):
            click.echo(f"not done: {cells} of {len(runs)}: {reason}", err=True)
        if len(reasons) > REASONS:
            click.echo(f"not done: {wrong} in all; {out}/runs.csv says why", err=True)
    return 1 if wrong else 0


def write_report(results: Results) -> None:
    """Write the page; whatever goes wrong here, the results are there already."""
    from hashbench.page.publish import publish

    try:
        click.echo(f"Page: {publish(results)}")
    except KeyboardInterrupt:
        click.echo(f"\nno page; write it with: hashbench report {results.path}", err=True)
    except (HashbenchError, OSError) as error:
        click.echo(f"hashbench: no page: {error}", err=True)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _saved(out: Path) -> str:
    count = format_count(sum(1 for _ in (out / "cells").glob("*")), "cell")
    study = out / "study.toml"
    command = shlex.join(["hashbench", "run", str(study), "-o", str(out)])
    again = f"; go on with: {command}" if study.exists() else ""
    return f"saved in {out}: {count}{again}"
