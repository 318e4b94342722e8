"""Scores that do not differ from chance, and their likely cause.

A method that returns the database in random order has a score above zero that looks valid.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hashbench.analysis.results import Results

#: Standard errors that a score must be above chance.
ERRORS = 3

#: Behind a number that does not differ from chance.
MARK = "°"
MEANING = f"{MARK} not above chance by {ERRORS} standard errors"

#: Tolerance for rounding errors.
EXACT = 1e-9


def at_chance(rows: Iterable[Mapping[Any, Any]]) -> bool:
    """Return whether the mean of some scores is not above chance by three standard errors.

    Parameters
    ----------
    rows : value, chance, chance_error of each; those of several seeds are averaged, the errors
        too, because seeds have the same or overlapping queries
    """
    found = [(row["value"], row["chance"], row["chance_error"]) for row in rows]
    if not found or any(number is None or number != number for row in found for number in row):
        return False
    value, chance, error = (sum(column) / len(found) for column in zip(*found, strict=True))
    return bool(value <= chance + ERRORS * error + EXACT)


def likely_cause(results: Results, dataset: str, method: str) -> str:
    """Return why a method's codes may be useless, or an empty text if there is no sign."""
    codes = results.code_statistics()
    own = codes[(codes["dataset"] == dataset) & (codes["method"] == method)]
    if (own["distinct"] == 1).any():
        return "a single code"
    if (own["constant"] > 0).any():
        return f"up to {int(own['constant'].max())} constant bits"
    for stored in results.done():
        split = results.split(stored.cell.split)
        own_cell = (stored.cell.dataset, stored.cell.label) == (dataset, method)
        if own_cell and split.columns and max(split.columns) > len(split.train):
            return f"{max(split.columns)} columns outnumber {len(split.train)} training rows"
    return ""
