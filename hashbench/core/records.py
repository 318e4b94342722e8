"""Dataclasses as JSON records and back, checked against their type hints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from hashbench.core.errors import DamagedError

T = TypeVar("T")


def to_json(record: object) -> dict[str, Any]:
    """Return a dataclass as a mapping that JSON can hold; dataclasses inside become mappings.

    Examples
    --------
    >>> from dataclasses import make_dataclass
    >>> Point = make_dataclass("Point", [("x", float), ("names", tuple[str, ...])])
    >>> to_json(Point(0.5, ("a", "b")))
    {'x': 0.5, 'names': ('a', 'b')}
    """
    found: dict[str, Any] = msgspec.to_builtins(record)
    return found


def from_json(kind: type[T], record: Mapping[str, Any]) -> T:
    """Return the dataclass of a record; DamagedError if a field is missing or of another type.

    Lists become tuples where the type hint is a tuple. Fields that the class does not have are
    ignored.

    Examples
    --------
    >>> from dataclasses import make_dataclass
    >>> Point = make_dataclass("Point", [("x", float), ("names", tuple[str, ...])])
    >>> from_json(Point, {"x": 0.5, "names": ["a", "b"]})
    Point(x=0.5, names=('a', 'b'))
    >>> from_json(Point, {"x": "half", "names": []})
    Traceback (most recent call last):
    hashbench.core.errors.DamagedError: Expected `float`, got `str` - at `$.x`
    """
    try:
        return msgspec.convert(record, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise DamagedError(str(error)) from error
