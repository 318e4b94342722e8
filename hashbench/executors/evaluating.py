# mypy: disable-error-code="no-untyped-call"
"""Evaluation on a Dask cluster, by blocks of queries.

The database goes to every worker once; what a block of queries needs of it is gathered there, and
comes back as some numbers a query. Exactly the numbers of one machine: nothing mixes queries
before all are back.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
from collections.abc import Sequence
from typing import Any

from hashbench.base.codes import Words
from hashbench.base.errors import HashbenchError
from hashbench.base.threads import limit_threads
from hashbench.executors.dask import DaskExecutor
from hashbench.measures.gathering import Gathered, gather, joined
from hashbench.measures.names import Measure
from hashbench.measures.orders import Ranks
from hashbench.measures.rankings import HammingRanking

#: Blocks of queries for each thread of a cluster: the slowest holds up the others by one of them.
BLOCKS_A_THREAD = 4


def gather_on(
    executor: DaskExecutor,
    ranking: HammingRanking,
    wanted: Sequence[Measure],
    grid: Ranks,
    bounds: bool,
    chance: bool,
) -> Gathered:
    """Return what :func:`hashbench.measures.gathering.gather` does, from a cluster's workers."""
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
                gather_block,
                ranking.query_words[start:stop],
                ranking.query_labels[start:stop],
                database,
                ranking.n_bits,
                (wanted, grid, bounds, chance),
                pure=False,
                workers=list(usable),
            )
            for start, stop in itertools.pairwise(edges)
        ]
        return joined(client.gather(futures))
    except KilledWorker as error:
        raise HashbenchError(f"the workers died, their logs say why: {error}") from error
    except (asyncio.CancelledError, concurrent.futures.CancelledError) as error:
        raise ConnectionError("the connection to the Dask scheduler is lost") from error


def gather_block(
    query_words: Words,
    query_labels: Words,
    database: tuple[Words, Words],
    n_bits: int,
    asked: tuple[Sequence[Measure], Ranks, bool, bool],
) -> Gathered:
    """Gather a block of queries on this worker, with the threads that it has."""
    from distributed import get_worker

    threads: Any = get_worker().state.nthreads
    ranking = HammingRanking(query_words, database[0], n_bits, query_labels, database[1])
    with limit_threads(threads):
        return gather(ranking, *asked)
