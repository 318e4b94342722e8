"""``hashbench export``: codes of a study as files for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hashbench.cli import completion, plugin_option, with_study
from hashbench.core.errors import HashbenchError

#: What a path may name, so that every cell gets a file of its own.
FIELDS = ("method", "dataset", "bits", "seed")


@click.group("export")
def export_command() -> None:
    """Write what a study has computed as files for other programs."""


@export_command.command("codes")
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "-m",
    "--methods",
    shell_complete=completion.PluginSelection("methods"),
    help="Names or patterns.",
)
@click.option("-d", "--datasets", help="Names or patterns.")
@click.option("-b", "--bits", help="Code lengths: 16,32.")
@click.option("-s", "--seeds", help="Which seeds: 0,1.")
@click.option(
    "-o",
    "--output",
    default="codes.npz",
    show_default=True,
    metavar="FILE.npz",
    help="Several cells: a path with {method}, {dataset}, {bits}, {seed}.",
)
@plugin_option
def codes(out: Path, output: str, plugins: tuple[str, ...], **flags: Any) -> None:
    """Write the codes of cells in OUT: one npz file per cell.

    A file has query_VIEW and database_VIEW (rows x bits, True and False), learned codes of the
    training rows where there are any, query_labels and database_labels, the rows query, database
    and train, seen (is a row of the database a training row?) and split. `hashbench evaluate`
    scores it, and `run -m NAME=FILE` takes it as an external method.
    """
    from hashbench.analysis.exported_codes import arrays_of, only_cell
    from hashbench.analysis.results import Results
    from hashbench.cli.report import select_results
    from hashbench.core.io import save_arrays

    if not output.endswith(".npz"):
        raise HashbenchError(f"--output: found {output!r}; allowed: names that end in .npz")
    chosen = {**dict.fromkeys(("measure", "task", "database", "codes")), **flags}
    results = select_results(Results(out, with_study(out, plugins)), chosen)
    several = any(f"{{{name}}}" in output for name in FIELDS)
    cells = results.done() if several else [only_cell(results)]
    paths: dict[Path, str] = {}
    for stored in cells:
        path = _path(output, stored.cell)
        if path in paths:
            raise HashbenchError(
                f"--output {output!r}: found one name for {paths[path]} and {stored.cell}; "
                f"allowed: paths with {', '.join(f'{{{name}}}' for name in FIELDS)}"
            )
        paths[path] = str(stored.cell)
    for path, stored in zip(paths, cells, strict=True):
        arrays = arrays_of(results, stored)
        path.parent.mkdir(parents=True, exist_ok=True)
        save_arrays(path, arrays)
        click.echo(f"{path}: {stored.cell}")


def _path(pattern: str, cell: Any) -> Path:
    """Return the file of a cell."""
    values = {"method": cell.label, "dataset": cell.dataset, "bits": cell.bits, "seed": cell.seed}
    try:
        return Path(pattern.format_map(values))
    except (KeyError, ValueError, IndexError, AttributeError) as error:
        fields = ", ".join(f"{{{name}}}" for name in FIELDS)
        raise HashbenchError(f"--output {pattern!r}: found {error}; allowed: {fields}") from error
