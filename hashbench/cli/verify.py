"""``hashbench verify``: check the files of a folder of results, and compute its numbers again."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hashbench.cli import plugin_option, with_study
from hashbench.core.errors import HashbenchError
from hashbench.core.units import format_count
from hashbench.execution.external import ORIGIN as EXTERNAL
from hashbench.execution.plan import check_schema
from hashbench.execution.store import Store
from hashbench.plugins.selection import bare_name
from hashbench.plugins.stored_facts import ORIGIN as RECORDED

if TYPE_CHECKING:
    from hashbench.analysis.results import Results


@click.command("verify")
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--rerun",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Fit N cells again, a fixed sample, and compare their codes bit for bit.",
)
@click.option("--quiet", is_flag=True, help="Print no progress.")
@plugin_option
def verify_command(out: Path, rerun: int, quiet: bool, plugins: tuple[str, ...]) -> None:
    """Check every checksum in OUT and derive every number from codes and labels again.

    Files that do not verify are named and moved to OUT/set-aside, and the next run computes them
    again; wrong tables are written again. If OUT is read-only, nothing is changed. Plugins that
    OUT names are not imported: cells of your own methods are fitted again only with --plugin. A
    cell whose codes differ when it is fitted again is moved only if versions, threads, machine and
    BLAS kernels are the same.

    Exit codes: 0 everything verifies, 1 something does not or no cell could be fitted again, 2 bad
    input.
    """
    from hashbench.analysis.verification import Verification
    from hashbench.execution.progress import make_progress

    if not (out / "plan.json").is_file() and not (out / "cells").is_dir():
        raise HashbenchError(f"{out}: found no results; allowed: a folder made by hashbench run")
    check_schema(out)
    registry = with_study(out, plugins)
    read_only = not os.access(out, os.W_OK)
    if read_only:
        click.echo(f"{out} is read-only: everything is checked and nothing is changed", err=True)
    store = Store(out)
    with contextlib.nullcontext() if read_only else store:
        check = Verification(store, registry, lambda line: click.echo(line, err=True), read_only)
        results = check.files()
        if results is not None:
            check.numbers(results, make_progress(quiet))
        counts = ", ".join(format_count(n, kind) for kind, n in check.checked.items() if n)
        click.echo(f"checked {counts}: {check.wrong or 'nothing'} wrong")
        fitted = True
        if rerun and results is not None:
            with tempfile.TemporaryDirectory(prefix="hashbench-verify-") as folder:
                if read_only:
                    store.work, store.prepared = Path(folder) / "work", Path(folder) / "prepared"
                wrong, fitted = _rerun(plugins, rerun, quiet, results, store, read_only)
                check.wrong += wrong
    if check.wrong:
        again = f"hashbench run {out / 'study.toml'} -o {out}"
        click.echo(f"hashbench: not everything verifies; compute it again with: {again}", err=True)
    if not fitted:
        click.echo("hashbench: no cell could be fitted again and compared", err=True)
    sys.exit(1 if check.wrong or not fitted else 0)


def _rerun(
    plugins: tuple[str, ...],
    count: int,
    quiet: bool,
    results: Results,
    store: Store,
    read_only: bool,
) -> tuple[int, bool]:
    """Fit cells again; return how many codes differ without a reason, and whether any was compared.

    Of the study's methods those are left out whose plugins are not loaded.
    """
    from hashbench.api.job import prepare_job
    from hashbench.api.reproduce import Rerun, rerun
    from hashbench.api.study_args import KEYS, resolve
    from hashbench.execution.progress import make_progress

    flags = {**dict.fromkeys(KEYS), "out": str(store.path)}
    study = resolve(str(store.path / "study.toml"), (), flags)
    known = results.registry.methods
    loaded = {name for name, plugin in known.items() if plugin.origin not in (RECORDED, EXTERNAL)}
    methods = tuple(text for text in study.methods if bare_name(text) in loaded)
    if not methods:
        click.echo("no method of the study is loaded (--plugin FILE)", err=True)
        return 0, False
    study = replace(study, methods=methods, plugins=plugins)
    job = prepare_job(study, lambda line: click.echo(line, err=True), replace=True)
    wrong: list[Rerun] = []
    counts = {"same": 0, "compared": 0}

    def report(each: Rerun) -> None:
        click.echo(str(each), err=not each.same)
        counts["same"] += each.same
        counts["compared"] += not each.failure
        if not each.same and not each.failure and not each.differences:
            wrong.append(each)

    rerun(job, results, store, count, make_progress(quiet), report)
    for each in [] if read_only else wrong:
        place = store.set_aside(each.stored.folder)
        click.echo(f"set aside {each.stored.cell.id} in {place}: {each}", err=True)
    compared = format_count(counts["compared"], "cell")
    click.echo(f"fitted again {compared}: {counts['same']} with the same codes")
    return len(wrong), counts["compared"] > 0
