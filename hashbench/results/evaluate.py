"""A done cell, evaluated: its scores, curves and code statistics, remembered on disk.

Everything here follows from stored codes and labels. Evaluating costs a pass over the database
for each task and kind of database codes, so that the outcome is kept in ``OUT/.evaluated``, a
file a cell. The folder may be deleted at any time; a file that belongs to other codes, or that
another version of the evaluator made, is ignored.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.base.codes import Words
from hashbench.base.errors import HashbenchError
from hashbench.base.files import replacing
from hashbench.base.units import json_number
from hashbench.data.stored_split import SearchTask, StoredSplit
from hashbench.measures import Evaluation, code_statistics, evaluate_ranking, parse
from hashbench.measures.evaluation import round_ranks
from hashbench.measures.inner_product import ScoreRanking
from hashbench.measures.rankings import HammingRanking, Ranking
from hashbench.studies.cell_codes import CellCodes
from hashbench.studies.store import Stored

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
    scores : measure -> value, low, high, chance, chance_error; all but the first may be None
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
    hamming : whether the method has codes
    complete : whether more is known than values and chance: bounds, curves, statistics of codes
    """

    rankings: list[RankingScores]
    codes: list[dict[str, Any]]
    hamming: bool
    complete: bool

    def has(self, measures: Iterable[str]) -> bool:
        """Say whether all of these are known, so far as they exist without codes."""
        # what does not depend on the order of items speaks of a Hamming radius
        wanted = [name for name in measures if self.hamming or parse(name).has_ties]
        return all(
            {*ranking.scores, *ranking.curves}.issuperset(wanted) for ranking in self.rankings
        )


def evaluate_cell(
    stored: Stored, split: StoredSplit, measures: Sequence[str], out: Path, *, complete: bool = True
) -> EvaluatedCell:
    """Return a done cell's numbers for at least the given measures.

    Parameters
    ----------
    stored : the cell
    split : labels and rows, from the store
    measures : names of measures; those that a method without codes cannot have are left out
    out : the folder of results, where the outcome is remembered
    complete : with all that reports show besides: that costs three times as much as the values
    """
    wanted = (*measures, *tie_variants(measures), *CURVES) if complete else measures
    names = list(dict.fromkeys(str(parse(name)) for name in wanted))
    place = out / FOLDER / f"{stored.cell.id}.json"
    known = _read(place, _stamp(stored))
    if known is not None and complete and not known.complete:
        known = None
    if known is not None and known.has(names):
        return known
    evaluated = _evaluate(stored, split, names, known, complete or bool(known and known.complete))
    _write(place, _stamp(stored), evaluated)
    return evaluated


def tie_variants(measures: Sequence[str]) -> list[str]:
    """Return the first number as the report of ties shows it: expected and in database order."""
    numbers = [measure for measure in map(parse, measures) if not measure.is_curve]
    return [
        str(measure.with_(ties=ties))
        for measure in numbers[:1]
        for ties in ("expected", "index")
        if measure.has_ties and measure["missed"] != "skip"
    ]


def _evaluate(
    stored: Stored,
    split: StoredSplit,
    names: Sequence[str],
    known: EvaluatedCell | None,
    complete: bool,
) -> EvaluatedCell:
    codes = stored.codes()
    hamming = codes.n_bits is not None
    wanted = [name for name in names if hamming or parse(name).has_ties]
    found: list[RankingScores] = []
    for kind, task in rankings(codes, split):
        old = RankingScores(task.name, kind) if known is None else known.rankings[len(found)]
        lacking = [name for name in wanted if name not in {**old.scores, **old.curves}]
        ranking = make_ranking(codes, split, kind, task)
        ranks = curve_ranks(ranking.n_database)
        outcome = evaluate_ranking(ranking, lacking, ranks=ranks, bounds=complete, chance=True)
        scores, curves = _plain(outcome)
        found.append(
            RankingScores(task.name, kind, {**old.scores, **scores}, {**old.curves, **curves})
        )
    statistics = known.codes if known is not None else []
    if complete and not statistics:
        statistics = database_statistics(codes, split)
    return EvaluatedCell(found, statistics, hamming, complete)


def encoded_scores(codes: CellCodes, split: StoredSplit, measure: str) -> dict[str, float]:
    """Return one measure of encoded database codes by task; nothing if it is not for them."""
    if codes.n_bits is None and not parse(measure).has_ties:
        return {}
    found = {}
    for task in split.tasks:
        ranking = make_ranking(codes, split, "encoded", task)
        found[task.name] = float(evaluate_ranking(ranking, [measure])[measure])
    return found


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
        entry["chance_error"] = score.chance_error
        scores[name] = {key: json_number(value) for key, value in entry.items()}
    curves = {}
    for name, curve in outcome.curves.items():
        curves[name] = {
            "axis": curve.axis,
            "x": curve.x.tolist(),
            "precision": [json_number(value) for value in curve.precision],
            "recall": [json_number(value) for value in curve.recall],
        }
    return scores, curves


def database_statistics(codes: CellCodes, split: StoredSplit) -> list[dict[str, Any]]:
    """Return what `code_statistics` says of each stored set of database codes; none for vectors."""
    if codes.n_bits is None:
        return []
    sets: list[tuple[str, Words, Words | None]] = [
        (f"encoded {view}", words, split.database_labels)
        for view, words in zip(split.view_names, codes.database, strict=True)
    ]
    own = split.database_labels if split.database_is_train else None
    shared = len(codes.learned) == 1
    sets += [
        ("learned" if shared else f"learned {split.view_names[view]}", words, own)
        for view, words in enumerate(codes.learned)
    ]
    return [
        {"codes": shown, **asdict(code_statistics(words, codes.n_bits, labels))}
        for shown, words, labels in sets
    ]


def rankings(codes: CellCodes, split: StoredSplit) -> Iterator[tuple[str, SearchTask]]:
    """Yield what there is to score: a kind of database codes and a task.

    Learned codes exist for the rows that were trained on; they are scored where those are the
    database.
    """
    kinds = ["encoded"]
    if _learned_database(codes, split):
        kinds.append("learned")
    yield from itertools.product(kinds, split.tasks)


def _learned_database(codes: CellCodes, split: StoredSplit) -> bool:
    """Say whether every item of the database has learned codes; unlabelled rows have none."""
    whole = split.database_is_train
    return whole and bool(codes.learned) and len(codes.learned[0]) == len(split.database)


def make_ranking(codes: CellCodes, split: StoredSplit, kind: str, task: SearchTask) -> Ranking:
    """Return the ranking of one task for one kind of database codes."""
    query, database = codes.query[task.asked], codes.searched(kind, task.searched)
    labels = split.query_labels, split.database_labels
    if codes.n_bits is None:
        return ScoreRanking(query, database, *labels)
    return HammingRanking(query, database, codes.n_bits, *labels)


def _stamp(stored: Stored) -> dict[str, Any]:
    """Return what has to be equal for a remembered outcome to hold."""
    return {"codes": stored.record.files["codes.npz"], "evaluator": _evaluator_hash()}


@cache
def _evaluator_hash() -> str:
    """Return a hash of everything that turns codes into numbers."""
    digest = hashlib.sha256()
    here, house = Path(__file__), Path(__file__).parents[1]
    measures = sorted((house / "measures").glob("*.py"))
    for path in (*measures, house / "base" / "codes.py", here):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _read(place: Path, stamp: Mapping[str, Any]) -> EvaluatedCell | None:
    try:
        record = json.loads(place.read_text())
        if record["stamp"] != stamp:
            return None
        found = [RankingScores(**ranking) for ranking in record["rankings"]]
        return EvaluatedCell(found, record["codes"], record["hamming"], record["complete"])
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
