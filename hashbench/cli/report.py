"""``hashbench report``: tables and figures again, from stored codes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from hashbench.cli import completion, plugin_option, with_study
from hashbench.core.errors import HashbenchError
from hashbench.plugins.registry import Registry
from hashbench.plugins.selection import select
from hashbench.render.report import Report

#: Flags that leave something out: the page is written of the whole study only.
PARTS = ("folder", "measure", "bits", "task", "database", "codes", "methods", "datasets")


@click.command("report")
@click.argument("out", type=click.Path(path_type=Path))
@click.argument(
    "names", required=False, default="all", shell_complete=completion.PluginSelection("reports")
)
@click.option("-o", "--folder", type=click.Path(path_type=Path), help="Default: OUT/report.")
@click.option("--format", "formats", help="pdf,svg,png,csv,md,tex; default: all of them.")
@click.option("--width", default="page", show_default=True, help="column or page, of a paper.")
@click.option(
    "--measure",
    shell_complete=completion.measures,
    help="Measures, instead of the study's: AP,P@100.",
)
@click.option("-b", "--bits", help="Code lengths: 16,32. Curves show 16 unless others are named.")
@click.option("--task", help="image->text or text->image.")
@click.option("--database", help="unseen, seen or all; default: unseen where there is one.")
@click.option("--codes", help="encoded, or learned: encoded where a method has none.")
@click.option("-m", "--methods", help="Some methods only: names or patterns.")
@click.option("--highlight", help="Methods in colour in every figure: edsh,mine.")
@click.option("-d", "--datasets", help="Some datasets only: names or patterns.")
@click.option("--title", default="", help="A heading of your own, in captions and on figures.")
@click.option(
    "--site",
    type=click.Path(path_type=Path),
    help="Copy the page into this folder, for a static host, with an index of its studies.",
)
@plugin_option
def report_command(out: Path, names: str, plugins: tuple[str, ...], **flags: Any) -> None:
    """Write tables and figures of the results in OUT, and of a whole study the page.

    NAMES selects reports, as in `map-table[spread=false],pr-curve`; default: all of them.
    """
    from hashbench.analysis.results import Results
    from hashbench.core.parallel import run_in_background
    from hashbench.plugins.protocol import EITHER, LEARNED
    from hashbench.render.style import Style, check_width
    from hashbench.render.writer import FOLDER, FORMATS, check_formats
    from hashbench.site.build import write_index, write_scripts
    from hashbench.site.exhibits import render_all
    from hashbench.site.index import write_site
    from hashbench.site.preview_card import write_card

    whole_study = names == "all" and all(flags[name] is None for name in PARTS)
    if flags["site"] and not whole_study:
        raise HashbenchError("--site: found a selection; allowed: the whole study")
    formats = _split_names(flags["formats"]) or list(FORMATS)
    check_formats(formats)
    check_width(flags["width"])
    registry = with_study(out, plugins)
    reports = chosen_reports(names, registry)
    full_results = Results(out, registry)
    for cell in full_results.cells:
        if cell.id in full_results.damaged:
            reason = full_results.damaged[cell.id]
            click.echo(f"damaged, left out: {cell}: {reason}; run the study again", err=True)
    if flags["codes"] == LEARNED:  # all methods stand in every table, as papers compare
        flags["codes"] = EITHER
    results = select_results(full_results, flags)
    highlight = _split_names(flags["highlight"])
    style = Style.of(full_results, flags["width"], flags["title"]).part(results, highlight)
    folder = flags["folder"] or out / FOLDER
    has_page = whole_study and folder == out / FOLDER
    if has_page:
        write_card(full_results, style, folder)
    scripts = run_in_background(lambda: write_scripts(full_results, style)) if has_page else None
    rendered = render_all(
        reports,
        results,
        style,
        folder,
        formats,
        lambda line, wrong: click.echo(line, err=wrong),
        lambda drafts: scripts and write_index(full_results, style, drafts, scripts()),
    )
    if scripts:
        page = write_index(full_results, style, rendered, scripts())
        click.echo(f"page: {page}")
        if flags["site"]:
            click.echo(f"site: {write_site(full_results, flags['site'])}")
    click.echo(f"in {folder}")
    if len(rendered) < len(reports):
        sys.exit(1)


def chosen_reports(text: str, registry: Registry) -> list[Report]:
    """Return the reports that a selection names, with the parameters it sets."""
    known = {name: list(plugin.cls.defaults()) for name, plugin in registry.reports.items()}
    return [
        registry.reports[choice.name].cls(**choice.settings)
        for choice in select(text, known, "report")
    ]


def select_results(full_results: Any, flags: dict[str, Any]) -> Any:
    """Return the part of the results that the flags select."""
    from hashbench.measures import parse_many

    bits = _split_names(flags["bits"])
    if not all(each.isdecimal() for each in bits):
        raise HashbenchError(f"bits: found {flags['bits']!r}; allowed: whole numbers, as 16,32")
    seeds = _split_names(flags.get("seeds"))
    if not all(each.isdecimal() for each in seeds):
        raise HashbenchError(f"seeds: found {flags['seeds']!r}; allowed: whole numbers, as 0,1")
    return full_results.select(
        seeds=[int(each) for each in seeds],
        measures=[str(measure) for measure in parse_many(flags["measure"])]
        if flags["measure"]
        else [],
        bits=[int(each) for each in bits],
        tasks=_split_names(flags["task"]),
        databases=_split_names(flags["database"]),
        codes=_split_names(flags["codes"]),
        datasets=_split_names(flags["datasets"]),
        methods=_split_names(flags["methods"]),
    )


def _split_names(text: str | None) -> list[str]:
    from hashbench.plugins.selection import split_items

    return split_items(text) if text else []
