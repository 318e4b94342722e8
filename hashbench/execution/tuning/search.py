"""Tuning: points of a method's space, tried on training rows alone, and the best of them.

A search belongs to one method on one split at one code length. Its points are fixed beforehand:
point 0 is the method as it was asked for, with the dataset's own preprocessing; the others are a
scrambled Sobol sequence over the space and the preprocessings. None depends on the outcome of
another, so trials are cells like any others, in any order, on any machine. They are trained and
searched on a part of the training rows, and asked by the rest of them: queries do not exist there.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from hashbench.core.errors import HashbenchError
from hashbench.data.preprocessing import SEARCHED, parse
from hashbench.execution.cell import Cell
from hashbench.execution.study import Study
from hashbench.execution.tuning.trials import TrialRecord
from hashbench.measures import parse_many
from hashbench.plugins.registry import Registry
from hashbench.plugins.selection import format_value
from hashbench.plugins.space import Choice, Space, point

#: Points of a search that is limited by time alone.
MOST_POINTS = 256

#: Points of such a search that are started before their times are known.
MOST_AHEAD = 8


@dataclass(frozen=True)
class Point:
    """A point of a search: parameters of the space, and one preprocessing a view."""

    settings: Mapping[str, Any] = field(hash=False)
    preprocessing: tuple[str, ...]


@dataclass(frozen=True)
class Search:
    """What is tried for one method on one split.

    Attributes
    ----------
    cell : the method as it was asked for, at the code length of the search
    validation : the name of the split of its training rows
    measure : what is to be as large as possible, in the mean over the tasks
    points : in order; the first is `cell` itself
    """

    cell: Cell
    validation: str
    measure: str
    points: tuple[Point, ...]

    @cached_property
    def id(self) -> str:
        """A hash of what all its trials have in common; more points make no other search."""
        text = f"{self.cell.id} {self.validation} {self.measure}"
        return hashlib.sha256(text.encode()).hexdigest()[:20]

    @cached_property
    def trials(self) -> list[Cell]:
        """The cell of every point."""
        return [self._trial(each) for each in self.points]

    def _trial(self, chosen: Point) -> Cell:
        shown = [self.cell.params] if self.cell.params else []
        shown += [f"{name}={format_value(value)}" for name, value in chosen.settings.items()]
        if chosen.preprocessing != self.cell.preprocessing:
            shown.append(f"preprocess={chosen.preprocessing[0]}")
        return replace(
            self.cell,
            split=self.validation,
            preprocessing=chosen.preprocessing,
            params=",".join(shown),
            parameters={**self.cell.parameters, **chosen.settings},
        )

    def tuned(self, cell: Cell, index: int) -> Cell:
        """Return a cell of this method, of any code length, with what one of the points says."""
        chosen = self.points[index]
        return replace(
            cell,
            preprocessing=chosen.preprocessing,
            parameters={**cell.parameters, **chosen.settings},
            tuned=True,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the search as JSON can hold it, its cell by its id."""
        points = [[dict(each.settings), list(each.preprocessing)] for each in self.points]
        return {
            "cell": self.cell.id,
            "validation": self.validation,
            "measure": self.measure,
            "points": points,
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any], cells: Mapping[str, Cell]) -> Search:
        """Read what :meth:`to_json` wrote, given the cells by their ids."""
        points = tuple(Point(settings, tuple(steps)) for settings, steps in record["points"])
        return cls(cells[record["cell"]], record["validation"], record["measure"], points)


def make_searches(
    study: Study, registry: Registry, cells: Sequence[Cell], validations: Mapping[str, str]
) -> list[Search]:
    """Return a search for every method and split that is to be tuned.

    Parameters
    ----------
    study : how many points, at which code lengths
    registry : where methods say what may be tuned
    cells : what was asked for
    validations : for those of them that can be tuned, by id, the split of their training rows
    """
    if not study.tunes:
        return []
    numbers = [str(each) for each in parse_many(study.measures) if not each.is_curve]
    if not numbers:
        raise HashbenchError("tune: every measure of the study is a curve; allowed: a number first")
    lengths = study.bits if study.tune_bits == "each" else (middle(study.bits),)
    searches = []
    for cell in cells:
        if cell.id not in validations or cell.bits not in lengths:
            continue
        method = registry.methods[cell.method].cls
        fixed = {each.partition("=")[0] for each in cell.params.split(",")}
        space = {name: values for name, values in method.space.items() if name not in fixed}
        points = make_points(cell, space, method.tune_preprocessing, study.tune or MOST_POINTS)
        searches.append(Search(cell, validations[cell.id], numbers[0], points))
    return searches


def make_points(
    cell: Cell, space: Space, tune_preprocessing: bool, count: int
) -> tuple[Point, ...]:
    """Return the first so many points of a search.

    Parameters
    ----------
    cell : the method as it was asked for; what was set there by name is not in the space
    space : what may be tuned
    tune_preprocessing : whether preprocessings other than the dataset's own are tried
    count : how many points; more of them begin with the same ones

    The dataset's own preprocessing is tried beside the others, which hold for all views alike.
    """
    axes: dict[str, Any] = dict(space)
    own = cell.preprocessing
    others = [(text,) * len(own) for text in SEARCHED]
    several = [own] + [each for each in others if _steps(each) != _steps(own)]
    if tune_preprocessing:
        axes["preprocess"] = Choice(*map("|".join, several))
    by_name = {"|".join(each): each for each in several}
    what = [cell.method, cell.params, cell.dataset, str(cell.protocol), cell.seed]
    key = json.dumps([*what, {name: str(values) for name, values in axes.items()}])
    points = [Point({}, own)]
    for position in _sobol(count - 1, len(axes), key):
        settings = point(axes, position)
        steps = by_name[settings.pop("preprocess", "|".join(own))]
        points.append(Point(settings, steps))
    return tuple(points)


def _steps(texts: Sequence[str]) -> list[tuple[str, ...]]:
    return [parse(text) for text in texts]


def _sobol(count: int, dimensions: int, key: str) -> list[list[float]]:
    """Return points of the unit cube; a longer sequence begins with a shorter one."""
    if count < 1 or not dimensions:
        return []
    from scipy.stats import qmc  # a second to import

    seed = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "little")
    sequence = qmc.Sobol(dimensions, scramble=True, seed=np.random.default_rng(seed))
    found: list[list[float]] = sequence.random_base2(math.ceil(math.log2(count))).tolist()
    return found[:count]


def counted(search: Search, records: Mapping[str, TrialRecord], seconds: float | None) -> int:
    """Return how many points count: all, or those begun before their time was up.

    Only points with a record count, up to the first without one: the same trials give the same
    answer in whatever order they came. Point 0 always counts.
    """
    spent = 0.0
    for index, trial in enumerate(search.trials):
        if trial.id not in records or (index and seconds is not None and spent >= seconds):
            return index
        spent += records[trial.id].fit_seconds
    return len(search.points)


def due(search: Search, records: Mapping[str, TrialRecord], seconds: float | None) -> list[Cell]:
    """Return the trials that have to run next; none when the search is over."""
    missing = {trial.id: trial for trial in search.trials if trial.id not in records}
    if seconds is None:
        return list(missing.values())
    known = counted(search, records, seconds)
    spent = sum(records[trial.id].fit_seconds for trial in search.trials[:known])
    if known and spent >= seconds:
        return []
    left = math.inf if not spent else (seconds - spent) / (spent / known)
    ahead = search.trials[known : known + int(max(1, min(left, known, MOST_AHEAD)))]
    return list({trial.id: trial for trial in ahead if trial.id in missing}.values())


def winner(search: Search, records: Mapping[str, TrialRecord], seconds: float | None) -> int | None:
    """Return the best point, the earlier of equals; None if no trial has a score."""
    best, chosen = -math.inf, None
    for index, trial in enumerate(search.trials[: counted(search, records, seconds)]):
        score = records[trial.id].score
        if score > best:
            best, chosen = score, index
    return chosen


def middle(bits: Sequence[int]) -> int:
    """Return the code length that a study is tuned at.

    Examples
    --------
    >>> middle([8, 16, 32]), middle([64, 16]), middle([32])
    (16, 64, 32)
    """
    return sorted(bits)[len(bits) // 2]
