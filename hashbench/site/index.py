"""A folder for a static host: the pages of several studies, and an index of them.

Every study has a folder with its page, its tables and its numbers, and a file with its title and
its size. The index is written from those files, so that studies can be added one by one.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from hashbench.analysis.results import Results
from hashbench.core.errors import HashbenchError
from hashbench.render.writer import FOLDER, slug
from hashbench.site.about import About
from hashbench.site.templates import template, write_text

#: Title, authors and size of a study.
SUMMARY = "study.json"

#: Tables of numbers that the page links to.
TABLES = ("results.csv", "runs.csv")


def write_site(results: Results, site: Path) -> Path:
    """Copy the page of a study into a site, rewrite the index, and return its path."""
    about = About.of(results)
    study_folder = site / slug(results.path.resolve().name)
    page = results.path / FOLDER
    if site.resolve().is_relative_to(page.resolve()):
        raise HashbenchError(f"site {str(site)!r} lies in the page itself; allowed: another folder")
    shutil.rmtree(study_folder / FOLDER, ignore_errors=True)
    shutil.copytree(page, study_folder / FOLDER, ignore=shutil.ignore_patterns(".*.tmp"))
    for name in TABLES:
        if (results.path / name).exists():
            shutil.copyfile(results.path / name, study_folder / name)
    summary = {
        "title": about.title,
        "authors": about.authors,
        "abstract": about.abstract,
        "methods": len({cell.label for cell in results.cells}),
        "datasets": list(dict.fromkeys(cell.dataset for cell in results.cells)),
        "cells": len(results.done()),
    }
    write_text(study_folder / SUMMARY, json.dumps(summary, indent=1) + "\n")
    studies = [_study(path) for path in sorted(site.glob(f"*/{SUMMARY}"))]
    write_text(site / "index.html", template("site.html.jinja").render(studies=studies))
    shutil.copyfile(page / "page.css", site / "page.css")
    return site / "index.html"


def _study(path: Path) -> dict[str, Any]:
    try:
        summary: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        folder = path.parent.name
        return {**summary, "page": f"{folder}/{FOLDER}/index.html", "name": folder}
    except (OSError, ValueError) as error:
        raise HashbenchError(
            f"{path} is damaged: {error}; write that study's site again"
        ) from error
