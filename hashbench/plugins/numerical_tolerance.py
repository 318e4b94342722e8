"""How far rounding moves a method's score: what was measured, shipped as data or by the user.

Discrete steps amplify rounding: a sign that turns early turns others. What the last digits of the
features can do to a score, or the order in which another processor adds, is no finding about the
method. ``research/sensitivity.py`` measures the built-in methods, ``hashbench check NAME
--sensitivity`` any other.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from hashbench.core.io import atomic_write
from hashbench.core.paths import cache_folder
from hashbench.plugins.selection import bare_name

#: Smaller changes are not reported: tables print four digits.
STEADY = 0.0005

FILE = "sensitivity.csv"  # in the package, and in the cache folder


@dataclass(frozen=True)
class Measured:
    """The largest changes of a method's AP on emoji at 16 bits.

    Attributes
    ----------
    float64, float32 : by changed last digits of the features, in each precision
    kernels : between kernels of OpenBLAS, with the same features
    seeds : number of splits and initialisations
    compared : the kernels, separated by spaces
    source : hash of the method's code
    """

    float64: float
    float32: float
    kernels: float
    seeds: int = 1
    compared: str = ""
    source: str = ""

    @property
    def largest(self) -> float:
        """The largest of the changes."""
        return max(self.float64, self.float32, self.kernels)


def read(path: Path) -> dict[str, Measured]:
    """Return what a file has, by method; empty if there is none."""
    if not path.exists():
        return {}
    kinds: dict[str, Callable[[str], Any]] = {"seeds": int, "compared": str, "source": str}
    found = {}
    for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
        names = [each.name for each in fields(Measured)]
        values = {each: kinds.get(each, float)(row[each]) for each in names}
        found[row["method"]] = Measured(**values)
    return found


def write(path: Path, found: Mapping[str, Measured]) -> None:
    """Write a file, sorted by method."""
    header = ["method", *(each.name for each in fields(Measured))]
    lines = [[name, *_texts(asdict(found[name]).values())] for name in sorted(found)]
    text = "".join(f"{','.join(line)}\n" for line in (header, *lines))
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as stream:
        stream.write(text)


def _texts(values: Iterable[object]) -> list[str]:
    return [f"{value:.5f}" if isinstance(value, float) else str(value) for value in values]


def shipped() -> Path:
    """Return the file in the package."""
    return Path(str(resources.files("hashbench.resources"))) / FILE


def store(name: str, found: Measured) -> Path:
    """Store what a user has measured, and return the file."""
    path = cache_folder() / FILE
    write(path, {**read(path), name: found})
    measured.cache_clear()
    return path


@cache
def measured() -> dict[str, Measured]:
    """Return what is known by method; what the user has measured here comes first."""
    return {**read(shipped()), **read(cache_folder() / FILE)}


def tolerance(label: str) -> float:
    """Return how far rounding may move a score of a method, zero where nobody has measured it.

    Examples
    --------
    >>> tolerance("no-such-method[lam=2]")
    0.0
    """
    found = measured().get(bare_name(label))
    return found.largest if found else 0.0


def words(name: str) -> str:
    """Return a method's tolerance in words."""
    found = measured().get(name)
    if found is None:
        return f"not measured; hashbench check {name} --sensitivity measures it"
    said = f"up to {found.largest:.4f}" if found.largest >= STEADY else f"by less than {STEADY}"
    seeds = "1 seed" if found.seeds == 1 else f"{found.seeds} seeds"
    return f"moves scores {said} (16 bits on emoji, {seeds})"
