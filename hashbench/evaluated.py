"""A done cell, evaluated: its scores, curves and code statistics, remembered on disk.

Everything here follows from stored codes and labels. Evaluating costs a pass over the database
for each task and kind of database codes, so that the outcome is kept in ``OUT/.evaluated``, a
file a cell. The folder may be deleted at any time; a file that belongs to other codes, or that
another version of the evaluator made, is ignored.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.codes import unpack
from hashbench.errors import HashbenchError
from hashbench.measures import Evaluation, evaluate_ranking, parse
from hashbench.measures.evaluation import round_ranks
from hashbench.results import Arrays, evaluator_hash, learned_names, make_ranking, rankings
from hashbench.store import Stored, replacing

FOLDER = ".evaluated"

#: Curves that reports draw; what speaks of a radius is left out where there are no codes.
CURVES = ("PR", "PR(by=radius)", "PR(by=radius,mean=micro)")


@dataclass(frozen=True)
class RankingScores:
    """What one task gives for one kind of database codes.

    Attributes
    ----------
    task : ``image->text``, or another pair of views
    database : "encoded" or "learned"
    scores : measure -> value, low, high, chance; the last three may be None
    curves : measure -> axis, x, precision, recall
    """

    task: str
    database: str
    scores: dict[str, dict[str, float | None]] = field(default_factory=dict)
    curves: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class EvaluatedCell:
    """A cell's numbers.

    Attributes
    ----------
    rankings : one a task and kind of database codes
    codes : statistics of each stored set of codes, empty for methods without codes
    """

    rankings: list[RankingScores]
    codes: list[dict[str, Any]]

    def has(self, measures: Iterable[str]) -> bool:
        """Say whether all of these are known, so far as they exist without codes."""
        # what does not depend on the order of items speaks of a Hamming radius
        wanted = [name for name in measures if self.codes or parse(name).has_ties]
        return all(
            {*ranking.scores, *ranking.curves}.issuperset(wanted) for ranking in self.rankings
        )


def evaluate_cell(
    stored: Stored, split: Arrays, measures: Sequence[str], out: Path
) -> EvaluatedCell:
    """Return a done cell's numbers for at least the given measures, and the curves.

    Parameters
    ----------
    stored : the cell
    split : labels and rows, from the store
    measures : names of measures; those that a method without codes cannot have are left out
    out : the folder of results, where the outcome is remembered
    """
    names = [str(parse(name)) for name in (*measures, *CURVES)]
    place = out / FOLDER / f"{stored.cell.id}.json"
    known = _read(place, _stamp(stored))
    if known is not None and known.has(names):
        return known
    evaluated = _evaluate(stored, split, names, known)
    _write(place, _stamp(stored), evaluated)
    return evaluated


def _evaluate(
    stored: Stored, split: Arrays, names: Sequence[str], known: EvaluatedCell | None
) -> EvaluatedCell:
    codes = stored.codes()
    views = [str(name) for name in split["view_names"]]
    wanted = [name for name in names if "n_bits" in codes or parse(name).has_ties]
    found: list[RankingScores] = []
    for kind, asked, searched in rankings(codes, split):
        ranking = make_ranking(codes, split, kind, asked, searched)
        ranks = curve_ranks(ranking.n_database)
        outcome = evaluate_ranking(ranking, wanted, ranks=ranks, bounds=True, chance=True)
        scores, curves = _plain(outcome)
        if known is not None:  # measures asked for earlier stay
            old = known.rankings[len(found)]
            scores, curves = {**old.scores, **scores}, {**old.curves, **curves}
        found.append(RankingScores(f"{views[asked]}->{views[searched]}", kind, scores, curves))
    return EvaluatedCell(found, list(code_statistics(codes, views)))


def curve_ranks(n_database: int) -> npt.NDArray[np.int64]:
    """Return ranks that are dense enough on a logarithmic axis of ranks and on one of recall."""
    even = np.linspace(1, n_database, min(n_database, 41)).round().astype(np.int64)
    return np.union1d(round_ranks(n_database), even)


def _plain(
    outcome: Evaluation,
) -> tuple[dict[str, dict[str, float | None]], dict[str, dict[str, Any]]]:
    """Return scores and curves as JSON can hold them."""
    scores = {}
    for name, score in outcome.scores.items():
        low, high = score.bounds or (None, None)
        entry = {"value": score.value, "low": low, "high": high, "chance": score.chance}
        scores[name] = {key: _number(value) for key, value in entry.items()}
    curves = {}
    for name, curve in outcome.curves.items():
        curves[name] = {
            "axis": curve.axis,
            "x": curve.x.tolist(),
            "precision": [_number(value) for value in curve.precision],
            "recall": [_number(value) for value in curve.recall],
        }
    return scores, curves


def _number(value: Any) -> float | None:
    return None if value is None or np.isnan(value) else float(value)


def code_statistics(codes: Arrays, views: Sequence[str]) -> list[dict[str, Any]]:
    """Return what can be said of codes without labels, a row a stored set of database codes.

    ``ones`` is the mean share of ones, ``imbalance`` the mean distance of a bit's share of ones
    from one half (0 to 0.5), ``constant`` the number of bits that never change, ``distinct`` the
    number of different codes, ``correlation`` the mean absolute correlation of two bits that do
    change, None if fewer than two do.
    """
    if "n_bits" not in codes:
        return []
    sets = {f"encoded {view}": f"database_{m}" for m, view in enumerate(views)}
    for name in learned_names(codes):
        view = name.removeprefix("learned").removeprefix("_")  # none if all views share the codes
        sets[f"learned {views[int(view)]}" if view else "learned"] = name
    n_bits = int(codes["n_bits"])
    return [{"codes": shown, **_statistics(codes[name], n_bits)} for shown, name in sets.items()]


def _statistics(words: npt.NDArray[np.uint64], n_bits: int) -> dict[str, Any]:
    bits = unpack(words, n_bits).astype(np.float64)
    ones = bits.mean(axis=0)
    changing = bits[:, (ones > 0) & (ones < 1)]
    correlation = None
    if changing.shape[1] > 1:
        matrix = np.abs(np.atleast_2d(np.corrcoef(changing, rowvar=False)))
        correlation = float(matrix[np.triu_indices(len(matrix), 1)].mean())
    return {
        "items": len(words),
        "ones": float(ones.mean()),
        "imbalance": float(np.abs(ones - 0.5).mean()),
        "constant": n_bits - changing.shape[1],
        "distinct": len(np.unique(words, axis=0)),
        "correlation": correlation,
    }


def _stamp(stored: Stored) -> dict[str, Any]:
    """Return what has to be equal for a remembered outcome to hold."""
    codes = stored.record["files"]["codes.npz"]
    return {"codes": codes, "evaluator": evaluator_hash(), "here": _own_hash()}


@cache
def _own_hash() -> str:
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]


def _read(place: Path, stamp: Mapping[str, Any]) -> EvaluatedCell | None:
    try:
        record = json.loads(place.read_text())
        if record["stamp"] != stamp:
            return None
        found = [RankingScores(**ranking) for ranking in record["rankings"]]
        return EvaluatedCell(found, record["codes"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(place: Path, stamp: Mapping[str, Any], evaluated: EvaluatedCell) -> None:
    try:
        place.parent.mkdir(exist_ok=True)
        with replacing(place) as stream:
            json.dump({"stamp": stamp, **asdict(evaluated)}, stream)
    except OSError as error:
        if not place.parent.parent.is_dir():
            raise HashbenchError(f"{place.parent.parent} is not a folder of results") from error
        # a folder that cannot be written to is read all the same
