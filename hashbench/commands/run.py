"""``hashbench run``: a study from a file, by name, or from flags."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from hashbench.commands import plugin_option
from hashbench.errors import unknown
from hashbench.executors import Limits
from hashbench.executors.local import LocalExecutor
from hashbench.measures import parse_many
from hashbench.progress import make_progress
from hashbench.registry import discover
from hashbench.run import execute, make_plan, pending, write_plan, write_tables
from hashbench.store import STATUSES, Store
from hashbench.study import DEFAULT_STUDY, Study, load_study, read_study
from hashbench.table import tables

RESULTS = "hashbench-results"


@click.command("run")
@click.argument("study", required=False)
@click.option("-m", "--methods", help="Methods: names, patterns, edsh[gamma=1|10], all,!lssh.")
@click.option("-d", "--datasets", help="Datasets, or files: wiki, data.mat, name=data.mat.")
@click.option("-b", "--bits", help="Code lengths: 16,32.")
@click.option("-s", "--seeds", help="How many seeds (3 means 0,1,2), or which: 3,5.")
@click.option("-o", "--out", type=click.Path(path_type=Path), help="Folder of the results.")
@click.option("-j", "--jobs", type=click.IntRange(1), help="Cells at once; default: all cores.")
@click.option("--measures", help="Names of measures: AP,P@100.")
@click.option("--timeout", help="Longest time of a cell: 10m.")
@click.option("--memory", help="Largest memory of a cell: 8G.")
@click.option("--threads", help="Threads of each cell; default 1.")
@click.option("--retry", default="", help="Run cells again that are failed, timeout, memory.")
@click.option("--force", is_flag=True, help="Run every cell again.")
@click.option("--timing", is_flag=True, help="One cell at a time, for times that compare.")
@click.option("--quiet", is_flag=True, help="No progress.")
@plugin_option
def run_command(study: str | None, plugins: tuple[str, ...], **flags: Any) -> None:
    """Run a study: every method on every dataset at every code length, for every seed.

    STUDY is the name of a study that comes with hashbench, or a TOML file; flags win over it.
    Without it, the flags are the study. What is already in OUT is not run again.
    """
    asked = resolve(study, plugins, flags)
    parse_many(asked.measures)
    retry = [status for status in flags["retry"].split(",") if status]
    for status in retry:
        if status not in STATUSES:
            raise unknown("status", status, STATUSES)
    out = flags["out"] or Path(RESULTS) / asked.name
    registry = discover(asked.plugins)
    progress = make_progress(flags["quiet"])
    jobs = 1 if flags["timing"] else flags["jobs"] or max(1, (os.cpu_count() or 1) // asked.threads)
    limits = Limits(asked.timeout, asked.memory, asked.threads)
    with Store(out) as store:
        executor = LocalExecutor(jobs, limits, registry.paths, store.prepared)
        try:
            plan = make_plan(asked, registry, executor, store)
            for line in (*plan.notes, *store.audit()):
                progress.note(line)
            write_plan(plan, store)
            stored = store.read([cell.id for cell in plan.cells])
            todo = pending(plan, stored, retry, flags["force"], flags["timing"])
            if len(todo) < len(plan.cells):
                progress.note(f"{len(plan.cells) - len(todo)} of {len(plan.cells)} cells are done")
            execute(todo, executor, store, progress)
        finally:
            executor.close()
        rows = write_tables(store, plan.cells, asked.measures)
        ended = store.read([cell.id for cell in plan.cells])
    if rows:
        click.echo(tables(rows, rows[0]["measure"]))
    wrong = [stored for stored in ended.values() if stored.status not in ("done", "skipped")]
    click.echo(f"\n{len(ended)} cells in {out}: results.csv, runs.csv")
    for label, reason in plan.unavailable.items():
        click.echo(f"dataset {label}: {reason}", err=True)
    if wrong or plan.unavailable:
        click.echo(f"{len(wrong)} cells failed; runs.csv says why", err=True)
        sys.exit(1)


def resolve(study: str | None, plugins: tuple[str, ...], flags: dict[str, Any]) -> Study:
    """Return the study that a name or file and the flags ask for."""
    keys = {
        key: flags[key]
        for key in (
            "methods",
            "datasets",
            "bits",
            "seeds",
            "measures",
            "timeout",
            "memory",
            "threads",
        )
        if flags[key] is not None
    }
    base = load_study(study or DEFAULT_STUDY)
    if study is None and set(keys) & {"methods", "datasets", "bits", "seeds"}:
        keys["name"] = "custom"
    if plugins:
        keys["plugins"] = [*base.plugins, *plugins]
    return read_study(keys, "the flags", base)
