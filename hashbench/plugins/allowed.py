"""The values that a parameter of a method may have, whatever is searched.

A method declares ``allowed = {"gamma": POSITIVE, "iterations": COUNT, "kind": Choice("a", "b")}``.
A selection such as ``edsh[gamma=-1]`` is refused before anything runs, and ``fit`` refuses the same
values. A class has the declarations of its base classes, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from hashbench.core.errors import HashbenchError
from hashbench.plugins.space import Choice


@dataclass(frozen=True)
class Bounds:
    """Finite numbers: greater than `gt`, at least `ge`, less than `lt`, at most `le`.

    Examples
    --------
    >>> print(Bounds(ge=0), "/", Bounds(gt=0, le=1), "/", Bounds(ge=1, whole=True))
    numbers from 0 up / numbers above 0, up to 1 / whole numbers from 1 up
    >>> print(Bounds(ge=0, le=1), "/", Bounds(ge=0, lt=1), "/", Bounds(lt=1))
    numbers from 0 to 1 / numbers from 0, below 1 / numbers below 1
    >>> 0 in Bounds(ge=0), 0 in Bounds(gt=0), 1.5 in Bounds(ge=1, whole=True)
    (True, False, False)
    """

    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    lt: float | None = None
    whole: bool = False

    def __contains__(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, Integral if self.whole else Real):
            return False
        number = float(value)
        return (
            math.isfinite(number)
            and (self.ge is None or number >= self.ge)
            and (self.gt is None or number > self.gt)
            and (self.le is None or number <= self.le)
            and (self.lt is None or number < self.lt)
        )

    def __str__(self) -> str:
        low = f"from {self.ge:g}" if self.ge is not None else ""
        low = f"above {self.gt:g}" if self.gt is not None else low
        high = f"up to {self.le:g}" if self.le is not None else ""
        high = f"below {self.lt:g}" if self.lt is not None else high
        if self.ge is not None:
            high = high.removeprefix("up ") or "up"
        separator = " " if high in ("", "up") or high.startswith("to") else ", "
        words = separator.join(filter(None, (low, high)))
        return f"{'whole ' * self.whole}numbers {words}".rstrip()

    @property
    def ends(self) -> list[float]:
        """The smallest and the largest number, where there are such."""
        found = [end for end in (self.ge, self.le) if end is not None]
        return [int(end) for end in found] if self.whole else found


POSITIVE = Bounds(gt=0)
NON_NEGATIVE = Bounds(ge=0)
FRACTION = Bounds(ge=0, le=1)
COUNT = Bounds(ge=1, whole=True)  #: 1, 2, ...
COUNT_OR_ZERO = Bounds(ge=0, whole=True)

Allowed = Mapping[str, Bounds | Choice]  #: from parameters to their values


def allowed_values(cls: type[Any]) -> dict[str, Bounds | Choice]:
    """Return what a method and its base classes declare of the parameters that it has."""
    found: dict[str, Bounds | Choice] = {}
    for base in reversed(cls.__mro__):
        found |= vars(base).get("allowed", {})
    return {name: found[name] for name in cls.defaults() if name in found}


def in_words(values: Bounds | Choice, default: Any = ...) -> str:
    """Return the allowed values in words: None too where it is the default."""
    words = str(values) if isinstance(values, Bounds) else ", ".join(map(str, values.values))
    return f"{words}, or none" if default is None else words


def check_parameters(cls: type[Any], parameters: Mapping[str, Any]) -> None:
    """Raise an error if a parameter of a method has a value that is not allowed."""
    defaults = cls.defaults()
    for name, values in allowed_values(cls).items():
        if name not in parameters:  # one that the grid sets
            continue
        value = parameters[name]
        known = values if isinstance(values, Bounds) else values.values
        if value not in known and not (value is None and defaults[name] is None):
            raise HashbenchError(
                f"parameter {name} of {cls.name}: found {value!r}; "
                f"allowed: {in_words(values, defaults[name])}"
            )


def allowed_error(cls: type[Any]) -> str:
    """Return why the declarations of a method cannot be used; an empty text if they can."""
    declared = vars(cls).get("allowed", {})
    defaults = cls.defaults()
    if not isinstance(declared, Mapping):
        return f"found {declared!r}; allowed: a dictionary of Bounds and Choice"
    for name, values in declared.items():
        if name not in defaults:
            return f"found {name!r}; allowed: {', '.join(defaults)}"
        if not isinstance(values, Bounds | Choice):
            return f"found {name}={values!r}; allowed: Bounds and Choice"
    try:
        check_parameters(cls, defaults)
    except HashbenchError as error:
        return f"the default is not allowed: {error}"
    return ""
