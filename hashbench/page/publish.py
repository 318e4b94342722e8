"""What a person looks at after a run: every report that has something to show, and the page."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from hashbench.base.errors import HashbenchError
from hashbench.page import write_page
from hashbench.plugins.registry import Registry
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


def publish(out: Path, registry: Registry) -> Path:
    """Write the page with every built-in report, and return its path."""
    results = Results(out, registry)
    look = Look.of(results)
    reports = [plugin.cls() for plugin in registry.reports.values()]
    rendered = render_all(
        reports, results, look, out / FOLDER, PAGE_FORMATS, lambda line, wrong: None
    )
    return write_page(results, look, rendered)
