"""``hashbench verify``: does a folder of results hold what was computed?"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from hashbench.base.errors import HashbenchError
from hashbench.base.units import format_count
from hashbench.commands import plugin_option, with_study
from hashbench.studies.store import Store


@click.command("verify")
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--rerun",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Fit N cells again, a fixed sample, and compare their codes bit for bit.",
)
@click.option("--quiet", is_flag=True, help="No progress.")
@plugin_option
def verify_command(out: Path, rerun: int, quiet: bool, plugins: tuple[str, ...]) -> None:
    """Check every checksum in OUT and derive every number from codes and labels again.

    What does not verify is set aside and named, and the next run computes it again; tables are
    put right at once. A cell whose codes come out otherwise when it is fitted again is set aside
    only where versions, threads and machine are the same.

    Exit codes: 0 everything verifies, 1 something does not, 2 bad input.
    """
    from hashbench.results.verifying import Verification
    from hashbench.studies.progress import make_progress

    if not (out / "plan.json").is_file() and not (out / "cells").is_dir():
        raise HashbenchError(f"{out}: found no results; allowed: a folder made by hashbench run")
    registry = with_study(out, plugins)
    with Store(out) as store:
        look = Verification(store, registry, lambda line: click.echo(line, err=True))
        results = look.files()
        if results is not None:
            look.numbers(results, make_progress(quiet).scoring)
        click.echo(_said(look.checked, look.wrong))
        if rerun and results is not None:
            look.wrong += _rerun(out, plugins, rerun, quiet, results, store)
    if look.wrong:
        again = f"hashbench run {out / 'study.toml'} -o {out}"
        click.echo(f"hashbench: not everything verifies; compute it again with: {again}", err=True)
        sys.exit(1)


def _said(checked: dict[str, int], wrong: int) -> str:
    counts = ", ".join(format_count(n, kind) for kind, n in checked.items() if n)
    return f"checked {counts}: {wrong or 'nothing'} wrong"


def _rerun(
    out: Path, plugins: tuple[str, ...], count: int, quiet: bool, results: object, store: Store
) -> int:
    """Fit cells again; return how many codes differ without a reason."""
    from hashbench.api.asking import KEYS, resolve
    from hashbench.api.computing import prepare
    from hashbench.api.rerunning import Rerun, rerun
    from hashbench.studies.progress import make_progress

    flags = {**dict.fromkeys(KEYS), "out": str(out)}
    asked = resolve(str(out / "study.toml"), plugins, flags)
    job = prepare(asked, lambda line: click.echo(line, err=True))
    wrong: list[Rerun] = []
    counts = {"same": 0, "compared": 0}

    def tell(each: Rerun) -> None:
        click.echo(str(each), err=not each.same)
        counts["same"] += each.same
        counts["compared"] += not each.failure
        if not each.same and not each.failure and not each.differences:
            wrong.append(each)

    rerun(job, results, store, count, make_progress(quiet), tell)  # type: ignore[arg-type]
    for each in wrong:
        place = store.set_aside(each.stored.folder)
        click.echo(f"set aside {each.stored.cell.id} in {place}: {each}", err=True)
    compared = format_count(counts["compared"], "cell")
    click.echo(f"fitted again {compared}: {counts['same']} with the same codes")
    return len(wrong)
