"""Queries divided among threads: each calls a kernel, which leaves Python's lock, for its part.

numba's own parallel loops do the same, but compile every loop a second time for them: of what the
first run of an installation waits for, that was half.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from numba.core import config

from hashbench.base.threads import waiting_threads

_settings: Any = config  # a module that makes its attributes when imported

#: As many threads as the user lets numba have.
MOST = int(_settings.NUMBA_NUM_THREADS)

_limit: ContextVar[int | None] = ContextVar("threads", default=None)


def allowed() -> int:
    """Return how many threads may be used here: as many as numba may, or fewer."""
    limit = _limit.get()
    return MOST if limit is None else min(MOST, limit)


@contextmanager
def at_most(count: int) -> Iterator[None]:
    """Use no more than so many threads in here."""
    before = _limit.set(min(count, allowed()))
    try:
        yield
    finally:
        _limit.reset(before)


def in_parts(work: Callable[[int, int], object], count: int) -> None:
    """Call `work` with the ends of parts that make up range(count), a part a thread."""
    parts = max(1, min(allowed(), count))
    edges = [count * part // parts for part in range(parts + 1)]
    threads = waiting_threads(MOST, "measures")
    others = [threads.submit(work, *edges[part : part + 2]) for part in range(1, parts)]
    work(*edges[:2])
    for each in others:
        each.result()
