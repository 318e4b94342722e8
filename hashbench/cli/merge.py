"""``hashbench merge``: results of several machines in one folder."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from hashbench.analysis.evaluate import write_tables
from hashbench.analysis.results import Results
from hashbench.core.units import format_count
from hashbench.execution.merge import merge
from hashbench.execution.plan import FILE, Plan, check_schema
from hashbench.execution.progress import make_progress
from hashbench.execution.store import Store
from hashbench.plugins.registry import Registry
from hashbench.plugins.stored_facts import FILE as PLUGINS
from hashbench.plugins.stored_facts import merge_plugins


@click.command("merge")
@click.argument("sources", nargs=-1, required=True, metavar="OUT...")
@click.option("-o", "--out", required=True, help="The folder of all cells.")
def merge_command(sources: tuple[str, ...], out: str) -> None:
    """Copy the cells of several folders into one and write the tables again.

    Where two folders disagree about a cell, the first is kept and the conflict is named.

    Exit codes: 0 no conflict, 1 conflicts, 2 bad input.
    """
    check_schema(Path(out))
    plans = {Path(source): Plan.read(Path(source)) for source in sources}  # before OUT is made
    with Store(Path(out)) as store:
        merged = merge(plans, store)
        store.write_text(FILE, merged.plan.to_json())
        store.write_text(PLUGINS, merge_plugins((store.path, *plans)))
        stored, _ = store.read(merged.plan.cells)
        results = Results(store.path, Registry(), merged.plan, stored)
        rows, _ = write_tables(results, store, make_progress(quiet=False))
    for note in merged.notes:
        click.echo(note, err=True)
    for conflict in merged.conflicts:
        click.echo(f"conflict: {conflict}", err=True)
    click.echo(
        f"{format_count(len(merged.plan.cells), 'cell')} in {out}, "
        f"{format_count(len(rows), 'result')}, {format_count(len(merged.conflicts), 'conflict')}"
    )
    if merged.conflicts:
        sys.exit(1)
