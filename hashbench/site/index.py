"""A folder fit for any static host: pages of several studies, and an index of them.

Every study has a folder of its own with its page, its tables and its numbers, and a file that says
what it is; the index is written anew of those files, so that studies can be added one by one.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from hashbench.core.errors import HashbenchError
from hashbench.site.about import About
from hashbench.site.templates import template, write_text
from hashbench.site.fingerprint import FILE as STAMP
from hashbench.render.writer import FOLDER, slug
from hashbench.analysis.results import Results

#: Says what the study of a folder is.
CARD = "study.json"

#: Tables of numbers that the page links to.
TABLES = ("results.csv", "runs.csv")


def write_site(results: Results, site: Path) -> Path:
    """Copy the page of a study into a site, and write its index anew; return the index."""
    about = About.of(results)
    place = site / slug(results.path.resolve().name)
    page = results.path / FOLDER
    if site.resolve().is_relative_to(page.resolve()):
        raise HashbenchError(f"site {str(site)!r} lies in the page itself; allowed: another folder")
    shutil.rmtree(place / FOLDER, ignore_errors=True)
    shutil.copytree(page, place / FOLDER, ignore=shutil.ignore_patterns(STAMP, ".*.tmp"))
    for name in TABLES:
        if (results.path / name).exists():
            shutil.copyfile(results.path / name, place / name)
    card = {
        "title": about.title,
        "authors": about.authors,
        "abstract": about.abstract,
        "methods": len({cell.label for cell in results.cells}),
        "datasets": list(dict.fromkeys(cell.dataset for cell in results.cells)),
        "cells": len(results.done()),
    }
    write_text(place / CARD, json.dumps(card, indent=1) + "\n")
    studies = [_study(path) for path in sorted(site.glob(f"*/{CARD}"))]
    write_text(site / "index.html", template("site.html.jinja").render(studies=studies))
    shutil.copyfile(page / "page.css", site / "page.css")
    return site / "index.html"


def _study(path: Path) -> dict[str, Any]:
    try:
        card: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return {**card, "page": f"{path.parent.name}/{FOLDER}/index.html", "name": path.parent.name}
    except (OSError, ValueError) as error:
        raise HashbenchError(
            f"{path} is damaged: {error}; write that study's site again"
        ) from error
