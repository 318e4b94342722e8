"""Threads that wait from one piece of work to the next: starting them anew takes milliseconds."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache


@cache
def waiting_threads(count: int, name: str) -> ThreadPoolExecutor:
    """Return so many threads of this process, always the same ones for one name."""
    return ThreadPoolExecutor(count, f"hashbench-{name}")


os.register_at_fork(after_in_child=waiting_threads.cache_clear)  # a fork has its own thread alone
