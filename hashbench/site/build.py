"""Writing the page: a template, its style and script, the data, and plotly's own script.

Everything lies in one folder and nothing is loaded from elsewhere, so that the page works from a
``file://`` address without a network. Data come as scripts because a browser refuses to fetch
files from there. Names and texts of the study never become markup: the template escapes them and
the scripts write them as text.

What a person looks at first is small and comes first: the numbers of overview and ranking, and one
script that shows them. Another with everything else follows the first screen, and so does what is
folded; plotly's script and the curves are run when a chart comes into sight.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import hashbench
from hashbench.site.about import About
from hashbench.site.preview_card import CARD
from hashbench.site.bibtex import bibtex, own_bibtex
from hashbench.site.payload import Index, curves, payload, seeds
from hashbench.site.templates import template, write_script, write_text
from hashbench.site.search import write_search
from hashbench.plugins.method import UP_TO_RANK
from hashbench.render.report import SECTIONS, Picture, Slices, Table
from hashbench.plugins.selection import bare_name
from hashbench.render.style import DAGGERS, Style
from hashbench.render.writer import FOLDER, Rendered, RenderedExhibit
from hashbench.analysis.results import Results

INDEX = "index.html"

#: The scripts of the page and what they are made of, in its order: what the first screen needs, and
#: what follows it. A browser takes as long to ask for a script as to read a small one.
SCRIPTS = {
    "first.js": ("view.js", "tables.js", "overview.js", "ranking.js"),
    "later.js": (
        "exhibits.js",
        "charts.js",
        "codes.js",
        "search.js",
        "statistics.js",
        "compare.js",
        "sharing.js",
        "printing.js",
    ),
}

#: What methods can be filtered by, and how that is called.
FILTERS = {"labels": "Labels", "kind": "Kind", "fidelity": "Fidelity", "settings": "Settings"}

#: Of an inch on a screen, by the definition of CSS.
PIXELS = 96

#: Rows that a section shows unfolded, and how many of them a picture takes.
SHORT, PICTURE = 60, 12


def write_page(results: Results, style: Style, rendered: Sequence[Rendered]) -> Path:
    """Write OUT/report/index.html with what it needs beside it, and return its path."""
    return write_index(results, style, rendered, write_scripts(results, style))


@dataclass(frozen=True)
class PageData:
    """What the page's scripts know, and the order in which they know it."""

    data: dict[str, Any]
    index: Index


def write_scripts(results: Results, style: Style) -> PageData:
    """Write all that the page needs beside its text, which does not depend on reports."""
    folder = results.path / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    assets = resources.files("hashbench.site") / "assets"
    for name, parts in {"page.css": ("page.css",), **SCRIPTS}.items():
        texts = [(assets / part).read_text(encoding="utf-8") for part in parts]
        write_text(folder / name, "\n".join(texts))
    plotly = resources.files("plotly") / "package_data" / "plotly.min.js"
    write_text(folder / "plotly.min.js", plotly.read_text(encoding="utf-8"))
    index = Index(results, style)
    known = payload(results, style, index)
    known["search"] = write_search(results, style, index, folder)
    write_script(folder / "data.js", "hashbenchData", known)
    write_script(folder / "curves.js", "hashbenchCurves", curves(results, index))
    write_script(folder / "seeds.js", "hashbenchSeeds", seeds(results, index))
    return PageData(known, index)


def write_index(results: Results, style: Style, rendered: Sequence[Rendered], known: PageData) -> Path:
    """Write the text of the page, with the tables and figures that are there; return its path."""
    page = results.path / FOLDER / INDEX
    write_text(page, _html(results, style, rendered, known.data, known.index))
    return page


def _html(
    results: Results,
    style: Style,
    rendered: Sequence[Rendered],
    known: dict[str, Any],
    index: Index,
) -> str:
    runs = results.runs()
    statuses = runs["status"].value_counts().to_dict()
    text: str = template("index.html.jinja").render(
        version=hashbench.__version__,
        about=About.of(results, style.heading),
        card=CARD if (results.path / FOLDER / CARD).exists() else "",
        own_bibtex=own_bibtex(),
        choices=_choices(results, known),
        filters=_filters(known),
        statuses=statuses,
        total=len(runs),
        problems=_problems(runs),
        environments=_environments(results),
        datasets=style.datasets,
        methods=_methods(results, style),
        notes=style.notes(style.methods),
        daggers=", ".join(note[0] for note in style.notes(style.methods)),
        sections=_sections(rendered, index),
        undrawn=sum(_is_undrawn(shown) for each in rendered for shown in each.exhibits),
        path=results.path,
        study=_study(results.path),
        files=[name for name in ("results.csv", "runs.csv") if (results.path / name).exists()],
    )
    return text


def _choices(results: Results, known: dict[str, Any]) -> dict[str, Any]:
    """Return what each selector offers, in the order of the data, and the bits it begins with."""
    named = {
        "dataset": [(each["name"], each["title"]) for each in known["datasets"]],
        "task": [(each["name"], each["title"]) for each in known["tasks"]],
        "bits": [(each, each) for each in known["bits"]],
        "measure": [(each["name"], each["name"]) for each in known["measures"]],
        "database": [(each["name"], each["name"]) for each in known["databases"]],
    }
    return {**named, "first_bits": next(iter(results.figure_bits), None)}


def _filters(known: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what methods can be filtered by: facts in which those of the study differ."""
    found = []
    for name, title in FILTERS.items():
        texts = sorted({method[name] for method in known["methods"]})
        if len(texts) > 1:
            found.append({"id": name, "title": title, "texts": texts})
    return found


def _sections(rendered: Sequence[Rendered], index: Index) -> list[dict[str, Any]]:
    """Group reports by the part of the page that they ask for."""
    sections: dict[str, list[dict[str, Any]]] = {}
    for each in rendered:
        if each.nothing:
            continue
        exhibits = [
            {
                "name": shown.name,
                "caption": shown.exhibit.caption,
                "slices": json.dumps(_slices(shown.exhibit.slices, index)),
                # what daggers mean is said once for the whole page
                "notes": [note for note in shown.exhibit.notes if note[:1] not in DAGGERS],
                "table": shown.exhibit if isinstance(shown.exhibit, Table) else None,
                "size": shown.size and [round(PIXELS * length) for length in shown.size],
                "picture": next(
                    (shown.files[f].name for f in ("svg", "png") if f in shown.files), None
                ),
                "files": {ending: path.name for ending, path in shown.files.items()},
            }
            for shown in each.exhibits
            if not _is_undrawn(shown)
        ]
        if not exhibits:
            continue
        report = {
            "name": each.report.name,
            "title": each.report.title or each.report.name,
            "data": each.data.name if each.data else None,
            "exhibits": exhibits,
        }
        sections.setdefault(each.report.section, []).append(report)
    order = {title: place for place, title in enumerate(SECTIONS)}
    titles = sorted(sections, key=lambda title: order.get(title, len(order)))
    return [
        {"title": title, "reports": sections[title], "open": _is_short(sections[title])}
        for title in titles
    ]


def _slices(slices: Slices, index: Index) -> dict[str, list[int]]:
    """Return what an exhibit is of as the places of the selectors; what they lack restricts not."""
    offered: dict[str, list[Any]] = {
        "dataset": index.datasets,
        "task": index.tasks,
        "bits": index.bits,
        "database": index.databases,
        "measure": index.measures,
    }
    found = {
        name: [known.index(value) for value in slices.get(name, ()) if value in known]
        for name, known in offered.items()
    }
    return {name: places for name, places in found.items() if places}


def _is_short(reports: list[dict[str, Any]]) -> bool:
    """Say whether a section need not be folded: one report, of a few rows or pictures."""
    rows = [
        sum(len(group.rows) for group in exhibit["table"].groups) if exhibit["table"] else PICTURE
        for report in reports
        for exhibit in report["exhibits"]
    ]
    return len(reports) == 1 and sum(rows) <= SHORT


def _is_undrawn(shown: RenderedExhibit) -> bool:
    return isinstance(shown.exhibit, Picture) and not shown.files


def _problems(runs: Any) -> list[dict[str, Any]]:
    """Return what did not run, equal reasons together."""
    wrong = runs[runs["status"] != "done"]
    keys = ["method", "dataset", "status", "reason"]
    return [
        {**dict(zip(keys, values, strict=True)), "cells": len(table)}
        for values, table in wrong.fillna({"reason": ""}).groupby(keys, sort=False)
    ]


def _environments(results: Results) -> list[dict[str, Any]]:
    """Return the machines and versions that cells ran with, most cells first."""
    counted: dict[str, int] = {}
    for stored in results.done():
        text = json.dumps(stored.record.environment, sort_keys=True)
        counted[text] = counted.get(text, 0) + 1
    ordered = sorted(counted.items(), key=lambda item: -item[1])
    return [{"cells": number, "facts": json.loads(text)} for text, number in ordered]


def _methods(results: Results, style: Style) -> list[dict[str, Any]]:
    found = []
    for name, shown in style.methods.items():
        plugin = results.registry.methods.get(bare_name(name))
        paper = plugin.cls.paper if plugin is not None and plugin.cls.paper.title else None
        origin = ""
        if plugin is not None:
            limit = f", {UP_TO_RANK}" if plugin.cls.paper.up_to_rank else ""
            origin = f"{plugin.origin}; {plugin.cls.paper.fidelity}{limit}"
        found.append(
            {
                "name": name,
                "title": shown.label,
                "paper": str(paper or ""),
                "origin": origin,
                "bibtex": bibtex(paper) if paper else "",
            }
        )
    return found


def _study(out: Path) -> str:
    path = out / "study.toml"
    return path.read_text(encoding="utf-8") if path.exists() else ""
