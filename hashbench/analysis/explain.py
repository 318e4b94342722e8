"""Find which protocol and measure give a printed number."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from hashbench.analysis.number_variants import Reading, Values
from hashbench.analysis.published import published
from hashbench.core.errors import HashbenchError
from hashbench.plugins.selection import bare_name

#: Values closer than this are the same number under several names.
SAME = 1e-9

#: Matches by chance are estimated from the readings within so many tolerances.
AROUND = 10


#: Readings that are kept beside those within the tolerance.
NEAREST = 3


@dataclass(frozen=True)
class Match:
    """Readings that give the same number.

    Attributes
    ----------
    readings : all of them, the simplest first
    tasks : the task of each printed number
    values : what they give
    difference : the largest distance from a printed number
    """

    readings: Sequence[Reading]
    tasks: tuple[str, ...]
    values: tuple[float, ...]
    difference: float


@dataclass(frozen=True)
class Explanation:
    """What was found for printed numbers.

    Attributes
    ----------
    printed, tolerance : what was asked
    matches : within the tolerance, the best first
    nearest : the nearest others
    tried : number of readings
    by_chance : how many readings would be within the tolerance if numbers around it were random
    printed_in : lines about tables of papers that have the number
    """

    printed: tuple[float, ...]
    tolerance: float
    matches: Sequence[Match]
    nearest: Sequence[Match]
    tried: int
    by_chance: float
    printed_in: Sequence[str] = field(default_factory=tuple)


def parse_number(text: str) -> tuple[float, float]:
    """Return a printed number and half a unit of its last digit.

    Examples
    --------
    >>> parse_number("0.4777"), parse_number(".5")
    ((0.4777, 5e-05), (0.5, 0.05))
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise HashbenchError(f"number: found {text!r}; allowed: 0 to 1, as in 0.4777")
    digits = len(text.partition(".")[2])
    return value, round(0.5 * 10**-digits, 12)


def explain_numbers(
    printed: Sequence[float],
    readings: Iterable[tuple[Reading, Values]],
    tolerance: float,
    task: str | None = None,
    rounding: float = 0.0,
) -> Explanation:
    """Return which readings give printed numbers within a tolerance.

    Parameters
    ----------
    printed : one number, of any task; or one per task in the order of tasks
    readings : what is tried
    tolerance : largest difference of each number
    task : the task of a single number
    rounding : half a unit of the last printed digit: smaller differences mean nothing
    """
    found: dict[tuple[object, ...], tuple[list[Reading], tuple[str, ...], tuple[float, ...]]] = {}
    tried = 0
    for reading, values in readings:
        for tasks in _tasks(printed, list(values), task):
            tried += 1
            chosen = tuple(values[name] for name in tasks)
            key = (reading.dataset, reading.method, reading.bits, reading.searched,
                   reading.seeds, reading.source, tasks,
                   *(round(value / SAME) for value in chosen))  # fmt: skip
            found.setdefault(key, ([], tasks, chosen))[0].append(reading)
    every = [
        Match(
            sorted(own, key=lambda each: (each.copies, len(each.measure), each.measure)),
            tasks,
            values,
            max(abs(a - b) for a, b in zip(values, printed, strict=True)),
        )
        for own, tasks, values in found.values()
        if not any(math.isnan(value) for value in values)
    ]
    # floats: a number at the border of rounding counts
    limit = tolerance * (1 + 1e-6)
    every.sort(key=lambda each: _order(each, rounding))
    matches = [each for each in every if each.difference <= limit]
    others = [each for each in every if each.difference > limit]
    around = sum(each.difference <= AROUND * limit for each in every)
    by_chance = around / AROUND ** len(printed)
    return Explanation(tuple(printed), tolerance, matches, others[:NEAREST], tried, by_chance)


def _tasks(
    printed: Sequence[float], names: Sequence[str], task: str | None
) -> Iterable[tuple[str, ...]]:
    if task is not None and task not in names:
        raise HashbenchError(f"task: found {task!r}; allowed: {', '.join(names)}")
    if len(printed) == 1:
        return [(name,) for name in names if task in (None, name)]
    if len(printed) != len(names):
        raise HashbenchError(
            f"numbers: found {len(printed)}; allowed: one, or one per task ({', '.join(names)})"
        )
    return [tuple(names)]


def _order(match: Match, rounding: float) -> tuple[object, ...]:
    """Return a key that is small for good matches: near, over all seeds, the simplest first."""
    first, difference = match.readings[0], match.difference
    rounded = 0.0 if difference <= rounding * (1 + 1e-6) else difference
    return rounded, -len(first.seeds), first.copies, len(first.measure), difference


def printed_in(
    printed: Sequence[float], tolerance: float, method: str, dataset: str, bits: int
) -> list[str]:
    """Return a line for each number of a paper's table that is one of these."""
    lines = []
    for paper in published():
        names = {
            name
            for name, facts in paper.datasets.items()
            if bare_name(dataset) in (name, *facts["names"])
        }
        for row in paper.numbers.to_dict("records"):
            quantity = paper.quantities[str(row["quantity"])].get("measure")
            if quantity is None or row["method"] != bare_name(method) or row["bits"] != bits:
                continue
            if row["dataset"] in names and any(
                abs(float(row["value"]) - value) <= tolerance * (1 + 1e-6) for value in printed
            ):
                lines.append(
                    f"printed in {paper.paper}: {row['value']} ({row['quantity']}, {row['task']}, "
                    f"{row['dataset']}), taken as {quantity}; {paper.protocol}"
                )
    return lines
