"""Run a study for ``hashbench run``, and print its plan, progress, scores and outcome."""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from hashbench.analysis.results import Results
from hashbench.api.job import Job, prepare_job, run_job
from hashbench.cli import INTERRUPTED
from hashbench.core.errors import HashbenchError, describe_os_error
from hashbench.core.units import format_count, format_duration, format_size
from hashbench.execution.executor import STATUSES
from hashbench.execution.local import PoolProcess
from hashbench.execution.plan import build_plan, wall_times
from hashbench.execution.progress import Progress, make_progress
from hashbench.execution.store import Store
from hashbench.execution.study import Study
from hashbench.execution.time_left import estimate
from hashbench.execution.tuning.run import TrialCount, add_tuned, count_trials, read_records
from hashbench.plugins.selection import bare_name, split_items
from hashbench.render.style import highlighted_methods
from hashbench.render.terminal import Order, score_tables, winners

PAGE = "report/index.html"  # in OUT
REASONS = 5  # said on the terminal; all of them are in runs.csv


def run_study(study: Study, flags: Mapping[str, Any], pool: PoolProcess | None) -> None:
    """Run a study and show its table, or its plan; end with the exit code.

    Parameters
    ----------
    study : the study to run
    flags : of the command: those that are no keys of a study
    pool : the process that starts the study's cells, or None for an executor without one
    """
    retry = [status.strip() for status in flags["retry"].split(",") if status.strip()]
    job = prepare_job(
        study,
        lambda line: click.echo(line, err=True),
        retry=retry,
        force=flags["force"],
        replace=flags["replace"],
        pool=pool,
    )
    out = job.out
    if job.study.out is None and not flags["quiet"]:
        click.echo(f"results: {out}", err=True)
    progress = make_progress(flags["quiet"], verbose=flags["verbose"])
    if flags["plan_only"]:
        show_plan(job, progress)
        return
    try:
        results, rows, runs = run_job(job, progress)
    except KeyboardInterrupt:
        click.echo(f"\ninterrupted; {_saved(out)}", err=True)
        sys.exit(INTERRUPTED)
    except OSError as error:
        click.echo(f"hashbench: {describe_os_error(error, out)}; {_saved(out)}", err=True)
        sys.exit(1)
    if results.measures:
        where = str(out / (PAGE if flags["report"] else "results.csv"))
        order = shown_order(job.study, results, where)
        click.echo(score_tables(rows, runs, results.measures[0], order))
    else:
        click.echo(f"every measure is a curve; hashbench report {out} draws them")
    code = conclude(runs, out)
    if flags["report"] and not write_report(results):
        code = INTERRUPTED
    if results.measures and (line := winners(rows, runs, results.measures[0], order)):
        click.echo(line)  # tables of many methods are higher than a terminal
    sys.exit(code)


def shown_order(study: Study, results: Results, where: str) -> Order:
    """Return the order of the table: as typed where methods were named, else the best first."""
    cells = results.plan.cells
    items = [item for text in study.methods for item in split_items(text)]
    return Order(
        [cell.dataset for cell in cells],
        [cell.label for cell in cells],
        {bare_name(item) for item in items},
        where,
        results.registry.reconstructions(),
        highlighted_methods(results, list(dict.fromkeys(cell.label for cell in cells)), ()),
    )


def show_plan(job: Job, progress: Progress) -> None:
    """Print the grid, what is done and how long the rest may take; change nothing in OUT."""
    study, out, jobs = job.study, job.out, job.jobs
    with tempfile.TemporaryDirectory() as folder:
        executor = job.executor(Path(folder) / "cache")
        try:
            plan = build_plan(study, job.specs, job.registry, executor, Path(folder), progress).plan
        finally:
            executor.close()
    store = Store(out)
    records = read_records(plan, store.trials, job.retry, job.force)
    trials = count_trials(plan, records)
    add_tuned(plan, records)
    stored, _ = store.read(plan.cells)
    todo = job.cells_to_run(plan.cells, stored)
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
    if plan.searches:
        click.echo(_trials_planned(study, trials))
    known = [*wall_times(stored.values()), *trials.wall_times]
    seconds, unknown = estimate([*todo, *trials.left], known, jobs)
    counts = Counter(each.status for each in stored.values())
    done = ", ".join(f"{number} {status}" for status, number in counts.items())
    longest = "none" if study.timeout is None else format_duration(study.timeout)
    largest = "none" if study.memory is None else format_size(study.memory)
    threads = format_count(study.threads, "thread")
    click.echo(f"limits of a cell: time {longest}, memory {largest}, {threads}")
    total = format_count(len(plan.cells), "cell")
    click.echo(f"{total}; in {out}: {done or 'nothing yet'}; {len(todo)} to run")
    if unknown < len(todo) + len(trials.left):
        never = format_count(unknown, "cell")
        besides = f", besides {never} of methods never run" if unknown else ""
        click.echo(f"about {format_duration(seconds)} left with {jobs} at once{besides}")


def _trials_planned(study: Study, trials: TrialCount) -> str:
    """Say how many trials there are before any method is tuned."""
    searches = format_count(trials.searches, "search")
    ended = "".join(f"{number} {status}, " for status, number in trials.counts.items())
    later = "; the tuned cells follow from them" if trials.left else ""
    return f"{searches}, {study.tune} points each, {ended}{len(trials.left)} trials to run{later}"


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


def write_report(results: Results) -> bool:
    """Write the page and return whether nobody interrupted it; the results are stored already."""
    from hashbench.site.exhibits import publish

    try:
        publish(results, lambda page: click.echo(f"Page: {page}"))
    except KeyboardInterrupt:
        page = f"write the page with: hashbench report {results.path}"
        click.echo(f"\ninterrupted; the results are complete, {page}", err=True)
        return False
    except (HashbenchError, OSError) as error:
        click.echo(f"hashbench: no page: {error}", err=True)
    return True


def _saved(out: Path) -> str:
    count = format_count(sum(1 for _ in (out / "cells").glob("*")), "cell")
    study = out / "study.toml"
    command = shlex.join(["hashbench", "run", str(study), "-o", str(out)])
    again = f"; go on with: {command}" if study.exists() else ""
    return f"saved in {out}: {count}{again}"
