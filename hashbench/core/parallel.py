"""Work for several processes: as many at once as there are cores.

They are forks of this one, so that nothing has to be sent to them and what was read and imported
here is there too. Only what they return has to bear being pickled.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from typing import Any, TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")

#: What the forks do, and to what: set just before they start.
_task: tuple[Callable[[Any], Any], Sequence[Any]]

#: How often a fork looks whether it still has a parent, in seconds.
LOOK = 1.0


def usable_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parallel_map_processes(
    function: Callable[[Item], Made], items: Sequence[Item]
) -> Generator[Made, None, None]:
    """Yield what a function makes of every item, in their order, with all cores at work.

    An item whose process was killed is left to this one.
    """
    global _task
    workers = min(usable_cores(), len(items))
    if workers < 2:
        yield from map(function, items)
        return
    _task = function, items
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), _begin, (os.getpid(),))
    try:
        with warnings.catch_warnings():
            # Python warns of locks that other threads may hold: none computes meanwhile
            warnings.simplefilter("ignore", DeprecationWarning)
            futures: list[Future[Made]] = [pool.submit(_make, i) for i in range(len(items))]
        for item, future in zip(items, futures, strict=True):
            try:
                made = future.result()
            except BrokenProcessPool:
                made = function(item)
            yield made
    finally:
        pool.shutdown(cancel_futures=True)


def run_in_background(function: Callable[[], Made]) -> Callable[[], Made]:
    """Start a function in a fork if there are cores for both; return what waits for its outcome.

    With one core the function is called when it is waited for, as it is when its process was
    killed; however often one asks, it is called once.
    """
    global _task
    if usable_cores() < 2:
        return cache(function)
    _task = (lambda _: function()), (None,)
    pool = ProcessPoolExecutor(1, multiprocessing.get_context("fork"), _begin, (os.getpid(),))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # as above
        future: Future[Made] = pool.submit(_make, 0)

    @cache
    def outcome() -> Made:
        try:
            return future.result()
        except BrokenProcessPool:
            return function()
        finally:
            pool.shutdown(cancel_futures=True)

    return outcome


def _make(place: int) -> Any:
    function, items = _task
    return function(items[place])


def _begin(parent: int) -> None:
    """Leave interrupts to the parent, and end with it however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
