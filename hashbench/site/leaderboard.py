"""The leaderboard: the archive's scores as a page, by the code of study pages.

An edition is a folder with the page and the scores as CSV. It is frozen: it is written again only
with the same scores.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import hashbench
from hashbench.analysis.archive import labels, read_about, read_archive
from hashbench.analysis.evidence import Evidence
from hashbench.analysis.range_tests import RangeTests
from hashbench.core.errors import HashbenchError
from hashbench.data.splits import Searched
from hashbench.plugins.registry import Registry
from hashbench.plugins.selection import bare_name
from hashbench.render.style import DatasetStyle, Style, method_styles, titles_of
from hashbench.site.bibtex import own_bibtex
from hashbench.site.build import PageData, method_filters, selectors
from hashbench.site.payload import tables_payload
from hashbench.site.positions import Positions
from hashbench.site.templates import template, write_assets, write_script, write_text

if TYPE_CHECKING:
    import pandas as pd

#: The parts of the study page's script that the leaderboard needs.
SCRIPTS = ("view.js", "tables.js", "results.js", "citations.js")

#: Where the pages of methods are, seen from an edition inside the site of the documentation.
METHOD_PAGES = "../../made/methods/{}.html"


def write_leaderboard(site: Path, registry: Registry, folder: Path | None = None) -> Path:
    """Write the leaderboard of an archive into a site, and return the path of its page.

    Parameters
    ----------
    site : the edition is a folder of its own in it
    registry : titles and facts of methods and datasets
    folder : of the archive; that of the package if None
    """
    about, table = read_about(folder), read_archive(folder)
    out = site / about.edition
    name = f"hashbench-{about.edition}.csv"
    text = table.to_csv(index=False, lineterminator="\n")
    checksum = hashlib.sha256(text.encode()).hexdigest()
    if (out / name).exists():
        found = hashlib.sha256((out / name).read_bytes()).hexdigest()
        if found != checksum:
            raise HashbenchError(
                f"{out}: found edition {about.edition} with other scores (sha256 {found[:16]}...); "
                "allowed: the same scores, or another edition"
            )
    scores = _scores(table)
    runs = _runs(scores)
    style = _style(scores, runs, registry)
    searched = list(dict.fromkeys(zip(scores["database"], scores["codes"], strict=True)))
    order = {"unseen": 0, "all": 1, "seen": 2}
    values: dict[str, list[Any]] = {
        "dataset": list(style.datasets),
        "task": sorted(set(scores["task"])),
        "bits": sorted(set(map(int, scores["bits"]))),
        "database": sorted((Searched(*each) for each in searched), key=lambda s: order[s[0]]),
        "measure": list(dict.fromkeys(scores["measure"])),
    }
    positions = Positions(list(style.methods), values)
    tests = RangeTests(None, _evidence(scores))
    data = tables_payload(scores, runs, style, positions, tests, registry.methods)
    data["edition"] = about.edition
    for method in data["methods"]:
        bare = bare_name(method["name"])
        method["link"] = METHOD_PAGES.format(bare) if bare in registry.methods else ""
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / name, text)
    write_script(out / "data.js", "hashbenchData", data)
    write_assets(out, SCRIPTS)
    html = template("leaderboard.html.jinja").render(
        edition=about.edition,
        version=about.version,
        cells=table["cell"].nunique(),
        gaps=len(about.gaps),
        csv=name,
        checksum=checksum,
        selectors=selectors(PageData(data, positions), [16]),
        filters=method_filters(data),
        datasets=style.datasets,
        methods=style.methods,
        notes=style.notes(style.methods),
        own_bibtex=own_bibtex(),
        hashbench_version=hashbench.__version__,
    )
    write_text(out / "index.html", html)
    return out / "index.html"


def _scores(table: pd.DataFrame) -> pd.DataFrame:
    """Return an archive with the columns of `Results.scores`."""
    unknown = dict.fromkeys(("pessimistic", "optimistic", "chance_error"), np.nan)
    return table.assign(method=labels(table), **unknown)


def _runs(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of an archive with the columns of `Results.runs`."""
    runs = scores.drop_duplicates("cell")
    # The archive is computed on shared machines: the fastest split was disturbed least.
    seconds = runs.groupby(["dataset", "method", "bits"])["fit_seconds"].transform("min")
    return runs.assign(status="done", reason="", fit_seconds=seconds)


def _evidence(scores: pd.DataFrame) -> Evidence:
    """Return the splits of an archive: rows of one name share queries."""
    cells = scores.drop_duplicates(["dataset", "seed", "split"])
    numbers = {name: number for number, name in enumerate(dict.fromkeys(cells["split"]))}
    keys = zip(cells["dataset"], map(int, cells["seed"]), strict=True)
    blocks = dict(zip(keys, map(numbers.__getitem__, cells["split"]), strict=True))
    overlaps = scores.groupby("dataset")["overlap"].max()
    return Evidence(blocks, {str(name): float(value) for name, value in overlaps.items()})


def _style(scores: pd.DataFrame, runs: pd.DataFrame, registry: Registry) -> Style:
    """Return the names of methods and datasets."""
    names = list(dict.fromkeys(scores["method"]))
    facts = runs.drop_duplicates("dataset").set_index("dataset")
    datasets = {
        name: DatasetStyle(
            title,
            False,
            f"protocol {facts['protocol'][name]}, preprocessing {facts['preprocessing'][name]}",
        )
        for name, title in titles_of(list(facts.index), registry.datasets).items()
    }
    return Style(method_styles(names, runs, registry), datasets)
