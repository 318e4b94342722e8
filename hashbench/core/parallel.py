"""Functions that run on several cores, in forks of this process.

A fork has everything that was read and imported here, and functions need not be pickled; results
must be.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import Any, TypeVar

from hashbench.core.isolation import die_with_parent

Item = TypeVar("Item")
Made = TypeVar("Made")

#: The function that forks call, and its items: set just before they start.
_work: tuple[Callable[[Any], Any], Sequence[Any]]


def usable_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parallel_map_processes(
    function: Callable[[Item], Made], items: Sequence[Item]
) -> Generator[Made, None, None]:
    """Yield what a function returns for every item, in their order; all cores take items."""
    workers = min(usable_cores(), len(items))
    if workers < 2:
        yield from map(function, items)
        return
    pool, results = _start_pool(workers, function, items)
    with pool:
        yield from results


def run_in_background(function: Callable[[], Made]) -> Callable[[], Made]:
    """Start a function in a fork; return a function that waits for its result.

    With one core the function is called when its result is requested.
    """
    if usable_cores() < 2:
        return cache(function)
    pool, results = _start_pool(1, lambda _: function(), [None])
    pool.shutdown(wait=False)
    return cache(lambda: next(results))


def _start_pool(
    workers: int, function: Callable[[Item], Made], items: Sequence[Item]
) -> tuple[ProcessPoolExecutor, Iterator[Made]]:
    global _work
    _work = function, items
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), _begin)
    with warnings.catch_warnings():
        # Python warns of locks that other threads may hold: none computes meanwhile
        warnings.simplefilter("ignore", DeprecationWarning)
        return pool, pool.map(_call_item, range(len(items)))


def _call_item(index: int) -> Any:
    function, items = _work
    return function(items[index])


def _begin() -> None:
    """Leave interrupts to the parent, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    die_with_parent()
