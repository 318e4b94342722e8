"""Write all reports of a study, and the page that shows them.

The page is written as soon as its numbers and tables are there; figures follow.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hashbench.analysis.results import Results
from hashbench.core.errors import HashbenchError
from hashbench.core.parallel import parallel_map_processes, run_in_background
from hashbench.render.report import Picture, Report
from hashbench.render.style import Style
from hashbench.render.writer import (
    FOLDER,
    Rendered,
    RenderedExhibit,
    render_tables,
    write_figure,
    write_notes,
)
from hashbench.site.build import write_index, write_scripts
from hashbench.site.preview_card import write_card

#: What the page shows and offers; `hashbench report` writes pdf and png too.
PAGE_FORMATS = ("svg", "csv", "md", "tex")


def render_all(
    reports: Iterable[Report],
    results: Results,
    style: Style,
    folder: Path,
    formats: Collection[str],
    log: Callable[[str, bool], None],
    prepared: Callable[[list[Rendered]], object] = lambda rendered: None,
) -> list[Rendered]:
    """Write reports; one that fails does not stop the others.

    Tables and numbers come first; figures, which take most of the time, are drawn on all cores.

    Parameters
    ----------
    log : called with one line about each report, and whether it is an error
    prepared : called with the reports when only their figures are missing
    """
    drafts: list[Rendered] = []
    for report in reports:
        try:
            drafts.append(render_tables(report, results, style, folder, formats))
        except HashbenchError as error:
            log(f"{report.name}: {error}", True)
    if any(each.exhibits for each in drafts):
        write_notes(style, folder, formats)
    prepared(drafts)
    done = []
    for draft, exhibits, wrong in _drawn(drafts, folder, style, formats):
        if wrong:
            log(f"{draft.report.name}: {wrong}", True)
            continue
        done.append(replace(draft, exhibits=exhibits))
        names = ", ".join(shown.name for shown in exhibits)
        outcome = f"nothing to show: {draft.nothing}" if draft.nothing else names
        log(f"{draft.report.name}: {outcome}", False)
    return done


def _drawn(
    drafts: Sequence[Rendered], folder: Path, style: Style, formats: Collection[str]
) -> Iterator[tuple[Rendered, list[RenderedExhibit], str]]:
    """Yield each report with its figures drawn, or with what is wrong with one."""

    def made(shown: RenderedExhibit) -> tuple[dict[str, Path], Any, str]:
        try:
            drawn = write_figure(shown, folder, style, formats)
        except HashbenchError as error:
            return {}, None, str(error)
        return drawn.files, drawn.size, ""

    shown = [each for draft in drafts for each in draft.exhibits]
    pictures = [each for each in shown if isinstance(each.exhibit, Picture)]
    outcomes = parallel_map_processes(made, pictures)
    for draft in drafts:
        exhibits, wrong = [], ""
        for each in draft.exhibits:
            if isinstance(each.exhibit, Picture):
                files, size, error = next(outcomes)
                wrong = wrong or error
                each = replace(each, files=files, size=size)
            exhibits.append(each)
        yield draft, exhibits, wrong


def publish(results: Results, written: Callable[[Path], object] = lambda page: None) -> Path:
    """Write the page with every report; return its path.

    ``written`` is called with the path as soon as the page can be opened, before figures are drawn.
    """
    style = Style.of(results)
    write_card(results, style, results.path / FOLDER)
    scripts = run_in_background(lambda: write_scripts(results, style))
    rendered = render_all(
        [plugin.cls() for plugin in results.registry.reports.values()],
        results,
        style,
        results.path / FOLDER,
        PAGE_FORMATS,
        lambda line, wrong: None,
        lambda drafts: written(write_index(results, style, drafts, scripts())),
    )
    return write_index(results, style, rendered, scripts())
