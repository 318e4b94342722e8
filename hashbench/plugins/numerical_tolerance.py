"""How far rounding moves a method's score: what was measured, shipped as data.

Discrete steps amplify rounding: a sign that turns early turns others. What the last digits of the
features can do to a score, or the order in which another processor adds, is no finding about the
method. ``research/sensitivity.py`` measures both.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources

from hashbench.plugins.selection import bare_name

#: Smaller changes are not reported: tables print four digits.
STEADY = 0.0005


@cache
def measured() -> dict[str, float]:
    """Return the largest change of a score by method, over both precisions and other kernels."""
    text = (resources.files("hashbench.resources") / "sensitivity.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return {row.pop("method"): max(map(float, row.values())) for row in rows}


def tolerance(label: str) -> float:
    """Return how far rounding may move a score of a method, zero where nobody has measured it.

    Examples
    --------
    >>> tolerance("dch[lam=2]")
    0.0
    """
    return measured().get(bare_name(label), 0.0)


def words(name: str) -> str:
    """Return a method's tolerance in words."""
    if name not in measured():
        return "not measured"
    moved = tolerance(name)
    if moved < STEADY:
        return f"moves scores by less than {STEADY}"
    return f"moves scores by up to {moved:.4f} (16 bits on emoji)"
