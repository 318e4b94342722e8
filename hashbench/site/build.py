"""Write the page: a template, its style and script, the data, and plotly's script.

All files are in one folder and nothing is loaded from elsewhere, so that the page works from a
``file://`` address without a network. Data come as scripts because a browser refuses to fetch
files from there. Names and texts of the study never become markup: the template escapes them and
the scripts write them as text.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import hashbench
from hashbench.analysis.evidence import find_evidence
from hashbench.analysis.results import Results
from hashbench.data.splits import Searched
from hashbench.plugins.method import UP_TO_RANK
from hashbench.plugins.selection import bare_name
from hashbench.render.daggers import DAGGERS
from hashbench.render.report import SECTIONS, Picture, Slices, Table
from hashbench.render.style import Style
from hashbench.render.writer import FOLDER, Rendered, RenderedExhibit
from hashbench.site.about import About
from hashbench.site.bibtex import bibtex, own_bibtex
from hashbench.site.comparisons import comparisons
from hashbench.site.curves import curves
from hashbench.site.headline import IMAGE, what_was_run
from hashbench.site.payload import payload
from hashbench.site.positions import Positions
from hashbench.site.preview_card import CARD
from hashbench.site.search import write_search
from hashbench.site.templates import template, write_assets, write_script, write_text

INDEX = "index.html"

#: The parts of the page's script, in the order in which they run.
SCRIPTS = (
    "view.js",
    "tables.js",
    "results.js",
    "charts.js",
    "codes.js",
    "search.js",
    "compare.js",
    "exhibits.js",
    "citations.js",
)

#: What methods can be filtered by, and its title.
FILTERS = {"labels": "Labels", "kind": "Kind", "fidelity": "Fidelity", "settings": "Settings"}

#: Pixels of an inch on a screen, as CSS defines them.
PIXELS = 96


@dataclass(frozen=True)
class PageData:
    """The data of the page's scripts, and the positions by which they name things."""

    data: dict[str, Any]
    positions: Positions


def write_scripts(results: Results, style: Style) -> PageData:
    """Write the files of the page that do not depend on reports: style, scripts and data."""
    folder = results.path / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    write_assets(folder, SCRIPTS)
    plotly = resources.files("plotly") / "package_data" / "plotly.min.js"
    write_text(folder / "plotly.min.js", plotly.read_text(encoding="utf-8"))
    positions = Positions.of_study(results, style)
    data = payload(results, style, positions)
    order = [row["method"] for block in data["overview"][:1] for row in block["rows"]]
    data["search"] = write_search(results, style, positions, folder, order)
    write_script(folder / "data.js", "hashbenchData", data)
    write_script(folder / "curves.js", "hashbenchCurves", curves(results, positions))
    for number, measure in enumerate(results.measures):
        found = comparisons(results, positions, measure)
        write_script(folder / f"compare{number}.js", f"hashbenchCompare{number}", found)
    return PageData(data, positions)


def write_index(
    results: Results, style: Style, rendered: Sequence[Rendered], page_data: PageData
) -> Path:
    """Write index.html with the tables and figures that are there, and return its path."""
    folder = results.path / FOLDER
    runs = results.runs()
    html = template("index.html.jinja").render(
        version=hashbench.__version__,
        about=About.of(results, style.heading),
        was_run=what_was_run(style, find_evidence(results)),
        card=CARD if (folder / CARD).exists() else "",
        own_bibtex=own_bibtex(),
        selectors=selectors(page_data, results.figure_bits),
        filters=method_filters(page_data.data),
        statuses=runs["status"].value_counts().to_dict(),
        total=len(runs),
        problems=_problems(runs),
        environments=_environments(results),
        datasets=style.datasets,
        methods=_methods(results, style),
        notes=style.notes(style.methods),
        sections=_sections(rendered, page_data.positions),
        undrawn=sum(_is_undrawn(shown) for each in rendered for shown in each.exhibits),
        path=results.path,
        study=_study(results.path),
        files=[name for name in ("results.csv", "runs.csv") if (results.path / name).exists()],
    )
    write_text(folder / INDEX, html)
    return folder / INDEX


def selectors(page_data: PageData, figure_bits: Sequence[int]) -> list[dict[str, Any]]:
    """Return the selectors with their options, and which of them are selected at first.

    The page starts with the first slice that has scores, if possible at the bits of figures and
    where pictures are found.
    """
    data, positions = page_data.data, page_data.positions
    options = {
        "dataset": [(each["name"], each["title"]) for each in data["datasets"]],
        "task": [(each["name"], each["title"]) for each in data["tasks"]],
        "bits": [(each, each) for each in data["bits"]],
        "measure": [(each["name"], each["name"]) for each in data["measures"]],
        "database": [(each["name"], each["name"]) for each in data["databases"]],
    }
    slices = [block["at"] for block in data["scores"]]
    bits = [data["bits"].index(each) for each in figure_bits[:1]]
    tasks = [i for i, task in enumerate(positions.values["task"]) if task.endswith(f"->{IMAGE}")]
    selected = min(
        slices,
        key=lambda at: (at[0], at[2] not in bits, at[1] not in tasks, *at),
        default=[0] * 5,
    )
    first = dict(zip(positions.values, selected, strict=True))
    titles = {"task": "Direction", "database": "Database, codes"}
    return [
        {"id": id, "title": titles.get(id, id.capitalize()), "options": each, "first": first[id]}
        for id, each in options.items()
    ]


def method_filters(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what methods can be filtered by: facts in which those of the study differ."""
    values = {name: sorted({method[name] for method in data["methods"]}) for name in FILTERS}
    return [
        {"id": name, "title": title, "values": values[name]}
        for name, title in FILTERS.items()
        if len(values[name]) > 1
    ]


def _sections(rendered: Sequence[Rendered], positions: Positions) -> list[dict[str, Any]]:
    """Return the reports that have something to show, by their section of the page."""
    sections: dict[str, list[dict[str, Any]]] = {}
    for each in rendered:
        exhibits = [_exhibit(shown, positions) for shown in each.exhibits if not _is_undrawn(shown)]
        if exhibits:
            report = {
                "title": each.report.title or each.report.name,
                "data": each.data.name if each.data else None,
                "exhibits": exhibits,
            }
            sections.setdefault(each.report.section, []).append(report)
    order = [*SECTIONS, *(title for title in sections if title not in SECTIONS)]
    return [{"title": title, "reports": sections[title]} for title in order if title in sections]


def _exhibit(shown: RenderedExhibit, positions: Positions) -> dict[str, Any]:
    files = {ending: path.name for ending, path in shown.files.items()}
    return {
        "name": shown.name,
        "heading": shown.exhibit.heading,
        "caption": shown.exhibit.caption,
        "slices": json.dumps(_slices(shown.exhibit.slices, positions)),
        # the page explains daggers once
        "notes": [note for note in shown.exhibit.notes if note[:1] not in DAGGERS],
        "table": shown.exhibit if isinstance(shown.exhibit, Table) else None,
        "size": shown.size and [round(PIXELS * length) for length in shown.size],
        "picture": files.get("svg") or files.get("png"),
        "files": files,
    }


def _slices(slices: Slices, positions: Positions) -> dict[str, list[int]]:
    """Return the options of the selectors that an exhibit shows, by selector."""
    pairs = itertools.product(slices.get("database", ()), slices.get("codes", ()))
    slices = {**slices, "database": [Searched(*pair) for pair in pairs]}
    found = {
        name: [values.index(value) for value in slices.get(name, ()) if value in values]
        for name, values in positions.values.items()
    }
    return {name: selected for name, selected in found.items() if selected}


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
