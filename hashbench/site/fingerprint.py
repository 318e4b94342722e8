"""A fingerprint of everything that the page is made of, so that it is not made twice.

The page follows from the plan, the records of the cells with the checksums of their codes, the
splits, and the source of the harness and the plugins. A hash of all that is kept in its folder.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import hashbench
from hashbench.analysis.results import Results
from hashbench.core.io import add_checksum, atomic_write, checksum, verify_checksum
from hashbench.core.records import to_json
from hashbench.plugins.source_hash import text_hash
from hashbench.plugins.stored_facts import FILE as PLUGINS

FILE = ".fingerprint.json"

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
        "tables": [
            checksum(path)
            for folder in ("trials", "published")  # trials; the user's published numbers
            for path in sorted((results.path / folder).rglob("*.*"))
        ],
        "plugins": {f"{each.kind} {each.name}": text_hash(each) for each in plugins},
        "harness": _harness_hash(),
        "versions": {name: importlib.metadata.version(name) for name in DRAWING},
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _cells(results: Results) -> str:
    """Return a hash of every cell and its record."""
    digest = hashlib.sha256()
    for cell in results.plan.cells:
        stored = results.stored.get(cell.id)
        record = None if stored is None else to_json(stored.record)
        digest.update(json.dumps([cell.id, record], sort_keys=True).encode() + b"\n")
    return digest.hexdigest()


def is_current(folder: Path, fingerprint: str) -> bool:
    """Return whether a folder has all files that were written with this fingerprint."""
    try:
        record = verify_checksum(json.loads((folder / FILE).read_text()))
        files = (folder / name for name in record["files"])
        return record["fingerprint"] == fingerprint and all(path.exists() for path in files)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def write(folder: Path, fingerprint: str, files: Iterable[Path]) -> None:
    """Record the fingerprint of the files in a folder."""
    record = {"fingerprint": fingerprint, "files": sorted(path.name for path in files)}
    with atomic_write(folder / FILE) as stream:
        json.dump(add_checksum(record), stream)


def remove(folder: Path) -> None:
    """Remove the fingerprint of a folder, whose files are about to change."""
    (folder / FILE).unlink(missing_ok=True)


def _harness_hash() -> str:
    """Return a hash of every file of the harness."""
    digest = hashlib.sha256()
    harness = Path(hashbench.__file__).parent
    for path in sorted(harness.rglob("*")):
        if path.is_file() and path.suffix not in (".pyc", ".npz"):
            digest.update(f"{path.relative_to(harness)}\n".encode() + path.read_bytes())
    return digest.hexdigest()
