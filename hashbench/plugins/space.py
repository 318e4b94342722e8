"""What may be tuned of a method: ranges of parameters, and points in them.

A method declares ``space = {"gamma": Log(1e-2, 1e3), "anchors": Choice(100, 500)}``; the
distributions of ``scipy.stats``, such as ``loguniform(1e-2, 1e3)``, are accepted too. A point of
the space comes from a point of the unit cube with one coordinate per parameter, so that a search
needs to know nothing about parameters. Values are rounded to three digits: what a table prints is
what was run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from hashbench.core.errors import HashbenchError

DIGITS = 3

#: More dimensions are too many for a search of a few dozen points.
MOST_PARAMETERS = 4


class Range(Protocol):
    """The values that a parameter may take in a search."""

    def at(self, position: float) -> Any:
        """Return the value at a position from 0 up to 1."""
        ...

    def ends(self) -> tuple[Any, ...]:
        """Return the values between which, or among which, all others lie."""
        ...

    def is_end(self, value: Any) -> bool:
        """Return whether a value lies at an end of the range, so that a wider one may be better."""
        ...


@dataclass(frozen=True)
class _Interval:
    """Numbers from `low` to `high`."""

    low: float
    high: float

    def __post_init__(self) -> None:
        numbers = (self.low, self.high)
        if any(isinstance(n, bool) or not isinstance(n, int | float) for n in numbers):
            raise HashbenchError(f"{self}: found ends that are not numbers; allowed: numbers")
        if not all(map(math.isfinite, numbers)) or not self.low < self.high:
            raise HashbenchError(f"{self}: allowed: finite numbers, the smaller one first")

    def __str__(self) -> str:
        return f"{type(self).__name__}({_format_number(self.low)}, {_format_number(self.high)})"

    def ends(self) -> tuple[Any, ...]:
        """Return both ends."""
        return (self.at(0.0), self.at(1.0))

    def at(self, position: float) -> Any:
        """Return the value at a position."""
        raise NotImplementedError

    def _position(self, value: float) -> float:
        return (value - self.low) / (self.high - self.low)

    def is_end(self, value: Any) -> bool:
        """Return whether a value lies in the outer 5 % at either end, or beyond."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return not 0.05 <= self._position(value) <= 0.95


class Linear(_Interval):
    """Real numbers, uniformly distributed."""

    def at(self, position: float) -> float:
        """Return the value at a position."""
        return _rounded(self.low + position * (self.high - self.low))


class Log(_Interval):
    """Positive real numbers, log-uniformly distributed."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low <= 0:
            raise HashbenchError(f"{self}: allowed: numbers above 0")

    def at(self, position: float) -> float:
        """Return the value at a position."""
        return _rounded(self.low * (self.high / self.low) ** position)

    def _position(self, value: float) -> float:
        return math.log(value / self.low) / math.log(self.high / self.low) if value > 0 else -1.0


class Integer(_Interval):
    """Integers, uniformly distributed."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.low, int) or not isinstance(self.high, int):
            raise HashbenchError(f"{self}: allowed: whole numbers")

    def at(self, position: float) -> int:
        """Return the value at a position."""
        count = int(self.high) - int(self.low) + 1
        return int(self.low) + min(int(position * count), count - 1)

    def is_end(self, value: Any) -> bool:
        """Return whether a value is the first or the last, or lies beyond."""
        return isinstance(value, int) and not self.low < value < self.high


class Choice:
    """One of several values: texts, numbers, True or False."""

    def __init__(self, *values: Any) -> None:
        self.values = values
        if len(values) < 2 or len({repr(value) for value in values}) < len(values):
            raise HashbenchError(f"{self}: allowed: two values or more, all different")
        for value in values:
            if not isinstance(value, str | int | float | bool | None):
                raise HashbenchError(f"{self}: found {value!r}; allowed: texts, numbers, None")

    def __str__(self) -> str:
        return f"Choice({', '.join(map(repr, self.values))})"

    __repr__ = __str__

    def at(self, position: float) -> Any:
        """Return the value at a position."""
        return self.values[min(int(position * len(self.values)), len(self.values) - 1)]

    def ends(self) -> tuple[Any, ...]:
        """Return all values: none lies between others."""
        return self.values

    def is_end(self, value: Any) -> bool:
        """Return False: choices have no ends."""
        return False


class Distribution:
    """A frozen distribution of scipy.stats, read through its quantiles.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> Distribution(loguniform(0.01, 100)).at(0.5)
    1.0
    """

    TAIL = 0.001  #: probability left out at an infinite end

    def __init__(self, frozen: Any) -> None:
        self.frozen = frozen

    def __str__(self) -> str:
        keywords = (f"{name}={_format_number(value)}" for name, value in self.frozen.kwds.items())
        arguments = ", ".join([*map(_format_number, self.frozen.args), *keywords])
        return f"{self.frozen.dist.name}({arguments})"

    def at(self, position: float) -> Any:
        """Return the quantile at a position."""
        low, high = map(math.isfinite, self.frozen.support())
        position = min(max(position, 0.0 if low else self.TAIL), 1.0 if high else 1 - self.TAIL)
        if hasattr(self.frozen, "pmf"):  # discrete
            return int(max(self.frozen.ppf(position), self.frozen.support()[0]))
        return _rounded(float(self.frozen.ppf(position)))

    def ends(self) -> tuple[Any, ...]:
        """Return both ends."""
        return (self.at(0.0), self.at(1.0))

    def is_end(self, value: Any) -> bool:
        """Return whether a value lies in the outer 5 % at either end, or beyond."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return not 0.05 <= float(self.frozen.cdf(value)) <= 0.95


Space = Mapping[str, Any]  #: from parameters to ranges or distributions of scipy.stats


def as_range(values: Any) -> Range:
    """Return a range as it is, and a distribution of scipy.stats as a range."""
    return Distribution(values) if _is_distribution(values) else values


def _is_distribution(values: Any) -> bool:
    return all(hasattr(values, name) for name in ("dist", "ppf", "cdf", "support"))


def point(space: Space, position: Sequence[float]) -> dict[str, Any]:
    """Return the parameters at a point of the unit cube, which has one coordinate per parameter.

    Examples
    --------
    >>> point({"gamma": Log(0.01, 100), "kernel": Choice("rbf", "none")}, (0.5, 0.2))
    {'gamma': 1.0, 'kernel': 'rbf'}
    """
    pairs = zip(space.items(), position, strict=True)
    return {name: as_range(values).at(x) for (name, values), x in pairs}


def end_points(space: Space) -> list[dict[str, Any]]:
    """Return settings that put one parameter after the other at every end of its range."""
    return [{name: end} for name, values in space.items() for end in as_range(values).ends()]


def at_ends(space: Space, settings: Mapping[str, Any]) -> list[str]:
    """Return the parameters that lie at an end of their range, where a wider one might help."""
    return [name for name, values in space.items() if as_range(values).is_end(settings.get(name))]


def space_error(space: Any, defaults: Mapping[str, Any]) -> str:
    """Return why a space cannot be searched; an empty text if it can."""
    if not isinstance(space, Mapping):
        return f"found {space!r}; allowed: a dictionary of ranges"
    if len(space) > MOST_PARAMETERS:
        return (
            f"found {len(space)} parameters; allowed: {MOST_PARAMETERS} at most, those that matter"
        )
    for name, values in space.items():
        if name not in defaults or name in ("n_bits", "random_state"):
            own = [key for key in defaults if key not in ("n_bits", "random_state")]
            return f"found {name!r}; allowed: {', '.join(own) or 'nothing'}"
        if not isinstance(values, _Interval | Choice) and not _is_distribution(values):
            return (
                f"found {name}={values!r}; allowed: Log, Linear, Integer, Choice and distributions "
                "of scipy.stats"
            )
    return ""


def _format_number(number: Any) -> str:
    return f"{number:g}" if isinstance(number, int | float) else repr(number)


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
