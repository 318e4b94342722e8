"""Codes from anywhere, scored here or on a cluster."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy.typing as npt

from hashbench.execution.executor import Limits
from hashbench.measures import DEFAULT_MEASURES, Evaluation, Measure, parse_many
from hashbench.measures.evaluation import evaluate_ranking, summarise
from hashbench.measures.query_values import check_ranks, round_ranks
from hashbench.measures.rankings import HammingRanking, hamming_ranking


def evaluate(
    query_codes: Any,
    database_codes: Any,
    query_labels: Any,
    database_labels: Any,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    n_bits: int | None = None,
    pairs: Any = None,
    scheduler: str | None = None,
    **options: Any,
) -> Evaluation:
    """Score codes, wherever they come from.

    Parameters
    ----------
    query_codes, database_codes, query_labels, database_labels, measures, n_bits, pairs
        As for `hashbench.measures.evaluate`.
    scheduler : str, optional
        Address of a Dask scheduler, such as tcp://10.0.0.1:8786, whose workers take the queries
        in blocks; each holds a copy of the packed database. The numbers are the same.
    ranks, per_query, bounds, chance
        As for `hashbench.measures.evaluate`.

    Examples
    --------
    >>> codes, labels = [[0, 0], [0, 1], [1, 1]], [0, 0, 1]
    >>> evaluate([[0, 0]], codes, [0], labels, ["AP", "P@1"])
    Evaluation(AP: 1.0000, P@1: 1.0000; curves: none)
    """
    ranking = hamming_ranking(
        query_codes, database_codes, query_labels, database_labels, n_bits, pairs
    )
    return evaluate_at(scheduler, ranking, measures, **options)


def evaluate_at(
    scheduler: str | None,
    ranking: HammingRanking,
    measures: str | Measure | Iterable[str | Measure],
    *,
    ranks: npt.ArrayLike | None = None,
    per_query: bool = False,
    bounds: bool = False,
    chance: bool = False,
) -> Evaluation:
    """Score a ranking on a cluster; here without a scheduler."""
    if scheduler is None:
        return evaluate_ranking(
            ranking, measures, ranks=ranks, per_query=per_query, bounds=bounds, chance=chance
        )
    from hashbench.execution.dask import DaskExecutor
    from hashbench.execution.dask_scoring import compute_on

    wanted = parse_many(measures)
    grid = round_ranks(ranking.n_database) if ranks is None else check_ranks(ranks)
    executor = DaskExecutor(scheduler, 1, Limits(), ())
    try:
        return summarise(
            compute_on(executor, ranking, wanted, grid, bounds, chance), wanted, per_query
        )
    finally:
        executor.close()
