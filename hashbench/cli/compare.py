"""``hashbench compare``: two methods in tables and as a figure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from hashbench.cli import plugin_option, with_study
from hashbench.cli.report import select_results


@click.command("compare")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("--on", "out", required=True, type=click.Path(path_type=Path), help="OUT of a run.")
@click.option("--measure", help="The measure to compare by; default: the study's first.")
@click.option("-b", "--bits", help="Code lengths: 16,32.")
@click.option("--task", help="image->text or text->image.")
@click.option("--database", help="unseen, seen or all; default: unseen where there is one.")
@click.option("--codes", help="encoded or learned.")
@click.option("-d", "--datasets", help="Some datasets only: names or patterns.")
@click.option("--width", default="column", show_default=True, help="column or page, of a paper.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@plugin_option
def compare_command(
    first: str, second: str, out: Path, as_json: bool, plugins: tuple[str, ...], **flags: Any
) -> None:
    """Compare methods A and B on the results in OUT.

    For every dataset, code length, task, database and kind of codes: the mean difference A - B and,
    from three random splits on, its 95 % interval and p-value, by the studentized range over all
    methods of the study. On one fixed split with three or more seeds, initialisations and
    queries are resampled. A figure and a table go to OUT/report.
    """
    from hashbench.analysis.compare import compare, find_method
    from hashbench.analysis.results import Results
    from hashbench.render.comparison import comparison_tables, forest
    from hashbench.render.style import Style, check_width
    from hashbench.render.writer import (
        FOLDER,
        FORMATS,
        RenderedExhibit,
        slug,
        write_data,
        write_figure,
    )

    check_width(flags["width"])
    full_results = Results(out, with_study(out, plugins))
    style = Style.of(full_results, flags["width"])
    results = select_results(full_results, {**flags, "methods": None}).shown()
    pair = find_method(results, first), find_method(results, second)
    table = compare(results, *pair, results.main_measure)
    title = f"compare {pair[0]} {pair[1]}"
    picture = RenderedExhibit(slug(title), forest(table, *pair, style))
    written = write_figure(picture, out / FOLDER, style, FORMATS)
    write_data(title, table, out / FOLDER, FORMATS)
    if as_json:
        known = table.astype(object).where(table.notna(), None)
        click.echo(json.dumps(known.to_dict("records"), indent=2))
        return
    *tables, winner = comparison_tables(table, *pair)
    notes = [*style.notes(pair), f"figure: {written.files['pdf']}"]
    click.echo("\n".join([*tables, *notes, winner]))
