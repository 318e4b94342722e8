"""What a person looks at after a run: every report that has something to show, and the page."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from hashbench.base.errors import HashbenchError
from hashbench.page.build import INDEX, write_page
from hashbench.page.stamp import holds, leave, remove, stamp_of
from hashbench.plugins.report import Report
from hashbench.printing.style import Look
from hashbench.printing.write import FOLDER, Rendered, render
from hashbench.results.results import Results

#: What the page shows and offers; `hashbench report` writes pdf and png too.
PAGE_FORMATS = ("svg", "csv", "md", "tex")


def render_all(
    reports: Iterable[Report],
    results: Results,
    look: Look,
    folder: Path,
    formats: Collection[str],
    say: Callable[[str, bool], None],
) -> list[Rendered]:
    """Write reports, one failing without harm to the others.

    ``say`` is told a line about each, and whether something is wrong.
    """
    done = []
    for report in reports:
        try:
            rendered = render(report, results, look, folder, formats)
        except HashbenchError as error:
            say(f"{report.name}: {error}", True)
            continue
        done.append(rendered)
        names = ", ".join(shown.name for shown in rendered.exhibits)
        say(
            f"{report.name}: {rendered.nothing and 'nothing to show: '}{rendered.nothing or names}",
            False,
        )
    return done


def publish(results: Results) -> Path:
    """Write the page with every report, unless they show all this already; return its path."""
    folder = results.path / FOLDER
    stamp = stamp_of(results)
    if holds(folder, stamp):
        return folder / INDEX
    remove(folder)
    look = Look.of(results)
    reports = [plugin.cls() for plugin in results.registry.reports.values()]
    rendered = render_all(reports, results, look, folder, PAGE_FORMATS, lambda line, wrong: None)
    page = write_page(results, look, rendered)
    if len(rendered) == len(reports):  # what has failed is tried again
        leave(folder, stamp, written(rendered, page))
    return page


def written(rendered: Iterable[Rendered], page: Path) -> list[Path]:
    """Return the files of reports and page."""
    files = [page]
    for each in rendered:
        files += [path for shown in each.exhibits for path in shown.files.values()]
        files += [each.data] if each.data is not None else []
    return files
