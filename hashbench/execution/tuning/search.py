"""Searches: which parameters are tried for a method, and which of them are best.

A search belongs to one method on one split at one code length. Its points are fixed in advance:
point 0 is the method as selected, with the dataset's own preprocessing; the others are a scrambled
Sobol sequence over the method's space and the preprocessings. No point depends on the outcome of
another, so trials are cells that can run in any order on any machine. Trials see training rows
only, divided into rows to fit, a database that was not fitted, and validation queries.
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
from hashbench.plugins.selection import format_value, parse_params
from hashbench.plugins.space import Choice, Space, point

#: Records of trials by their ids.
Records = Mapping[str, TrialRecord]


@dataclass(frozen=True)
class Point:
    """A point of a search: parameters of the method, and one preprocessing per view."""

    settings: Mapping[str, Any] = field(hash=False)
    preprocessing: tuple[str, ...]


@dataclass(frozen=True)
class Search:
    """The points that are tried for one method on one split.

    Attributes
    ----------
    cell : the method as selected, at the code length of the search
    validation : name of the split of its training rows
    measure : the measure to maximise, averaged over the tasks
    points : in order; the first is `cell` itself
    """

    cell: Cell
    validation: str
    measure: str
    points: tuple[Point, ...]

    @cached_property
    def id(self) -> str:
        """A hash of what all trials share: adding points does not change it."""
        text = f"{self.cell.id} {self.validation} {self.measure}"
        return hashlib.sha256(text.encode()).hexdigest()[:20]

    @cached_property
    def trials(self) -> list[Cell]:
        """The cell of every point."""
        return [self._trial_cell(each) for each in self.points]

    def _trial_cell(self, tried: Point) -> Cell:
        params = [self.cell.params] if self.cell.params else []
        params += [f"{name}={format_value(value)}" for name, value in tried.settings.items()]
        if tried.preprocessing != self.cell.preprocessing:
            params.append(f"preprocess={tried.preprocessing[0]}")
        return replace(
            self.cell,
            split=self.validation,
            preprocessing=tried.preprocessing,
            params=",".join(params),
            parameters={**self.cell.parameters, **tried.settings},
        )

    def tuned(self, cell: Cell, index: int) -> Cell:
        """Return a cell of this method, at any code length, with the values of a point."""
        tried = self.points[index]
        return replace(
            cell,
            preprocessing=tried.preprocessing,
            parameters={**cell.parameters, **tried.settings},
            tuned=True,
        )

    def missing(self, records: Records) -> list[Cell]:
        """Return the trials without a record; two points with the same values are one trial."""
        return list({trial.id: trial for trial in self.trials if trial.id not in records}.values())

    def best_point(self, records: Records) -> int | None:
        """Return the index of the best point, the first of equals; None if none has a score."""
        best, chosen = -math.inf, None
        for index, trial in enumerate(self.trials):
            score = records[trial.id].score if trial.id in records else math.nan
            if score > best:
                best, chosen = score, index
        return chosen


def make_searches(
    study: Study, registry: Registry, cells: Sequence[Cell], validations: Mapping[str, str]
) -> list[Search]:
    """Return one search for every method, split and code length to tune.

    Parameters
    ----------
    study : how many points, at which code lengths
    registry : methods with their spaces
    cells : the cells of the study
    validations : for the cells that can be tuned, by id, the name of their validation split
    """
    if study.tune is None:
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
        fixed = parse_params(cell.params)
        space = {name: values for name, values in method.space.items() if name not in fixed}
        points = make_points(cell, space, method.tune_preprocessing, study.tune)
        validation = validations[cell.id]
        searches.append(Search(cell, validation, numbers[0], points))
    return searches


def make_points(
    cell: Cell, space: Space, tune_preprocessing: bool, count: int
) -> tuple[Point, ...]:
    """Return the first points of a search; a larger count begins with the same points.

    Parameters
    ----------
    cell : the method as selected; parameters that were selected by name are not in the space
    space : parameters to tune
    tune_preprocessing : whether other preprocessings than the dataset's own are tried; these are
        the same for all views
    count : number of points
    """
    axes: dict[str, Any] = dict(space)
    own = cell.preprocessing
    own_steps = [parse(text) for text in own]
    others = [(text,) * len(own) for text in SEARCHED if [parse(text)] * len(own) != own_steps]
    by_name = {"|".join(each): each for each in (own, *others)}
    if tune_preprocessing:
        axes["preprocess"] = Choice(*by_name)
    identity = [cell.method, cell.params, cell.dataset, str(cell.protocol), cell.seed]
    key = json.dumps([*identity, {name: str(values) for name, values in axes.items()}])
    points = [Point({}, own)]
    for position in _sobol(count - 1, len(axes), key):
        settings = point(axes, position)
        steps = by_name[settings.pop("preprocess", "|".join(own))]
        points.append(Point(settings, steps))
    return tuple(points)


def _sobol(count: int, dimensions: int, key: str) -> list[list[float]]:
    """Return points of the unit cube; a longer sequence begins with a shorter one."""
    if count < 1 or not dimensions:
        return []
    from scipy.stats import qmc  # a second to import

    seed = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "little")
    sequence = qmc.Sobol(dimensions, scramble=True, seed=np.random.default_rng(seed))
    found: list[list[float]] = sequence.random_base2(math.ceil(math.log2(count))).tolist()
    return found[:count]


def middle(bits: Sequence[int]) -> int:
    """Return the code length at which a study is tuned.

    Examples
    --------
    >>> middle([8, 16, 32]), middle([64, 16]), middle([32])
    (16, 64, 32)
    """
    return sorted(bits)[len(bits) // 2]
