"""Threads for linear algebra and measures: functions that release the interpreter's lock.

numba's own parallel loops do the same, but compile every loop a second time for them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")


def thread_variables(threads: int) -> dict[str, str]:
    """Return the environment of a process that computes with so many threads.

    Threads of OpenBLAS wait for the next product on their cores, a fortieth of a second long. numpy
    and scipy have one set each, and each would wait where the other one works: the shortest wait
    allowed is 2^4 ticks.
    """
    names = ("OMP", "OPENBLAS", "MKL", "NUMBA")
    numbers = dict.fromkeys([f"{name}_NUM_THREADS" for name in names], str(threads))
    return {**numbers, "VECLIB_MAXIMUM_THREADS": str(threads), "OPENBLAS_THREAD_TIMEOUT": "4"}


@cache
def most_threads() -> int:
    """Return the number of threads that numba may use."""
    from numba.core import config

    settings: Any = config  # a module that makes its attributes when imported
    return int(settings.NUMBA_NUM_THREADS)


@cache
def _pool() -> ThreadPoolExecutor:
    """Return the threads of this process; starting them for each step takes milliseconds."""
    return ThreadPoolExecutor(most_threads(), "hashbench")


os.register_at_fork(after_in_child=_pool.cache_clear)  # a fork has none of the threads


def parallel_map(function: Callable[[Item], Made], items: Iterable[Item]) -> list[Made]:
    """Return what a function returns for every item, in their order; threads take the items."""
    from threadpoolctl import threadpool_limits

    if most_threads() < 2:
        return list(map(function, items))
    with threadpool_limits(1, user_api="blas"):
        return list(_pool().map(function, items))


def parallel_ranges(work: Callable[[int, int], object], count: int) -> None:
    """Call `work` with the ends of ranges that make up range(count), one range per thread."""
    parts = max(1, min(most_threads(), count))
    edges = [count * part // parts for part in range(parts + 1)]
    if parts == 1:
        work(0, count)
    else:
        list(_pool().map(work, edges[:-1], edges[1:]))
