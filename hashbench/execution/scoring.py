"""A done cell, evaluated: its scores, curves and code statistics.

Everything here follows from stored codes and labels. Evaluating costs a pass over each part of the
database for each task and kind of codes, so that it is done once, for tables, reports and page
together, and remembered: see :mod:`hashbench.execution.score_cache`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from hashbench.core.units import json_number
from hashbench.data.splits import Searched, SearchTask, StoredSplit
from hashbench.execution.cell_codes import CellCodes
from hashbench.execution.score_cache import EvaluatedCell, PerQuery, RankingScores
from hashbench.execution.store import Stored
from hashbench.measures import Evaluation, code_statistics, evaluate_ranking, parse
from hashbench.measures.inner_product import ScoreRanking
from hashbench.measures.query_values import round_ranks
from hashbench.measures.rankings import HammingRanking, Ranking
from hashbench.plugins.protocol import ALL, ENCODED, LEARNED, SEEN


def evaluate_cell(
    stored: Stored, split: StoredSplit, names: Sequence[str], known: EvaluatedCell | None = None
) -> tuple[EvaluatedCell, dict[tuple[str, str, Searched], PerQuery]]:
    """Return a done cell's numbers, and those of the first measure query by query.

    Parameters
    ----------
    stored : the cell
    split : labels and rows, from the store
    names : measures by their canonical names, see `all_names`; those that a method without codes
        cannot have are left out
    known : what need not be computed again
    """
    codes = stored.codes()
    hamming = codes.n_bits is not None
    wanted = [name for name in names if hamming or parse(name).has_ties]
    main = next((name for name in wanted if not parse(name).is_curve), None)
    found: list[RankingScores] = []
    per_query: dict[tuple[str, str, Searched], PerQuery] = {}
    choices = searched_parts(stored, codes, split)
    for searched, task in itertools.product(choices, split.tasks):
        old = RankingScores(task.name, searched) if known is None else known.rankings[len(found)]
        lacking = [
            name for name in wanted if name == main or name not in {**old.scores, **old.curves}
        ]
        outcome = scored(make_ranking(codes, split, searched, task), lacking, split.copied(task))
        scores, curves = _plain(outcome)
        found.append(
            RankingScores(task.name, searched, {**old.scores, **scores}, {**old.curves, **curves})
        )
        if main is not None:
            per_query[main, task.name, searched] = np.asarray(outcome.scores[main].per_query)
    statistics = database_statistics(codes, split, choices) if known is None else known.codes
    return EvaluatedCell(found, statistics, hamming), per_query


def scored(
    ranking: Ranking, names: Sequence[str], left_out: npt.NDArray[np.bool_] | None = None
) -> Evaluation:
    """Return everything that is kept of a ranking; it leaves out what vectors cannot have."""
    limited: AbstractContextManager[object] = nullcontext()
    if not isinstance(ranking, HammingRanking):
        names = [name for name in names if parse(name).has_ties]
        # Inner products depend on the number of threads in their last bits; distances do not.
        limited = threadpool_limits(1, user_api="blas")
    ranks = curve_ranks(ranking.n_database)
    with limited:
        return evaluate_ranking(
            ranking,
            names,
            ranks=ranks,
            bounds=True,
            chance=True,
            per_query=True,
            left_out=left_out,
        )


def encoded_scores(codes: CellCodes, split: StoredSplit, measure: str) -> dict[str, float]:
    """Return one measure by task, of encoded codes of the part that tables show by default.

    Nothing if the measure is not for these codes.
    """
    if codes.n_bits is None and not parse(measure).has_ties:
        return {}
    if not split.n_labels and not parse(measure).needs_pairs:
        measure = "RR(relevant=pair)"
    found = {}
    for task in split.tasks:
        ranking = make_ranking(codes, split, Searched(split.parts[0], ENCODED), task)
        evaluation = evaluate_ranking(ranking, [measure], left_out=split.copied(task))
        found[task.name] = float(evaluation[measure])
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


def database_statistics(
    codes: CellCodes, split: StoredSplit, choices: Iterable[Searched]
) -> list[dict[str, Any]]:
    """Return what `code_statistics` says of the codes of every part and view; none for vectors."""
    if codes.n_bits is None:
        return []
    found = []
    for searched in choices:
        shared = searched.codes == LEARNED and len(codes.learned) == 1
        labels = split.database_labels[split.positions(searched.database)]
        for view, name in enumerate(("",) if shared else split.view_names):
            statistics = code_statistics(
                codes.searched(split, searched, view), codes.n_bits, labels
            )
            found.append({**searched._asdict(), "view": name, **asdict(statistics)})
    return found


def searched_parts(stored: Stored, codes: CellCodes, split: StoredSplit) -> list[Searched]:
    """Return what can be searched, that which tables show by default first.

    Learned codes are scored where all seen rows have some; unlabelled rows have none.
    """
    unknown = stored.record.training_unknown and len(split.parts) > 1
    parts = (ALL,) if unknown else split.parts
    found = [Searched(part, ENCODED) for part in parts]
    whole = bool(codes.learned) and len(codes.learned[0]) == len(split.train)
    if SEEN in parts and whole and split.learned_rows is not None:
        found.append(Searched(SEEN, LEARNED))
    return found


def make_ranking(
    codes: CellCodes, split: StoredSplit, searched: Searched, task: SearchTask
) -> Ranking:
    """Return the ranking of one task for a part of the database."""
    query, database = codes.query[task.asked], codes.searched(split, searched, task.searched)
    positions = split.positions(searched.database)
    labels = split.query_labels, split.database_labels[positions]
    pairs = None if split.n_labels else split.partners(searched.database)
    if codes.n_bits is None:
        return ScoreRanking(query, database, *labels, pairs)
    return HammingRanking(query, database, codes.n_bits, *labels, pairs)
