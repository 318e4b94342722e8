"""``hashbench status``: how many cells of a study are done, failed, timed out or left."""

from __future__ import annotations

import contextlib
import fnmatch
import json
import os
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from hashbench.cli import completion
from hashbench.core import task_log
from hashbench.core.errors import unknown
from hashbench.core.units import format_count, format_duration
from hashbench.execution.executor import STATUSES
from hashbench.execution.plan import Plan, cells_to_run, wall_times
from hashbench.execution.store import Store, Stored
from hashbench.execution.time_left import estimate
from hashbench.execution.tuning.run import count_trials, read_records
from hashbench.plugins.selection import bare_name
from hashbench.render.terminal import listing


@click.command("status")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "-f", "--follow", "following", is_flag=True, help="First follow cells until the run ends."
)
@click.option(
    "--log",
    "logged",
    metavar="METHOD",
    shell_complete=completion.PluginSelection("methods"),
    help="Traceback and output of the cells of a method that are not done; a name or pattern.",
)
def status_command(out: Path, as_json: bool, following: bool, logged: str | None) -> None:
    """Show which cells of the study in OUT are done, failed or left.

    Exit codes: 0, or 1 if a cell in OUT is damaged, 2 bad input.
    """
    plan, store = Plan.read(out), Store(out)
    if following:
        follow(store)
    stored, damaged = store.read(plan.cells)
    if logged is not None:
        show_logs(logs(logged, plan, stored), as_json)
        return
    summary = summarise(plan, store, stored, damaged)
    if as_json:
        click.echo(json.dumps(summary, indent=2))
    else:
        show(summary)
    if damaged:
        sys.exit(1)


def follow(store: Store) -> None:
    """Print what running cells say, each line behind the name of its cell, while a run lasts."""
    read: dict[Path, int] = {}
    while True:
        alive = store.owner() is not None
        for log in sorted(store.work.glob(f"task-*/{task_log.NAME}")):
            with contextlib.suppress(OSError):  # it may go at any time
                data = log.read_bytes()
                whole = data[: data.rfind(b"\n") + 1]
                lines = whole[read.get(log, 0) :].decode(errors="replace").splitlines()
                name = whole.partition(b"\n")[0].decode(errors="replace")
                for line in lines[0 if log in read else 1 :]:
                    click.echo(f"{name}: {line}")
                read[log] = len(whole)
        if not alive:
            return
        time.sleep(task_log.SECONDS / 2)


def logs(method: str, plan: Plan, stored: Mapping[str, Stored]) -> list[dict[str, str]]:
    """Return what is known of the cells of a method, a name or a pattern, that are not done."""
    names = {cell.label: bare_name(cell.label) for cell in plan.cells}
    chosen = {
        label
        for label, bare in names.items()
        if label == method or fnmatch.fnmatchcase(bare, method)
    }
    if not chosen:
        raise unknown("method", method, names)
    found = [stored[cell.id] for cell in plan.cells if cell.label in chosen and cell.id in stored]
    return [
        {
            "cell": str(each.cell),
            "status": each.status,
            "reason": each.record.reason,
            "traceback": each.record.traceback,
            "output": each.record.output,
        }
        for each in found
        if each.status != "done"
    ]


def show_logs(found: Sequence[Mapping[str, str]], as_json: bool) -> None:
    """Print the records of cells that are not done."""
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return
    for each in found:
        click.echo(f"{each['cell']}: {each['status']}: {each['reason']}")
        for part in ("traceback", "output"):
            text = textwrap.indent(each[part].rstrip(), "  ")
            click.echo(f"{part}:\n{text}" if text else f"no {part}")
        click.echo()
    click.echo(f"not done: {format_count(len(found), 'cell')}")


def show(summary: Mapping[str, Any]) -> None:
    """Print a summary, a line for each cell that is not done."""
    counts = ", ".join(f"{n} {status}" for status, n in summary["counts"].items() if n)
    click.echo(f"{format_count(summary['cells'], 'cell')}: {counts}")
    if trials := summary["trials"]:
        ended = ", ".join(f"{n} {status}" for status, n in trials["counts"].items() if n)
        searches = format_count(trials["searches"], "search")
        click.echo(f"{format_count(trials['trials'], 'trial')} in {searches}: {ended}")
    if summary["left_seconds"] is not None:
        click.echo(f"about {format_duration(summary['left_seconds'])} left, one cell at a time")
    lines = [(each["status"], each["cell"], each["reason"]) for each in summary["not_done"]]
    for each in summary["missing"]:
        cells = format_count(each["cells"], "cell")
        lines.append(("failed", f"{cells} on {each['dataset']}", each["reason"]))
    if lines:
        click.echo(listing(("status", "cell", "reason"), lines, wrapped=2))
    if summary["others"]:
        others = format_count(summary["others"], "cell")
        click.echo(f"of other studies or versions: {others} in the store")


def summarise(
    plan: Plan, store: Store, stored: dict[str, Stored], damaged: dict[str, str]
) -> dict[str, Any]:
    """Return the counts, what is not done with its reasons, and the time left.

    A dataset that cannot be loaded is one line, however many cells it costs.
    """
    counts = Counter(each.status for each in stored.values())
    counts["failed"] += len(plan.missing)
    todo = cells_to_run(plan.cells, stored)
    trials = count_trials(plan, read_records(plan, store.trials))
    waiting = [*todo, *trials.left]
    seconds, unknown = estimate(waiting, [*wall_times(stored.values()), *trials.wall_times], 1)
    known = {cell.id for cell in plan.cells}
    present = set(os.listdir(store.cells)) if store.cells.is_dir() else set()
    lines = [
        {
            "cell": str(cell),
            "status": stored[cell.id].status,
            "reason": stored[cell.id].record.reason,
        }
        for cell in plan.cells
        if cell.id in stored and stored[cell.id].status != "done"
    ]
    lines += [
        {"cell": str(cell), "status": "damaged", "reason": damaged[cell.id]}
        for cell in plan.cells
        if cell.id in damaged
    ]
    missing = Counter((each.dataset, each.reason) for each in plan.missing)
    return {
        "cells": len(plan.cells) + len(plan.missing),
        "counts": {**{status: counts[status] for status in STATUSES}, "left": len(todo)},
        "trials": trials.to_json() if plan.searches else None,
        "left_seconds": seconds if waiting and not unknown else None,
        "not_done": lines,
        "missing": [
            {"dataset": dataset, "cells": cells, "reason": reason}
            for (dataset, reason), cells in missing.items()
        ],
        "others": len(present - known),
    }
