"""Numbers along an axis: round, short, and written out on logarithmic axes too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Powers of ten that a logarithmic axis names at the most.
MOST = 6


def number(value: float, _position: float = 0) -> str:
    """Return a number for an axis, short.

    Examples
    --------
    >>> [number(value) for value in (0.001, 0.5, 10, 20000, 4e12)]
    ['0.001', '0.5', '10', '20k', '4T']
    """
    from matplotlib.ticker import EngFormatter

    return f"{value:g}" if abs(value) < 1000 else EngFormatter(sep="")(value)


def log_axis(axes: Axes, which: str) -> None:
    """Make an axis logarithmic, its numbers written out.

    It names powers of ten or, where it is too short for three of them, 1-2-5.
    """
    from matplotlib.ticker import LogLocator, NullFormatter

    class Ticks(LogLocator):
        def tick_values(self, vmin: float, vmax: float) -> Any:
            tens = LogLocator(numticks=MOST).tick_values(vmin, vmax)
            if sum(vmin <= tick <= vmax for tick in tens) > 2:
                return tens
            return LogLocator(subs=(1.0, 2.0, 5.0)).tick_values(vmin, vmax)

    getattr(axes, f"set_{which}scale")("log")
    axis = getattr(axes, f"{which}axis")
    axis.set_major_locator(Ticks())
    axis.set_major_formatter(number)
    axis.set_minor_formatter(NullFormatter())
