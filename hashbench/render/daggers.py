"""Daggers behind the names of methods in tables and figures, and what they mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

RECONSTRUCTION = "†"
NOT_HAMMING = "‡"

#: What daggers mean; a note below a table has the details of each method.
DAGGERS = {RECONSTRUCTION: "reconstruction", NOT_HAMMING: "not Hamming distances"}


def vector_notes(runs: Iterable[tuple[str, Any, Any]]) -> dict[str, str]:
    """Return the bytes per item of methods that compare vectors, not Hamming codes.

    Parameters
    ----------
    runs : of each cell the method as tables name it, ``hamming`` and ``item_bytes`` of runs.csv
    """
    sizes: dict[str, set[float]] = {}
    for method, hamming, item_bytes in runs:
        if hamming == 0:  # None or nan where there is no result
            sizes.setdefault(method, set()).add(item_bytes)
    return {method: f"{_range_text(found)} bytes per item" for method, found in sizes.items()}


def _range_text(values: set[float]) -> str:
    return " to ".join(f"{value:g}" for value in dict.fromkeys((min(values), max(values))))


def dagger_notes(methods: Iterable[tuple[str, Mapping[str, str]]]) -> list[str]:
    """Return one line per dagger.

    Parameters
    ----------
    methods : the name of each, and what its daggers mean
    """
    methods = list(methods)
    lines = []
    for dagger, meaning in DAGGERS.items():
        names: dict[str, list[str]] = {}
        for name, notes in methods:
            if dagger in notes:
                names.setdefault(notes[dagger].rstrip("."), []).append(name)
        if names:
            each = "; ".join(f"{', '.join(found)}: {note}" for note, found in names.items())
            lines.append(f"{dagger} {meaning} ({each})")
    return lines
