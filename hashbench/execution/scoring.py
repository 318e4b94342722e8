"""A done cell, evaluated: its scores, curves and code statistics.

Everything here follows from stored codes and labels. Evaluating costs a pass over the database
for each task and kind of database codes, so that it is done once, for tables, reports and page
together, and remembered: see :mod:`hashbench.execution.score_cache`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from hashbench.core.codes import Words
from hashbench.core.units import json_number
from hashbench.data.splits import SearchTask, StoredSplit
from hashbench.execution.cell_codes import CellCodes
from hashbench.execution.score_cache import EvaluatedCell, PerQuery, RankingScores
from hashbench.execution.store import Stored
from hashbench.measures import Evaluation, code_statistics, evaluate_ranking, parse
from hashbench.measures.inner_product import ScoreRanking
from hashbench.measures.query_values import round_ranks
from hashbench.measures.rankings import HammingRanking, Ranking


def evaluate_cell(
    stored: Stored, split: StoredSplit, names: Sequence[str], known: EvaluatedCell | None = None
) -> tuple[EvaluatedCell, dict[tuple[str, str, str], PerQuery]]:
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
    per_query: dict[tuple[str, str, str], PerQuery] = {}
    for kind, task in rankings(codes, split):
        old = RankingScores(task.name, kind) if known is None else known.rankings[len(found)]
        lacking = [
            name for name in wanted if name == main or name not in {**old.scores, **old.curves}
        ]
        outcome = scored(make_ranking(codes, split, kind, task), lacking)
        scores, curves = _plain(outcome)
        found.append(
            RankingScores(task.name, kind, {**old.scores, **scores}, {**old.curves, **curves})
        )
        if main is not None:
            per_query[main, task.name, kind] = np.asarray(outcome.scores[main].per_query)
    statistics = database_statistics(codes, split) if known is None else known.codes
    return EvaluatedCell(found, statistics, hamming), per_query


def scored(ranking: Ranking, names: Sequence[str]) -> Evaluation:
    """Return everything that is kept of a ranking; it leaves out what vectors cannot have."""
    limited: AbstractContextManager[object] = nullcontext()
    if not isinstance(ranking, HammingRanking):
        names = [name for name in names if parse(name).has_ties]
        # Inner products depend on the number of threads in their last bits; distances do not.
        limited = threadpool_limits(1, user_api="blas")
    ranks = curve_ranks(ranking.n_database)
    with limited:
        return evaluate_ranking(
            ranking, names, ranks=ranks, bounds=True, chance=True, per_query=True
        )


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
