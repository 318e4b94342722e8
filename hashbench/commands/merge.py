"""``hashbench merge``: results of several machines in one folder."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from hashbench.merge import merge
from hashbench.plan import FILE
from hashbench.progress import make_progress
from hashbench.run import write_tables
from hashbench.store import Store


@click.command("merge")
@click.argument("sources", nargs=-1, required=True, metavar="OUT...")
@click.option("-o", "--out", required=True, help="Folder that takes all cells in.")
def merge_command(sources: tuple[str, ...], out: str) -> None:
    """Bring the results of several folders together and derive the tables again.

    Where two folders disagree about a cell, the first is kept and the conflict is named.

    Exit codes: 0 no conflict, 1 conflicts, 2 bad input.
    """
    with Store(Path(out)) as store:
        merged = merge([Path(source) for source in sources], store)
        store.write_text(FILE, merged.plan.to_json())
        rows, _ = write_tables(store, merged.plan, make_progress(quiet=False))
    for note in merged.notes:
        click.echo(note, err=True)
    for conflict in merged.conflicts:
        click.echo(f"conflict: {conflict}", err=True)
    click.echo(
        f"{len(merged.plan.cells)} cells in {out}, {len(rows)} results, "
        f"{len(merged.conflicts)} conflicts"
    )
    if merged.conflicts:
        sys.exit(1)
