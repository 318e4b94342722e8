"""``hashbench rank``: a method among all methods of the archive."""

from __future__ import annotations

import time
from pathlib import Path

import click

from hashbench.cli.archive import folder_option
from hashbench.core.units import format_duration


@click.command("rank")
@click.argument("method", metavar="FILE.py|NAME|CODES")
@click.option(
    "-d",
    "--dataset",
    "datasets",
    multiple=True,
    help="A dataset of the archive; default: all that are inside the package.",
)
@click.option("-b", "--bits", default="16,32", show_default=True, help="Code lengths.")
@click.option("--tuned", is_flag=True, help="Tune it with 16 points; compare with tuned methods.")
@click.option("--measure", default="AP", show_default=True, help="A measure of the archive.")
@click.option("-o", "--out", help="Folder of the results; default: hashbench-results/rank-METHOD.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Cells at once; default: cores.")
@click.option("--all", "everything", is_flag=True, help="Print every method.")
@click.option("--quiet", is_flag=True, help="Print no progress.")
@folder_option
def rank_command(
    method: str,
    datasets: tuple[str, ...],
    bits: str,
    tuned: bool,
    measure: str,
    out: str | None,
    jobs: int | None,
    everything: bool,
    quiet: bool,
    folder: Path | None,
) -> None:
    """Rank a method among all methods of the archive; only this method is trained.

    It is trained on the archive's splits, so that all scores are of the same queries. Give a Python
    file with one method, the name of a method with parameters, such as "edsh[gamma=1]", or codes
    that were computed elsewhere on splits of `hashbench data export`: a folder with files
    {dataset}-{bits}-{seed}.npz.
    """
    from hashbench.api.rank import rank
    from hashbench.execution.study import read_study

    started = time.perf_counter()
    found = rank(
        method,
        list(datasets),
        read_study({"bits": bits}, "the flags").bits,
        tuned=tuned,
        measure=measure,
        archive=folder,
        out=out,
        jobs=jobs,
        quiet=quiet,
        tell=lambda line: click.echo(line, err=True),
    )
    click.echo(found.text(everything))
    click.echo(f"took {format_duration(time.perf_counter() - started)}", err=True)
