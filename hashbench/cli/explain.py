"""``hashbench explain``: which protocol and measure give a printed number."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hashbench.cli.archive import folder_option
from hashbench.core.units import format_count

if TYPE_CHECKING:
    from hashbench.analysis.explain import Match


@click.command("explain")
@click.argument("number")
@click.argument("folders", nargs=-1, metavar="[OUT]...", type=click.Path(path_type=Path))
@click.option("-m", "--method", required=True, help="The method: edsh, edsh[gamma=1].")
@click.option("-d", "--dataset", required=True, help="The dataset.")
@click.option("-b", "--bits", required=True, type=click.IntRange(min=1), help="The code length.")
@click.option("--task", help="As in image->text; default: any.")
@click.option("--tolerance", type=click.FloatRange(min=0), help="Default: of the last digit.")
@click.option("--top", type=click.IntRange(min=1), default=10, show_default=True, help="Matches.")
@folder_option
def explain_command(
    number: str,
    folders: tuple[Path, ...],
    method: str,
    dataset: str,
    bits: int,
    task: str | None,
    tolerance: float | None,
    top: int,
    folder: Path | None,
) -> None:
    """Say which measure, database, codes and seeds give a printed number.

    NUMBER is as printed, 0.4777; or one per task, as in 0.4777,0.6501, which leaves fewer matches
    by chance. Codes are taken from OUT (default: all folders in hashbench-results), and scores from
    the archive. The nearest match comes first.

    Exit codes: 0 there is a match, 1 there is none, 2 bad input.
    """
    from hashbench.api.explain import explain

    found = explain(
        [each for each in number.split(",") if each.strip()], method, dataset, bits, task=task,
        folders=folders, archive=folder, tolerance=tolerance,
    )  # fmt: skip
    for line in found.printed_in:
        click.echo(line)
    shown = " and ".join(map(str, found.printed))
    within = f"{shown} within {found.tolerance:g}"
    if not found.matches:
        click.echo(f"none of {format_count(found.tried, 'reading')} gives {within}; nearest:")
        for match in found.nearest:
            click.echo(_line(match))
        sys.exit(1)
    count = sum(len(match.readings) for match in found.matches)
    click.echo(
        f"{count} of {format_count(found.tried, 'reading')} give {within}; about "
        f"{found.by_chance:.1f} different ones would by chance:"
    )
    for match in found.matches[:top]:
        click.echo(_line(match))
    if len(found.matches) > top:
        click.echo(f"and {len(found.matches) - top} more (--top)")


def _line(match: Match) -> str:
    first, *others = match.readings
    values = ", ".join(
        f"{value:.6f} {task}" for value, task in zip(match.values, match.tasks, strict=True)
    )
    names = sorted({each.measure for each in others} - {first.measure})
    also = f"; the same by {', '.join(names[:3])}{' ...' if names[3:] else ''}" if names else ""
    return f"  {values}: {first}, {first.method} on {first.dataset} in {first.source}{also}"
