"""Numbers of cells that have been asked for, as many as memory can hold.

Curves are most of what is known of a cell, and no report draws those of all cells at once: scores
stay, curves are read again from ``OUT/.evaluated`` once too many are here. Scores are held as bare
numbers, and names once for all cells: a dictionary each would be six times the size.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from hashbench.execution.score_cache import EvaluatedCell, RankingScores

#: Cells whose curves are held at once: those of one code length, in most studies.
CURVES_HELD = 2500

#: What is known of a score, in the order of its numbers here.
FIELDS = ("value", "low", "high", "chance", "chance_error")


class HeldScores(Mapping[str, Mapping[str, float | None]]):
    """Scores by measure, as numbers in a row: nan where there is none.

    Parameters
    ----------
    scores : as in `RankingScores`
    """

    __slots__ = ("_numbers", "_places")

    def __init__(self, scores: Mapping[str, Mapping[str, float | None]]) -> None:
        self._places = _places(tuple(scores))
        found = (entry[field] for entry in scores.values() for field in FIELDS)
        self._numbers = array("d", [np.nan if each is None else each for each in found])

    def __getitem__(self, name: str) -> dict[str, float | None]:
        place = self._places[name]
        numbers = self._numbers[place : place + len(FIELDS)]
        # only nan differs from itself
        return {f: None if each != each else each for f, each in zip(FIELDS, numbers, strict=True)}

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


@cache
def _places(names: tuple[str, ...]) -> dict[str, int]:
    """Return where the numbers of each measure begin: the same object for the same measures."""
    return {name: len(FIELDS) * place for place, name in enumerate(names)}


class AtHand:
    """Scores of all cells that have been asked for, and curves of the last ones."""

    def __init__(self) -> None:
        self._scores: dict[str, EvaluatedCell] = {}
        self._curves: dict[str, EvaluatedCell] = {}

    def get(self, cell_id: str, curves: bool) -> EvaluatedCell | None:
        """Return the numbers of a cell, with its curves if these are wanted; None if not here."""
        return (self._curves if curves else self._scores).get(cell_id)

    def put(self, cell_id: str, evaluated: EvaluatedCell) -> None:
        """Take in the numbers of a cell, with its curves."""
        if len(self._curves) >= CURVES_HELD:
            self._curves.clear()
        scores = [
            RankingScores(_once(each.task), _once(each.database), HeldScores(each.scores), NONE)
            for each in evaluated.rankings
        ]
        curves = [
            replace(held, curves=_as_arrays(each.curves))
            for held, each in zip(scores, evaluated.rankings, strict=True)
        ]
        codes = [
            {_once(name): _once(value) for name, value in each.items()} for each in evaluated.codes
        ]
        self._scores[cell_id] = replace(evaluated, rankings=scores, codes=codes)
        self._curves[cell_id] = replace(evaluated, rankings=curves, codes=codes)


#: The curves of all that have none here.
NONE: Mapping[str, Mapping[str, Any]] = {}


def _once(value: Any) -> Any:
    """Return a text as the one object that all equal texts share; anything else as it is."""
    return sys.intern(value) if type(value) is str else value


def _as_arrays(curves: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return curves a quarter the size: lists as arrays, None as nan."""
    return {
        _once(name): {
            _once(key): np.asarray(value, np.int64 if key == "x" else np.float64)
            if isinstance(value, list)
            else value
            for key, value in curve.items()
        }
        for name, curve in curves.items()
    }
