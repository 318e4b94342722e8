"""Blocks of rows shared out among threads, as many as linear algebra may use, one core each.

A library divides a large product among its threads well, and the many small ones of a block of rows
badly: its threads wait for each other thousands of times. Steps that treat rows apart go through
whole blocks instead. What they return comes in the order of the blocks, so that sums over it are
the same bytes with any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

from hashbench.base.validation import BLOCK_ROWS, Matrix

T = TypeVar("T")

#: Rows of a block that stays in cache from one use of it to the next.
CACHED_ROWS = 512
#: Parts of the rows, or more where they have more than BLOCK_ROWS each.
PARTS = 16


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def row_blocks(rows: int | slice, size: int = CACHED_ROWS) -> Iterator[slice]:
    """Yield slices of so many rows, or of these, few enough at a time to stay in cache."""
    first, last = (0, rows) if isinstance(rows, int) else (rows.start, rows.stop)
    for start in range(first, last, size):
        yield slice(start, min(start + size, last))


def row_parts(n: int) -> Iterator[slice]:
    """Yield slices of n rows: enough for several threads, whole blocks that stay in cache each."""
    size = CACHED_ROWS * -(-n // (PARTS * CACHED_ROWS))
    return row_blocks(n, min(max(size, 4 * CACHED_ROWS), BLOCK_ROWS))


def share_out(work: Callable[[slice], T], blocks: Iterable[slice]) -> list[T]:
    """Return what `work` returns for every block, in their order; blocks are worked on at once."""
    return list(_shared_out(work, blocks))


def add_up(work: Callable[[slice], Sequence[Matrix]], n: int) -> list[Matrix]:
    """Return the sums of the matrices that `work` returns for parts of n rows, worked on at once.

    A part has so many rows that its sums, which are gone as soon as they are added, cost little
    beside it; `work` goes through it by blocks that stay in cache.
    """
    results = _shared_out(work, row_parts(n))
    totals = list(next(results))
    for matrices in results:
        for total, matrix in zip(totals, matrices, strict=True):
            total += matrix
    return totals


def _shared_out(work: Callable[[slice], T], blocks: Iterable[slice]) -> Iterator[T]:
    libraries = _libraries()
    threads = max((each.num_threads for each in libraries.lib_controllers), default=1)
    if threads < 2:
        yield from map(work, blocks)
        return
    with libraries.limit(limits=1), ThreadPoolExecutor(threads) as pool:
        yield from pool.map(work, blocks)
