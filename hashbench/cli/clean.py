"""``hashbench clean``: delete what a folder of results does not need."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import click

from hashbench.cli.cache import size_of
from hashbench.core.units import format_size
from hashbench.execution.plan import Plan
from hashbench.execution.score_cache import FOLDER as SCORES
from hashbench.execution.store import Store


@click.command("clean")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--failed", is_flag=True, help="Also cells that are not done.")
@click.option("--others", is_flag=True, help="Also cells of other studies or versions.")
@click.option("--dry-run", is_flag=True, help="Show what would be deleted, and delete nothing.")
def clean_command(out: Path, failed: bool, others: bool, dry_run: bool) -> None:
    """Delete caches, temporary files and damaged files of the study in OUT; no result changes.

    The score cache is computed again when it is needed. Results, codes and reports stay. The next
    run computes cells again that --failed has deleted.
    """
    plan = Plan.read(out)
    with Store(out) as store:  # no run writes here at the same time
        total = 0
        for path, what in _unneeded(store, plan, failed, others):
            size = size_of(path)
            total += size
            click.echo(f"{what}: {path} ({format_size(size)})")
            if not dry_run:
                shutil.rmtree(path)
        verb = "would be deleted" if dry_run else "deleted"
        click.echo(f"{format_size(total)} {verb}")


def _unneeded(store: Store, plan: Plan, failed: bool, others: bool) -> Iterator[tuple[Path, str]]:
    """Yield the folders to delete, each with what it is."""
    for path, what in ((store.path / SCORES, "score cache"), (store.aside, "damaged files")):
        if path.is_dir():
            yield path, what
    known = {cell.id: cell for cell in plan.cells}
    stored, damaged = store.read(plan.cells)
    for name in sorted(os.listdir(store.cells)):
        path = store.cells / name
        if others and name not in known:
            yield path, "cell of another study or version"
        elif failed and name in stored and stored[name].status != "done":
            yield path, f"{known[name]}: {stored[name].status}"
        elif failed and name in damaged:
            yield path, f"{known[name]}: damaged"
