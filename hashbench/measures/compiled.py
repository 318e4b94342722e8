"""How kernels are compiled: once for all processes where anything can be kept, else for each.

Numba keeps machine code beside the source, or in the user's cache folder if the package is
installed read-only, or where NUMBA_CACHE_DIR says. A container may have none of these; numba
refuses to compile there, though only speed is lost.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from numba import njit

#: Held while a parallel kernel runs: the thread pool that numba falls back to ends the process if
#: two threads enter it at once.
ALONE = threading.RLock()


def kernel(*, parallel: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function at its first call.

    Parameters
    ----------
    parallel : whether a ``prange`` in it is divided among threads
    """

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            return njit(cache=True, error_model="numpy", parallel=parallel)(function)
        except RuntimeError:  # there is no place to keep it
            return njit(error_model="numpy", parallel=parallel)(function)

    return decorate
