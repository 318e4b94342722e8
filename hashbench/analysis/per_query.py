"""The results of a cell per query: values of a measure, and the first items of the ranking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hashbench.analysis.results import Results
from hashbench.data.splits import Searched
from hashbench.execution.score_cache import fingerprint_of
from hashbench.execution.store import Stored
from hashbench.measures import parse


class Retrieved(NamedTuple):
    """The first items of rankings, with tied items in random order.

    Attributes
    ----------
    items : (queries, ranks) positions in the database
    relevant : (queries, ranks) bool
    distances : (queries, ranks), Hamming distances; None where items are ranked by scores
    ties : (queries, ranks), number of items of the database at that distance
    """

    items: npt.NDArray[np.intp]
    relevant: npt.NDArray[np.bool_]
    distances: npt.NDArray[np.int64] | None
    ties: npt.NDArray[np.int64] | None


def per_query(
    results: Results, stored: Stored, task: str, searched: Searched, measure: str
) -> npt.NDArray[np.float64] | None:
    """Return a measure's value for every query, nan for those that do not count.

    None if the cell has no such codes.
    """
    split, name = results.split(stored.cell.split), str(parse(measure))
    stamp = fingerprint_of(stored, split)
    known = results.score_cache.per_query(stored.cell.id, stamp, name, task, searched)
    if known is not None:
        return known
    # imports numba, which takes a second and which cached values do not need
    from hashbench.execution.scoring import make_ranking, searched_parts
    from hashbench.measures import evaluate_ranking

    codes = stored.codes()
    tasks = [each for each in split.tasks if each.name == task]
    if not tasks or searched not in searched_parts(stored, codes, split):
        return None
    ranking = make_ranking(codes, split, searched, tasks[0])
    left_out = split.copied(tasks[0])
    evaluation = evaluate_ranking(ranking, [name], per_query=True, left_out=left_out)
    values = evaluation.scores[name].per_query
    return None if values is None else np.asarray(values)


def retrieved(
    results: Results,
    stored: Stored,
    task: str,
    queries: Sequence[int],
    ranks: int,
    part: str,
    seed: int = 0,
) -> Retrieved:
    """Return the first items of some queries among the encoded codes of a part of the database.

    Tied items are in random order: in database order the same items would always come first.
    """
    codes, split = stored.codes(), results.split(stored.cell.split)
    (chosen,) = (each for each in split.tasks if each.name == task)
    positions = split.positions(part)
    query = codes.query[chosen.asked][list(queries)]
    database = codes.database[chosen.searched][positions]
    distances = ties = None
    if codes.n_bits is not None:
        all_distances = np.stack(
            [np.bitwise_count(q ^ database).sum(axis=1, dtype=np.intp) for q in query]
        )
        random_order = np.random.default_rng(seed).permutation(len(database))
        order = np.stack([np.lexsort((random_order, row))[:ranks] for row in all_distances])
        distances = np.take_along_axis(all_distances, order, axis=1)
        ties = np.stack(
            [np.bincount(row)[d] for row, d in zip(all_distances, distances, strict=True)]
        )
    else:
        order = np.argsort(-(query @ database.T), axis=1, kind="stable")[:, :ranks]
    order = positions[order]
    labels = split.query_labels[list(queries)]
    relevant = ((labels[:, None, :] & split.database_labels[order]) != 0).any(axis=2)
    return Retrieved(order, relevant, distances, ties)
