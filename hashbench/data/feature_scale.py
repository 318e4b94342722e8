"""The scale of the features of a view, on which a fixed regulariser depends.

Authors choose the weights of their penalties for features of their own. Rows a hundred times as
long are another problem to such a method, and its scores do not show it; therefore a note does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hashbench.data.preprocessing import blocks, fit
from hashbench.plugins.protocol import Rows

#: Training rows that are looked at; quantiles of more are the same.
LOOKED_AT = 5000

#: Median row lengths between which most released features lie.
USUAL_LENGTHS = (0.1, 30.0)
#: Ratios above which a few rows, a few columns or one view outweigh all others.
UNEVEN_ROWS, UNEVEN_COLUMNS, UNEVEN_VIEWS = 20.0, 50.0, 50.0


@dataclass(frozen=True)
class Scale:
    """Lengths of rows and spreads (standard deviations) of columns: 5 %, median and 95 %."""

    lengths: tuple[float, float, float]
    spreads: tuple[float, float, float]


def measure(steps: str, X: Any, train: Rows) -> Scale:
    """Return the scale of a view's training rows, after preprocessing."""
    transform = fit(steps, X, train)
    rows = train[:: max(1, -(-len(train) // LOOKED_AT))]
    seen = np.concatenate(list(blocks(transform, X, rows))).astype(np.float64)
    return Scale(_quantiles(np.linalg.norm(seen, axis=1)), _quantiles(seen.std(axis=0)))


def _quantiles(values: Any) -> tuple[float, float, float]:
    low, middle, high = np.quantile(values, (0.05, 0.5, 0.95))
    return float(low), float(middle), float(high)


def unusual(names: Sequence[str], scales: Sequence[Scale]) -> list[str]:
    """Return a line for each view whose scale is unusual, nothing if none is."""
    found = []
    for name, scale in zip(names, scales, strict=True):
        (short, length, long), (_, spread, wide) = scale.lengths, scale.spreads
        reasons = []
        if not np.isfinite(length):
            continue  # said elsewhere: entries that are no numbers
        if length and not USUAL_LENGTHS[0] <= length <= USUAL_LENGTHS[1]:
            usual = " to ".join(f"{end:g}" for end in USUAL_LENGTHS)
            reasons.append(f"rows are {length:.3g} long ({usual} is usual)")
        if short and long / short > UNEVEN_ROWS:
            reasons.append(f"some rows are {long / short:.0f} times as long as others")
        if spread and wide / spread > UNEVEN_COLUMNS:
            reasons.append(f"some columns spread {wide / spread:.0f} times as far as most")
        if reasons:
            found.append(f"{name}: unusual scale: {'; '.join(reasons)}")
    middle = {name: scale.lengths[1] for name, scale in zip(names, scales, strict=True)}
    longest, shortest = max(middle, key=middle.__getitem__), min(middle, key=middle.__getitem__)
    if middle[shortest] and middle[longest] / middle[shortest] > UNEVEN_VIEWS:
        times = middle[longest] / middle[shortest]
        found.append(f"unusual scale: {longest} rows are {times:.0f} times as long as {shortest}'s")
    return found
