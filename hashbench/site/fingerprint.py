"""What the page and the reports were made of, so that they are not made again of the same.

Everything they show follows from the plan, the records of the cells with the checksums of their
codes, the splits, and from source: of the harness, of the reports, of the plugins whose titles
and papers they print. A hash of all that stands beside them.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import hashbench
from hashbench.core.io import checksum, atomic_write, add_checksum, verify_checksum
from hashbench.plugins.source_hash import source_hash
from hashbench.plugins.stored_facts import FILE as PLUGINS
from hashbench.core.records import to_json
from hashbench.analysis.results import Results

FILE = ".stamp.json"

#: Packages whose version may change what is drawn.
DRAWING = ("jinja2", "matplotlib", "numpy", "pandas", "plotly", "scipy", "seaborn")


def fingerprint_of(results: Results) -> str:
    """Return a hash of everything that the page of a study is made of."""
    registry = results.registry
    plugins = (*registry.reports.values(), *registry.methods.values(), *registry.datasets.values())
    study, facts = results.path / "study.toml", results.path / PLUGINS
    parts = {
        "name": results.path.resolve().name,
        "plan": replace(results.plan, cells=[]).to_json(),
        "facts": facts.read_text(encoding="utf-8") if facts.exists() else "",
        "study": study.read_text(encoding="utf-8") if study.exists() else "",
        "cells": _cells(results),
        "splits": {name: results.split(name).checksum for name in results.split_names},
        "beside": [
            checksum(path)
            for folder in ("trials", "published")  # points tried; printed numbers of one's own
            for path in sorted((results.path / folder).rglob("*.*"))
        ],
        "plugins": {f"{each.kind} {each.name}": source_hash(each) for each in plugins},
        "house": _house(),
        "versions": {name: importlib.metadata.version(name) for name in DRAWING},
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _cells(results: Results) -> str:
    """Return a hash of every cell and how it ended, one after the other: there may be thousands."""
    digest = hashlib.sha256()
    for cell in results.plan.cells:
        stored = results.stored.get(cell.id)
        record = None if stored is None else to_json(stored.record)
        digest.update(json.dumps([cell.id, record], sort_keys=True).encode() + b"\n")
    return digest.hexdigest()


def is_current(folder: Path, stamp: str) -> bool:
    """Say whether a folder has everything that was written under a stamp."""
    try:
        record = verify_checksum(json.loads((folder / FILE).read_text()))
        files = (folder / name for name in record["files"])
        return record["stamp"] == stamp and all(path.exists() for path in files)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def write(folder: Path, stamp: str, files: Iterable[Path]) -> None:
    """Note that these files were written of what has this stamp."""
    record = {"stamp": stamp, "files": sorted(path.name for path in files)}
    with atomic_write(folder / FILE) as stream:
        json.dump(add_checksum(record), stream)


def remove(folder: Path) -> None:
    """Note that a folder holds something else now."""
    (folder / FILE).unlink(missing_ok=True)


def _house() -> str:
    """Return a hash of every file of the harness."""
    digest = hashlib.sha256()
    house = Path(hashbench.__file__).parent
    for path in sorted(house.rglob("*")):
        if path.is_file() and path.suffix not in (".pyc", ".npz"):
            digest.update(f"{path.relative_to(house)}\n".encode() + path.read_bytes())
    return digest.hexdigest()
