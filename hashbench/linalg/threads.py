"""Blocks of rows shared out among threads, as many as linear algebra may use, one core each.

A library divides a large product among its threads well, and the many small ones of a block of rows
badly: its threads wait for each other thousands of times. Steps that treat rows apart go through
whole blocks instead. What they return comes in the order of the blocks, so that sums over it are
the same bytes with any number of threads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import wait
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, TypeVar

from hashbench.base.threads import waiting_threads
from hashbench.base.validation import BLOCK_ROWS, Matrix

T = TypeVar("T")
B = TypeVar("B")

#: Rows of a block that stays in cache from one use of it to the next.
CACHED_ROWS = 512
#: Parts of the rows, or more where they have more than BLOCK_ROWS each.
PARTS = 16


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def _allowed() -> int:
    return max((each.num_threads for each in _libraries().lib_controllers), default=1)


def one_thread() -> AbstractContextManager[Any]:
    """Return a context in which libraries use one thread: for what they divide badly."""
    return _libraries().limit(limits=1)  # type: ignore[no-any-return]


def row_blocks(rows: int | slice, size: int = CACHED_ROWS) -> Iterator[slice]:
    """Yield slices of so many rows, or of these, few enough at a time to stay in cache."""
    first, last = (0, rows) if isinstance(rows, int) else (rows.start, rows.stop)
    for start in range(first, last, size):
        yield slice(start, min(start + size, last))


def row_parts(n: int) -> Iterator[slice]:
    """Yield slices of n rows: enough for several threads, whole blocks that stay in cache each."""
    size = CACHED_ROWS * -(-n // (PARTS * CACHED_ROWS))
    return row_blocks(n, min(max(size, 4 * CACHED_ROWS), BLOCK_ROWS))


def share_out(work: Callable[[B], T], blocks: Iterable[B]) -> list[T]:
    """Return what `work` returns for every block, in their order; blocks are worked on at once.

    Threads take them in their order, too: the smallest had better come last.
    """
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


def _shared_out(work: Callable[[B], T], blocks: Iterable[B]) -> Iterator[T]:
    count = _allowed()
    if count < 2:
        yield from map(work, blocks)
        return
    threads = waiting_threads(count, "linalg")
    with one_thread():
        pending = deque(threads.submit(work, block) for block in blocks)
        try:
            while pending:
                yield pending.popleft().result()
        finally:  # whatever is worked on when one fails has to end, too
            wait([each for each in pending if not each.cancel()])
