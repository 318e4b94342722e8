"""Numbers along an axis: round, short, and written out on logarithmic axes too."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def number(value: float, _position: float = 0) -> str:
    """Return a number for an axis, short.

    Examples
    --------
    >>> [number(value) for value in (0.001, 0.5, 10, 20000, 3e6)]
    ['0.001', '0.5', '10', '20k', '3M']
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def log_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers within a logarithmic axis: powers of ten, or 1-2-5 if it is short.

    Examples
    --------
    >>> log_ticks(0.004, 30), log_ticks(6, 30), log_ticks(1, 1e9)
    ([0.01, 0.1, 1.0, 10.0], [10.0, 20.0], [1.0, 100.0, 10000.0, 1000000.0, 100000000.0])
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    tens = [10.0**power for power in range(first, last + 1) if low <= 10.0**power <= high]
    if len(tens) > 2:
        return tens[:: -(-len(tens) // most)]
    fives = [digit * 10.0**power for power in range(first, last + 1) for digit in (1, 2, 5)]
    return [tick for tick in fives if low <= tick <= high]


def log_axis(axes: Axes, which: str) -> None:
    """Make an axis logarithmic, its numbers written out."""
    from matplotlib.ticker import Locator, NullFormatter

    class Ticks(Locator):
        def __call__(self) -> list[float]:
            low, high = sorted(self.axis.get_view_interval())  # type: ignore[union-attr]
            return log_ticks(max(low, 1e-30), high)

    getattr(axes, f"set_{which}scale")("log")
    axis = getattr(axes, f"{which}axis")
    axis.set_major_locator(Ticks())
    axis.set_major_formatter(number)
    axis.set_minor_formatter(NullFormatter())
