# mypy: disable-error-code="no-untyped-call"
"""Compile loops with numba and keep the machine code in the cache folder.

If that folder is full, read-only, damaged or of another version, loops are compiled again and
nothing else happens. numba alone raises on a damaged file and on a full disk, and would write into
the installed package when it cannot write into the folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache, InTreeCacheLocator
from numba.core.serialize import dumps

from hashbench.core.paths import cache_folder


def kernel(*, reorder: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function at its first call, without holding the GIL.

    Parameters
    ----------
    reorder : whether sums may be taken in another order, by eights at once
    """
    # nobody calls a kernel through a C pointer
    options: Any = {"error_model": "numpy", "nogil": True, "no_cfunc_wrapper": True}
    if reorder:
        options["fastmath"] = {"reassoc"}

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher: Any = njit(**options)(function)
        with contextlib.suppress(RuntimeError):  # the folder cannot be written to
            dispatcher._cache = KernelCache(function)
        return dispatcher

    return decorate


def load() -> None:
    """Load what every kernel needs before its first call: half a second, once per process."""
    from numba.core.registry import cpu_target

    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()


@cache
def sources_hash(folder: Path) -> bytes:
    """Return a hash of the Python files in a folder: kernels call those of other files there."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.digest()


class KernelLocator(InTreeCacheLocator):
    """Keep machine code in the cache folder; None if it cannot be written to."""

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        super().__init__(py_func, py_file)
        self._cache_path = str(
            cache_folder() / "kernels" / self.get_suitable_cache_subpath(py_file)
        )

    def get_source_stamp(self) -> bytes:
        """Return what makes the machine code obsolete when it changes."""
        return sources_hash(Path(self._py_file).parent)


class CheckedCode(CompileResultCacheImpl):
    """Machine code with its checksum: altered code would crash the process."""

    _locator_classes = [KernelLocator]  # noqa: RUF012

    def reduce(self, data: Any) -> tuple[bytes, bytes]:
        """Return the checksum and the serialized machine code."""
        code = dumps(super().reduce(data))
        return hashlib.sha256(code).digest(), code

    def rebuild(self, target_context: Any, reduced_data: tuple[bytes, bytes]) -> Any:
        """Return the machine code, ready to be called."""
        digest, code = reduced_data
        if hashlib.sha256(code).digest() != digest:
            raise ValueError("damaged machine code")
        return super().rebuild(target_context, pickle.loads(code))


class KernelCache(FunctionCache):
    """numba's cache of one kernel; the kernel is compiled again if the cache cannot be used."""

    _impl_class = CheckedCode

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled kernel, or None if it cannot be read."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever unpickling a damaged file raises
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the compiled kernel if the disk has space for it."""
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)
