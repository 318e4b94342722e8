"""Measure what the extremes of each tuned parameter do to a method's score.

``python -m research.parameter_effects [METHOD ...]`` fits every method that takes no network, or
those named, on emoji at 16 bits with seed 0: with its defaults, and with one parameter after the
other at each end of the range that a search covers. It writes AP, the mean over both tasks for
encoded codes of unseen rows, to ``hashbench/resources/parameter_effects.csv``, which ``hashbench
show`` reads. One split of small data: a hint where a parameter matters, not a result.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from pathlib import Path

import pandas as pd

import hashbench
from hashbench.plugins.registry import discover
from hashbench.plugins.selection import Selection, bare_name, parse_item
from hashbench.plugins.space import Space, as_range

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "hashbench" / "resources" / "parameter_effects.csv"
COLUMNS = ["method", "parameter", "value", "AP"]


def selections(name: str, space: Space) -> list[str]:
    """Return a method with its defaults, and with each parameter at each end of its range."""
    ends = [
        Selection(name, ((parameter, end),))
        for parameter, values in space.items()
        for end in as_range(values).ends()
        if isinstance(end, int | float)
    ]
    return [name, *map(str, ends)]


def measure(name: str, space: Space, out: Path) -> pd.DataFrame:
    """Return one row per setting; a setting without codes has no AP."""
    names = selections(name, space)
    results = hashbench.run(names, "emoji", 16, 1, measures="AP", out=out, quiet=True)
    scores = results.shown().scores().groupby("method")["value"].mean()
    rows = []
    for label in results.runs()["method"]:
        settings = parse_item(label)[1][0]
        ((parameter, value),) = settings.items() if settings else (("", ""),)
        rows.append([bare_name(label), parameter, value, scores.get(label, math.nan)])
    return pd.DataFrame(rows, columns=COLUMNS)


def main() -> None:
    """Measure the methods and write the record after each of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("methods", nargs="*")
    chosen = parser.parse_args().methods
    for name, plugin in discover().methods.items():
        if plugin.cls.requires or not plugin.cls.space or (chosen and name not in chosen):
            continue
        with tempfile.TemporaryDirectory() as folder:
            found = measure(name, plugin.cls.space, Path(folder) / "out")
        known = pd.read_csv(RECORD) if RECORD.exists() else pd.DataFrame(columns=COLUMNS)
        kept = known[known["method"] != name]
        table = pd.concat([kept, found], ignore_index=True) if len(kept) else found
        table.sort_values("method", kind="stable").to_csv(RECORD, index=False, float_format="%.4g")
        print(found.to_string(index=False), flush=True)


if __name__ == "__main__":
    main()
