"""Numbers of cells that have been asked for, as many as memory can hold.

Curves are most of what is known of a cell, and no report draws those of all cells at once: scores
stay, curves are read again from ``OUT/.evaluated`` once too many are here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hashbench.results.evaluated import EvaluatedCell

#: Cells whose curves are held at once: those of one code length, in most studies.
CURVES_HELD = 2500


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
        scores = [replace(ranking, curves={}) for ranking in evaluated.rankings]
        curves = [replace(each, curves=_as_arrays(each.curves)) for each in evaluated.rankings]
        self._scores[cell_id] = replace(evaluated, rankings=scores)
        self._curves[cell_id] = replace(evaluated, rankings=curves)


def _as_arrays(curves: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return curves a quarter the size: lists as arrays, None as nan."""
    return {
        name: {
            key: np.asarray(value, np.int64 if key == "x" else np.float64)
            if isinstance(value, list)
            else value
            for key, value in curve.items()
        }
        for name, curve in curves.items()
    }
