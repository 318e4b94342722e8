"""What the parameters of a method mean, from its docstring, and what was measured of them."""

from __future__ import annotations

import csv
import inspect
import re
from functools import cache
from importlib import resources
from typing import Any

#: Meanings of names that docstrings may leave without a text.
USUAL = {
    "n_bits": "Code length.",
    "random_state": "Seed or generator.",
    "iterations": "Largest number of alternating updates.",
    "anchors": "Number of points for RBF features.",
    "neighbours": "Number of neighbours in the graph.",
    "momentum": "Part of the last step that is added to the next.",
    "weight_decay": "Weight decay, as in PyTorch.",
}


def meanings(cls: type[Any]) -> dict[str, str]:
    """Return what each parameter of a class means, from its docstring and those of its bases."""
    found = dict(USUAL)
    for base in reversed(cls.__mro__):
        described = _described(inspect.cleandoc(vars(base).get("__doc__") or ""))
        found |= {name: text for name, text in described.items() if not text.startswith("As for ")}
    return {name: found[name] for name in cls.defaults() if name in found}


def _described(docstring: str) -> dict[str, str]:
    """Return what the section "Parameters" of a docstring says of each parameter."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?:\n\n|\Z)", docstring, re.DOTALL | re.MULTILINE)
    found: dict[str, str] = {}
    names: list[str] = []
    for line in section[1].splitlines() if section else ():
        if not line.startswith(" "):
            names = [name.strip() for name in line.partition(":")[0].split(",")]
        else:
            for name in names:
                found[name] = f"{found.get(name, '')} {line.strip()}".strip()
    return found


@cache
def _read_effects() -> dict[tuple[str, str], list[tuple[float | None, float]]]:
    folder = resources.files("hashbench.resources")
    rows = csv.DictReader((folder / "parameter_effects.csv").read_text(encoding="utf-8").split())
    found: dict[tuple[str, str], list[tuple[float | None, float]]] = {}
    for row in rows:
        if row["AP"]:
            value = float(row["value"]) if row["value"] else None
            found.setdefault((row["method"], row["parameter"]), []).append(
                (value, float(row["AP"]))
            )
    return found


def effects(method: str, parameter: str) -> list[tuple[float | None, float]]:
    """Return AP at the default (None) and at the extremes of a parameter; empty if not measured.

    ``research/parameter_effects.py`` measures them: emoji, 16 bits, one split.

    Examples
    --------
    >>> effects("random", "n_bits")
    []
    """
    extremes = _read_effects().get((method, parameter), [])
    return [*_read_effects().get((method, ""), []), *sorted(extremes)] if extremes else []
