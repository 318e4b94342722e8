# mypy: disable-error-code="no-untyped-call"
"""Evaluation on a Dask cluster, by blocks of queries.

The database is sent to every worker once; the values of a block of queries are computed there.
The numbers are exactly those of one machine, because means are taken after all values are back.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.core.codes import Words
from hashbench.core.errors import HashbenchError
from hashbench.core.threads import limit_threads
from hashbench.execution.dask import DaskExecutor
from hashbench.measures.grammar import Measure
from hashbench.measures.query_values import QueryValues, compute, concatenate
from hashbench.measures.ranked_items import Ranks
from hashbench.measures.rankings import HammingRanking

#: Blocks of queries for each thread of a cluster: the slowest holds up the others by one of them.
BLOCKS_A_THREAD = 4


def compute_on(
    executor: DaskExecutor,
    ranking: HammingRanking,
    wanted: Sequence[Measure],
    grid: Ranks,
    bounds: bool,
    chance: bool,
) -> QueryValues:
    """Do what :func:`hashbench.measures.query_values.compute` does, on the workers of a cluster."""
    from distributed import KilledWorker

    usable = executor.wait_for_workers()
    client = executor.client
    parts = min(ranking.n_queries, BLOCKS_A_THREAD * sum(usable.values()))
    edges = [ranking.n_queries * part // max(parts, 1) for part in range(parts + 1)]
    try:
        database = client.scatter(
            [(ranking.database_words, ranking.database_labels)],
            broadcast=True,
            workers=list(usable),
            hash=False,
        )[0]
        futures = [
            client.submit(
                compute_block,
                ranking.query_words[start:stop],
                ranking.query_labels[start:stop],
                None if ranking.pairs is None else ranking.pairs[start:stop],
                database,
                ranking.n_bits,
                (wanted, grid, bounds, chance),
                pure=False,
                workers=list(usable),
            )
            for start, stop in itertools.pairwise(edges)
        ]
        return concatenate(client.gather(futures))
    except KilledWorker as error:
        raise HashbenchError(f"the workers died, their logs say why: {error}") from error
    except (asyncio.CancelledError, concurrent.futures.CancelledError) as error:
        raise ConnectionError("the connection to the Dask scheduler is lost") from error


def compute_block(
    query_words: Words,
    query_labels: Words,
    pairs: npt.NDArray[np.int64] | None,
    database: tuple[Words, Words],
    n_bits: int,
    asked: tuple[Sequence[Measure], Ranks, bool, bool],
) -> QueryValues:
    """Compute the values of a block of queries with this worker's threads."""
    from distributed import get_worker

    threads: Any = get_worker().state.nthreads
    ranking = HammingRanking(query_words, database[0], n_bits, query_labels, database[1], pairs)
    with limit_threads(threads):
        return compute(ranking, *asked)
