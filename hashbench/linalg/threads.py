"""Blocks of rows shared out among threads, as many as linear algebra may use, one core each.

A library divides a large product among its threads well, and the many small ones of a block of rows
badly: its threads wait for each other thousands of times. Steps that treat rows apart go through
whole blocks instead. What they return comes in the order of the blocks, so that sums over it are
the same bytes with any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def share_out(work: Callable[[slice], T], blocks: Iterable[slice]) -> list[T]:
    """Return what `work` returns for every block, in their order; blocks are worked on at once."""
    libraries = _libraries()
    threads = max((each.num_threads for each in libraries.lib_controllers), default=1)
    if threads < 2:
        return list(map(work, blocks))
    with libraries.limit(limits=1), ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, blocks))
