"""What measures need of a ranking, query by query: what can be computed in parts and put together.

Nothing here mixes queries, so that those of a block are gathered wherever there is a copy of the
database; means are taken once all are there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hashbench.base.errors import HashbenchError
from hashbench.base.threads import allowed_threads, limit_threads
from hashbench.measures.names import Measure
from hashbench.measures.orders import Ranks, TiedOrder, Values
from hashbench.measures.rankings import Block, Ranking, Rel, relevant
from hashbench.measures.values import Ball, merged, of_order, rank_curve

#: Pairs of queries and items that one thread looks at in a few milliseconds.
FEW_PAIRS = 1 << 22


@dataclass(frozen=True)
class Gathered:
    """Values of some queries, before any mean.

    Attributes
    ----------
    by_order : measure -> what for ("value", "low", "high", "chance", "found") -> values
    balls : relevance -> what lies within every Hamming radius
    grid : where curves by rank have their points
    """

    by_order: dict[Measure, dict[str, Values]]
    balls: dict[Rel, Ball]
    grid: Ranks


def gather(
    ranking: Ranking, wanted: Sequence[Measure], grid: Ranks, bounds: bool, chance: bool
) -> Gathered:
    """Return what measures need of all queries of a ranking."""
    small = ranking.n_queries * ranking.n_database < FEW_PAIRS
    # waking and awaiting others takes longer than a small ranking
    with limit_threads(1 if small else allowed_threads()):
        variants = {m: _variants(m, bounds, chance) for m in wanted if m.has_ties}
        balls: dict[Rel, Ball] = {}
        by_order = _by_order(ranking, variants, grid)
        for measure in wanted:
            rel = rel_of(measure)
            if not measure.has_ties and rel not in balls:
                balls[rel] = Ball.of(ranking.distance_counts(rel))
    return Gathered(by_order, balls, grid)


def joined(parts: Sequence[Gathered]) -> Gathered:
    """Return what parts hold of their queries, one after the other."""
    first = parts[0]
    by_order = {
        measure: {
            name: np.concatenate([part.by_order[measure][name] for part in parts])
            for name in values
        }
        for measure, values in first.by_order.items()
    }
    balls = {
        rel: Ball(
            np.concatenate([part.balls[rel].items for part in parts]),
            np.concatenate([part.balls[rel].hits for part in parts]),
        )
        for rel in first.balls
    }
    return Gathered(by_order, balls, first.grid)


def round_ranks(n_database: int) -> Ranks:
    """Return the ranks 1, 2, ..., 9, 10, 20, ..., 90, 100, 200, ... and the last."""
    ranks = [digit * 10**power for power in range(len(str(n_database))) for digit in range(1, 10)]
    return np.array([*(rank for rank in ranks if rank < n_database), n_database])


def check_ranks(ranks: npt.ArrayLike) -> Ranks:
    """Return ranks that somebody asks for as an array, if they are ascending."""
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


def rel_of(measure: Measure) -> Rel:
    """Return what counts as relevant for a measure."""
    rel = measure["rel"]
    assert rel is not None
    return rel


def _variants(measure: Measure, bounds: bool, chance: bool) -> dict[str, str]:
    """Return under which treatments of ties a measure is computed, by what for."""
    variants = {"value": str(measure["ties"])}
    # a curve has no interval, and which queries are missed no mean or bound over orders
    if measure.is_curve or measure["missed"] == "skip":
        return variants
    if bounds:
        variants |= {"low": "pessimistic", "high": "optimistic"}
    if chance:
        variants["chance"] = "expected"
    return variants


def _by_order(
    ranking: Ranking, variants: Mapping[Measure, Mapping[str, str]], grid: Ranks
) -> dict[Measure, dict[str, Values]]:
    """Return every variant of every measure for all queries, and their relevant items."""
    if not variants:
        return {}
    parts: dict[Measure, list[dict[str, Values]]] = {measure: [] for measure in variants}
    depths = [_depth(measure, ranking.n_database, grid) for measure in variants]
    for block in ranking.blocks(max(depths)):
        for measure, treatments in variants.items():
            parts[measure].append(_of_block(measure, treatments, block, grid))
    return {
        measure: {name: np.concatenate([part[name] for part in found]) for name in found[0]}
        for measure, found in parts.items()
    }


def _depth(measure: Measure, n_database: int, grid: Ranks) -> int:
    """Return down to which rank a measure needs the items in order."""
    if measure["ties"] != "index":
        return 0
    if measure.is_curve:
        return min(int(grid[-1]), n_database)
    if measure.cutoff is None or measure["cut"] == "hits":
        return n_database
    return min(measure.cutoff, n_database)


def _of_block(
    measure: Measure, treatments: Mapping[str, str], block: Block, grid: Ranks
) -> dict[str, Values]:
    rel = rel_of(measure)
    counts = block.counts(rel)
    values = {"found": relevant(counts).astype(np.float64)}
    for name, ties in treatments.items():
        order = block.order(rel, ties) if name != "chance" else TiedOrder(merged(counts), ties)
        if measure.is_curve:
            values[name] = rank_curve(order, grid, values["found"])
        else:
            values[name] = of_order(measure, order, counts)
    return values
