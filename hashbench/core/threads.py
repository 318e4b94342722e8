"""One thread pool for linear algebra and measures: loops that leave Python's lock, in parts.

numba's own parallel loops do the same, but compile every loop a second time for them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")

_limit: ContextVar[int | None] = ContextVar("threads", default=None)


@cache
def most_threads() -> int:
    """Return as many threads as the user lets numba have."""
    from numba.core import config

    settings: Any = config  # a module that makes its attributes when imported
    return int(settings.NUMBA_NUM_THREADS)


@cache
def _pool() -> ThreadPoolExecutor:
    """Return the threads of this process; starting them for each step takes milliseconds."""
    return ThreadPoolExecutor(most_threads(), "hashbench")


os.register_at_fork(after_in_child=_pool.cache_clear)  # a fork has none of the threads


def allowed_threads() -> int:
    """Return how many threads may be used here: as many as numba may, or fewer."""
    limit = _limit.get()
    return most_threads() if limit is None else min(most_threads(), limit)


@contextmanager
def limit_threads(count: int) -> Iterator[None]:
    """Use no more than so many threads in here."""
    before = _limit.set(min(count, allowed_threads()))
    try:
        yield
    finally:
        _limit.reset(before)


def parallel_map(function: Callable[[Item], Made], items: Iterable[Item]) -> list[Made]:
    """Return what a function returns for every item, in their order; threads take the items."""
    from threadpoolctl import threadpool_limits

    if allowed_threads() < 2:
        return list(map(function, items))
    with threadpool_limits(1, user_api="blas"):
        return list(_pool().map(function, items))


def parallel_ranges(work: Callable[[int, int], object], count: int) -> None:
    """Call `work` with the ends of ranges that make up range(count), one range per thread."""
    parts = max(1, min(allowed_threads(), count))
    edges = [count * part // parts for part in range(parts + 1)]
    others = [_pool().submit(work, *edges[part : part + 2]) for part in range(1, parts)]
    work(*edges[:2])
    for each in others:
        each.result()
