"""The interactive curves: precision and recall of every method, by rank and by Hamming radius."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hashbench.analysis.results import Results
from hashbench.data.splits import SEARCHED
from hashbench.site.positions import Positions

if TYPE_CHECKING:
    import pandas as pd

#: Points of a drawn curve; more do not show on a screen.
POINTS = 60

#: Precision and recall are written as whole numbers of this part, which are shorter than fractions.
SCALE = 10_000

KEYS = ["dataset", "task", "bits", *SEARCHED, "method"]


def curves(results: Results, positions: Positions) -> dict[str, Any]:
    """Return the curves, means over seeds."""
    found: dict[str, list[Any]] = {"rank": [], "radius": []}
    for bits in results.bits:  # the points of all code lengths together would fill the memory
        part = results.select(bits=[bits])
        found["rank"] += _curves(part.curves("PR"), positions)
        found["radius"] += _curves(part.curves("PR(by=radius)"), positions)
    return {"scale": SCALE, **found}


def _curves(table: pd.DataFrame, positions: Positions) -> list[dict[str, Any]]:
    points = table.groupby([*KEYS, "x"], sort=False, as_index=False)
    means = points[["precision", "recall"]].mean()
    numbers = means[["x", "precision", "recall"]].to_numpy()
    found = []
    groups: dict[Any, Any] = means.groupby(KEYS, sort=False).indices
    for values, rows in groups.items():
        names = dict(zip(KEYS, values, strict=True))
        # ranks matter by their order of magnitude: keep points evenly in position, with the ends
        kept = np.unique(np.linspace(0, len(rows) - 1, POINTS).round().astype(int))
        x, precision, recall = numbers[rows[kept]].T
        found.append(
            {
                "at": positions.of(names),
                "method": positions.methods.index(names["method"]),
                "x": x.astype(int).tolist(),
                "precision": _scaled(precision),
                "recall": _scaled(recall),
            }
        )
    return found


def _scaled(values: npt.NDArray[np.float64]) -> list[int | None]:
    return [round(SCALE * value) if np.isfinite(value) else None for value in values.tolist()]
