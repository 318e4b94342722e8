"""How kernels are compiled: once for all processes where anything can be kept, else for each.

Machine code goes to the cache folder, apart for each version of hashbench and numba and each kind
of processor. Left to itself, numba would keep it inside the package. Where nothing can be written,
as in some containers, every process compiles for itself: only speed is lost.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numba
from llvmlite.binding import get_host_cpu_name
from numba import njit
from numba.core import config

import hashbench
from hashbench.base.places import cache_folder


def kernel(*, reorder: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function at its first call, for one thread.

    It holds up no other thread: where there are several, each calls it for a part.

    Parameters
    ----------
    reorder : whether sums may be taken in another order, by eights at once
    """

    # nobody calls a kernel through a C pointer
    options: Any = {"error_model": "numpy", "nogil": True, "no_cfunc_wrapper": True}
    if reorder:
        options["fastmath"] = {"reassoc"}

    def decorate(function: Callable[..., Any]) -> Any:
        folder = kernel_folder()
        if folder is not None:
            with _numba_keeps_in(folder):
                return njit(cache=True, **options)(function)
        return njit(**options)(function)

    return decorate


def load() -> None:
    """Load what every kernel needs before its first call: half a second, once a process."""
    from numba.core.registry import cpu_target

    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()


@cache
def kernel_folder() -> Path | None:
    """Return the folder for machine code, or None if it cannot be written to."""
    kind = f"{hashbench.__version__}-numba{numba.__version__}-{get_host_cpu_name()}"
    try:
        folder = cache_folder() / "kernels" / kind
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except (OSError, RuntimeError):  # RuntimeError: a user without a home
        return None
    return folder


@contextmanager
def _numba_keeps_in(folder: Path) -> Iterator[None]:
    """Tell numba where to keep what is declared meanwhile, and nobody else's kernels."""
    settings: Any = config  # a module that makes its attributes when imported
    before = settings.CACHE_DIR
    settings.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        settings.CACHE_DIR = before
