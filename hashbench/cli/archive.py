"""``hashbench archive``: stored results of the methods that ship with hashbench."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from hashbench.cli import find_plugins
from hashbench.core.units import format_count, format_size

folder_option = click.option(
    "--archive",
    "folder",
    type=click.Path(path_type=Path),
    help="A folder that `archive pack` wrote; default: the archive of the package.",
)


@click.group("archive")
def archive_command() -> None:
    """Show, check and write stored results of the methods that ship with hashbench."""


@archive_command.command("show")
@folder_option
def show(folder: Path | None) -> None:
    """Print how many splits of each method, dataset and code length the archive has."""
    from hashbench.analysis.archive import coverage, read_about, read_archive
    from hashbench.render.terminal import listing

    about, table = read_about(folder), read_archive(folder)
    counts = coverage(table)
    columns: list[Any] = counts.columns.tolist()
    datasets = list(dict.fromkeys(dataset for dataset, _ in columns))

    def joined(values: Sequence[object]) -> list[str]:
        pairs = list(zip(columns, values, strict=True))
        return ["/".join(str(v) for (name, _), v in pairs if name == each) for each in datasets]

    rows = [["bits", *joined([bits for _, bits in columns])]]
    methods = zip(counts.index, counts.to_numpy().tolist(), strict=True)
    rows += [[str(method), *joined(splits)] for method, splits in methods]
    names = [dataset.partition("[")[0] for dataset in datasets]
    click.echo(listing(["splits", *names], rows, wrapped=0))
    cells = table["cell"].nunique()
    click.echo(
        f"edition {about.edition}, protocol version {about.version}: "
        f"{format_count(cells, 'cell')}, {format_count(len(table), 'number')}; "
        f"{format_count(len(about.gaps), 'cell')} without scores"
    )


@archive_command.command("check")
@folder_option
@click.option(
    "--rerun",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Fit N random cells of embedded datasets again, and compare their scores.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Of the random sample.")
@click.option("--quiet", is_flag=True, help="Print no progress.")
def check(folder: Path | None, rerun: int, seed: int, quiet: bool) -> None:
    """Check the archive: its checksum, which rows are stale, and some cells by fitting them again.

    Rows are stale if their method, or mathematics that it uses, has changed since; `hashbench run
    archive -o OUT` computes exactly these again where OUT has the cells of the archive. A cell that
    is fitted again must have its scores up to the measured effect of rounding on its method.

    Exit codes: 0 all is well (stale rows are only named), 1 a score differs, 2 the archive is
    damaged.
    """
    from hashbench.analysis.archive import labels, read_archive, stale
    from hashbench.execution.progress import make_progress

    registry = find_plugins(())
    table = read_archive(folder)
    old = stale(table, registry)
    click.echo(f"{format_count(len(table), 'row')}: the checksum is right")
    if old.any():
        names = ", ".join(sorted(set(labels(table[old]))))
        click.echo(f"stale: {format_count(table[old]['cell'].nunique(), 'cell')} of {names}")
    else:
        click.echo("no row is stale")
    if not rerun:
        return
    from hashbench.api.archive_sample import rerun_sample

    compared = rerun_sample(table[~old], registry, rerun, seed, make_progress(quiet))
    for each in compared:
        click.echo(str(each), err=not each.agrees)
    wrong = sum(not each.agrees for each in compared)
    click.echo(f"fitted again {format_count(len(compared), 'cell')}: {wrong or 'none'} differ")
    sys.exit(1 if wrong or not compared else 0)


@archive_command.command("review")
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--against",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A folder of results whose codes must not be the same; may be repeated.",
)
@folder_option
def review(out: Path, against: tuple[Path, ...], folder: Path | None) -> None:
    """Check results that are to be added to the archive, such as those of `hashbench rank`.

    Every cell must be done and have the split of the archive. Codes that are a function of the
    labels were made from them, and equal codes of two methods are one method. `hashbench verify OUT
    --rerun 1` checks the scores, and fits a cell again.

    Exit codes: 0 nothing is wrong, 1 something is, 2 bad input.
    """
    from hashbench.analysis.archive import check_version, read_archive
    from hashbench.analysis.results import Results
    from hashbench.analysis.submission import badge
    from hashbench.analysis.submission import review as find
    from hashbench.cli import with_study

    registry = with_study(out, ())
    results = Results(out, registry)
    table = read_archive(folder)
    check_version(table)
    found = find(results, table, [Results(each, registry) for each in against])
    for each in found:
        click.echo(str(each), err=True)
    badges = sorted({badge(cell.source) for cell in results.cells})
    click.echo(
        f"{format_count(len(results.cells), 'cell')}, {' and '.join(badges)}: "
        f"{len(found) or 'nothing'} wrong"
    )
    sys.exit(1 if found else 0)


@archive_command.command("pack")
@click.argument(
    "folders", nargs=-1, required=True, metavar="OUT...", type=click.Path(path_type=Path)
)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="A folder.")
@click.option("--edition", required=True, help="Its name, such as 2026.1.")
@click.option("--codes/--no-codes", default=True, help="Also the codes of embedded datasets.")
@click.option("--quiet", is_flag=True, help="Print no progress.")
def pack(folders: tuple[Path, ...], output: Path, edition: str, codes: bool, quiet: bool) -> None:
    """Write an archive of the results in OUT...: the table of scores, and codes.

    Codes are written for datasets that are inside the package, one file per dataset; others may not
    be passed on. Where folders disagree about a cell, the one with the present source of the method
    is taken, or else the first, and the conflict is named.
    """
    from hashbench.analysis.archive import TABLE
    from hashbench.api import archive
    from hashbench.execution.progress import make_progress

    about = archive.pack(
        folders,
        output,
        edition,
        make_progress(quiet),
        lambda line: click.echo(line, err=True),
        codes,
    )
    size = format_size((output / TABLE).stat().st_size)
    click.echo(f"{output / TABLE}: {format_count(about.rows, 'row')}, {size}")
    for dataset, file in about.codes.items():
        click.echo(
            f"{output / file.file}: codes of {format_count(file.cells, 'cell')} on {dataset}, "
            f"{format_size(file.size)}"
        )
    if about.gaps:
        click.echo(f"{format_count(len(about.gaps), 'cell')} without scores: see about.json")


@archive_command.command("site")
@click.argument("site", metavar="DIR", type=click.Path(path_type=Path))
@folder_option
def site(site: Path, folder: Path | None) -> None:
    """Write the leaderboard of the archive into DIR/EDITION: a page, and its scores as CSV.

    An edition is frozen: where DIR has it with other scores, nothing is written.
    """
    from hashbench.site.leaderboard import write_leaderboard

    click.echo(f"leaderboard: {write_leaderboard(site, find_plugins(()), folder)}")


@archive_command.command("pull")
@click.argument("source", metavar="ADDRESS-OR-FILE")
@click.option("-o", "--out", type=click.Path(path_type=Path), help="The new folder of results.")
@click.option("--sha256", help="Checksum of the file.")
def pull(source: str, out: Path | None, sha256: str | None) -> None:
    """Write the folder of results in a file of codes that `archive pack` wrote.

    Any measure can be computed of it without training, as in `hashbench report OUT --measure
    "nDCG@50"`; other commands take it, too. Every checksum is verified.
    """
    from hashbench.api import archive
    from hashbench.execution.plan import Plan

    folder = archive.pull(source, out, sha256)
    count = format_count(len(Plan.read(folder).cells), "cell")
    click.echo(f"{folder}: codes of {count}")
