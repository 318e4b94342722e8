# mypy: disable-error-code="no-untyped-call"
"""How kernels are compiled: once for all processes where the cache can be used, else in each.

Machine code goes to the cache folder, in one folder per version of hashbench and numba; numba's own
index distinguishes kinds of processor. Left to itself, numba would keep it inside the package. A
cache that is full, read-only, damaged or of another version costs compile time and nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba import njit
from numba.core import config
from numba.core.caching import FunctionCache, IndexDataCacheFile

import hashbench
from hashbench.core.paths import cache_folder


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
                dispatcher: Any = njit(**options)(function)
                dispatcher._cache = KernelCache(function)
                return dispatcher
        return njit(**options)(function)

    return decorate


class KernelFile(IndexDataCacheFile):
    """The cache file of one kernel; machine code is stored behind its sha256.

    numba reads these files without a check: damaged ones raise, or crash the process.
    """

    def _load_index(self) -> dict[Any, str]:
        try:
            found = super()._load_index()
        except Exception:  # whatever unpickling a damaged file raises
            found = {}
        return found if isinstance(found, dict) else {}

    def _load_data(self, name: str) -> Any:
        data = Path(self._data_path(name)).read_bytes()
        digest, code = data[:32], data[32:]
        if hashlib.sha256(code).digest() != digest:
            raise OSError(f"{name} is damaged")  # which numba takes as "not there"
        return pickle.loads(code)

    def _save_data(self, name: str, data: Any) -> None:
        code = self._dump(data)
        with self._open_for_write(self._data_path(name)) as stream:
            stream.write(hashlib.sha256(code).digest() + code)


class KernelCache(FunctionCache):
    """numba's cache of one kernel, without which the kernel is compiled again."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        own = self._cache_file
        base = own._index_name.removesuffix(".nbi")
        self._cache_file = KernelFile(own._cache_path, base, own._source_stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled kernel, or None if it cannot be read."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # unreadable, or of another version
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the compiled kernel if that is possible."""
        with contextlib.suppress(OSError):  # the disk is full or read-only
            super().save_overload(sig, data)


def load() -> None:
    """Load what every kernel needs before its first call: half a second, once a process."""
    from numba.core.registry import cpu_target

    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()


@cache
def kernel_folder() -> Path | None:
    """Return the folder for machine code, or None if it cannot be written to."""
    kind = f"{hashbench.__version__}-numba{numba.__version__}"
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
