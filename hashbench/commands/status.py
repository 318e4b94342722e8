"""``hashbench status``: what of a study is done, failed, timed out, left."""

from __future__ import annotations

import json
import shutil
import textwrap
from collections import Counter
from pathlib import Path
from typing import Any

import click

from hashbench.plan import Plan, estimate, pending
from hashbench.store import STATUSES, DamagedError, Store, Stored
from hashbench.units import format_count, format_duration


@click.command("status")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status_command(out: Path, as_json: bool) -> None:
    """Show what of the study in OUT is done, failed, timed out and left; changes nothing."""
    plan, store = Plan.read(out), Store(out)
    stored: dict[str, Stored] = {}
    damaged: dict[str, str] = {}
    for cell in plan.cells:
        try:
            found = store.get(cell.id)
        except DamagedError as error:
            damaged[cell.id] = str(error)
        else:
            if found is not None:
                stored[cell.id] = found
    summary = summarise(plan, store, stored, damaged)
    if as_json:
        click.echo(json.dumps(summary, indent=2))
        return
    counts = ", ".join(f"{n} {status}" for status, n in summary["counts"].items() if n)
    click.echo(f"{format_count(summary['cells'], 'cell')}: {counts}")
    if summary["left_seconds"] is not None:
        click.echo(f"about {format_duration(summary['left_seconds'])} left, one cell at a time")
    for line in summary["not_done"]:
        text = f"{line['status']}: {line['cell']}: {line['reason']}"
        width = shutil.get_terminal_size((80, 24)).columns
        click.echo(textwrap.fill(text, width, subsequent_indent="  "))
    if summary["others"]:
        others = format_count(summary["others"], "cell")
        click.echo(f"of other studies or versions: {others} in the store")


def summarise(
    plan: Plan, store: Store, stored: dict[str, Stored], damaged: dict[str, str]
) -> dict[str, Any]:
    """Return the counts, the cells that are not done with their reasons, and the time left."""
    counts = Counter(each.status for each in stored.values())
    counts["failed"] += len(plan.missing)
    todo = pending(plan.cells, stored)
    seconds, unjudged = estimate(todo, stored, 1)
    known = {cell.id for cell in plan.cells}
    present = {path.name for path in store.cells.glob("*")}
    lines = [
        {"cell": str(cell), "status": stored[cell.id].status, "reason": _reason(stored[cell.id])}
        for cell in plan.cells
        if cell.id in stored and stored[cell.id].status != "done"
    ]
    lines += [
        {"cell": str(cell), "status": "damaged", "reason": damaged[cell.id]}
        for cell in plan.cells
        if cell.id in damaged
    ]
    lines += [
        {
            "cell": f"{each.method} at {each.bits} bits on {each.dataset}, seed {each.seed}",
            "status": "failed",
            "reason": each.reason,
        }
        for each in plan.missing
    ]
    return {
        "cells": len(plan.cells) + len(plan.missing),
        "counts": {**{status: counts[status] for status in STATUSES}, "left": len(todo)},
        "left_seconds": seconds if todo and not unjudged else None,
        "not_done": lines,
        "others": len(present - known),
    }


def _reason(stored: Stored) -> str:
    return str(stored.record.get("reason", ""))
