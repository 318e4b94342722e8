"""Values of measures for every query, before any mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hashbench.core.codes import Words
from hashbench.core.errors import HashbenchError
from hashbench.measures.grammar import Measure, Value
from hashbench.measures.ranked_items import (
    Counts,
    RankedItems,
    Ranks,
    Values,
    of_ranks,
    rank_curve,
)
from hashbench.measures.rankings import HammingRanking, Ranking


@dataclass(frozen=True)
class QueryValues:
    """Values of some queries, before any mean.

    Attributes
    ----------
    of_ranks : measure -> "value", "pessimistic", "optimistic", "chance", "n_relevant" -> values
    by_distance : relevance -> items at each Hamming distance, (queries, bits + 1, grades)
    grid : ranks of the points of curves by rank
    labels : packed labels of the queries
    left_out : (queries,) bool, queries that do not count
    """

    of_ranks: dict[Measure, dict[str, Values]]
    by_distance: dict[Value, Counts]
    grid: Ranks
    labels: Words
    left_out: npt.NDArray[np.bool_]


def compute(
    ranking: Ranking,
    wanted: Sequence[Measure],
    grid: Ranks,
    bounds: bool,
    chance: bool,
    left_out: npt.NDArray[np.bool_] | None = None,
) -> QueryValues:
    """Return the values of all queries of a ranking."""
    by_distance = _by_distance(ranking, wanted)
    variants = {m: _variants(m, bounds, chance) for m in wanted if m.has_ties}
    if left_out is None:
        left_out = np.zeros(ranking.n_queries, bool)
    of_ranks = _rank_values(ranking, variants, grid)
    return QueryValues(of_ranks, by_distance, grid, ranking.query_labels, left_out)


def round_ranks(n_database: int) -> Ranks:
    """Return the ranks 1, 2, ..., 9, 10, 20, ..., 90, 100, 200, ... and the last."""
    ranks = [digit * 10**power for power in range(len(str(n_database))) for digit in range(1, 10)]
    return np.array([*(rank for rank in ranks if rank < n_database), n_database])


def check_ranks(ranks: npt.ArrayLike) -> Ranks:
    """Return ranks given by the user as an array; refuse them if they are not ascending."""
    grid = np.asarray(ranks)
    if grid.ndim != 1 or grid.size == 0 or grid.dtype.kind not in "iu":
        raise HashbenchError(
            f"ranks: found shape {grid.shape} of {grid.dtype}; allowed: a list of whole numbers"
        )
    wrong = np.flatnonzero(np.diff(grid.astype(np.int64), prepend=0) <= 0)
    if wrong.size:
        at = wrong[0]
        found = f"{grid[at]} after {grid[at - 1]}" if at else f"{grid[at]}"
        raise HashbenchError(f"ranks: found {found}; allowed: ascending, from 1 up")
    return grid.astype(np.int64)


def _by_distance(ranking: Ranking, wanted: Sequence[Measure]) -> dict[Value, Counts]:
    """Return the items at each distance for measures by radius; check that all can be computed."""
    found: dict[Value, Counts] = {}
    for measure in wanted:
        if measure.needs_pairs and ranking.pairs is None:
            raise HashbenchError(
                f"measure {str(measure)!r} needs to know each query's partner in the database; "
                "give hashbench.evaluate(..., pairs=positions)"
            )
        if measure.has_ties:
            continue
        if not isinstance(ranking, HammingRanking):
            raise HashbenchError(
                f"measure {str(measure)!r} has a Hamming radius, which items ranked by inner "
                "product do not have; allowed: measures of ranks, such as AP and P@100"
            )
        found[measure.relevance] = ranking.distance_counts(measure.relevance)
    return found


def _variants(measure: Measure, bounds: bool, chance: bool) -> dict[str, str]:
    """Return the treatments of ties under which a measure is computed, by purpose."""
    variants = {"value": str(measure["ties"])}
    # a curve has no bounds, and no_hits=skip has no fixed set of queries over all orders
    if measure.is_curve or measure["no_hits"] == "skip":
        return variants
    if bounds:
        variants |= {each: each for each in ("pessimistic", "optimistic")}
    if chance:
        variants["chance"] = "expected"
    return variants


def _rank_values(
    ranking: Ranking, variants: Mapping[Measure, Mapping[str, str]], grid: Ranks
) -> dict[Measure, dict[str, Values]]:
    """Return every variant of every measure for all queries, and their relevant items."""
    if not variants:
        return {}
    depths: dict[Value, int] = {}
    for measure in variants:
        depth = _depth(measure, ranking.n_database, grid)
        depths[measure.relevance] = max(depth, depths.get(measure.relevance, 0))
    parts: dict[Measure, list[dict[str, Values]]] = {measure: [] for measure in variants}
    for block in ranking.blocks(depths):
        for measure, treatments in variants.items():
            items = block[measure.relevance]
            parts[measure].append(_block_values(measure, treatments, items, grid))
    return {
        measure: {name: np.concatenate([part[name] for part in found]) for name in found[0]}
        for measure, found in parts.items()
    }


def _depth(measure: Measure, n_database: int, grid: Ranks) -> int:
    """Return down to which rank a measure needs the items in database order."""
    if measure["ties"] != "index":
        return 0
    if measure.is_curve:
        return min(int(grid[-1]), n_database)
    if measure.cutoff is None or measure["cut"] == "hits":
        return n_database
    return min(measure.cutoff, n_database)


def _block_values(
    measure: Measure, treatments: Mapping[str, str], block: RankedItems, grid: Ranks
) -> dict[str, Values]:
    values = {"n_relevant": block.n_relevant.astype(np.float64)}
    for name, ties in treatments.items():
        items = block.all_tied() if name == "chance" else block.with_ties(ties)
        values[name] = rank_curve(items, grid) if measure.is_curve else of_ranks(measure, items)
    return values
