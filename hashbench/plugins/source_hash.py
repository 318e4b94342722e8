"""Provenance of outcomes: hash of a method's source, versions, machine, state of the source tree.

Recorded with every cell, because a number that cannot be traced cannot be compared.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import inspect
import os
import platform
import subprocess
import sys
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from threadpoolctl import threadpool_info

import hashbench
from hashbench.plugins.registry import Plugin
from hashbench.plugins.source_text import code_of

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


@cache
def source_hash(plugin: Plugin) -> str:
    """Return a hash of a plugin's code and of what it builds on, see `source_files`.

    Comments, docstrings and what is only printed do not count, see `code_of`. Kept once computed:
    what counts is the source that was imported, not what an editor has made of it since.
    """
    digest = hashlib.sha256()
    for name, path in source_files(plugin):
        digest.update(f"{name}\n".encode() + _code(path, path.read_bytes()) + b"\0")
    return digest.hexdigest()[:16]


@cache
def source_files(plugin: Plugin) -> list[tuple[str, Path]]:
    """Return the files of a plugin by names that are the same on every machine, sorted.

    These are its own file, the files beside it that it imports from, and the shared mathematics
    and the base of neural methods that it uses. The rest of the harness is covered by the protocol
    version.
    """
    files: dict[Path, str] = {}
    _collect(sys.modules[plugin.cls.__module__], plugin.path.parent, files)
    return sorted((name, path) for path, name in files.items())


@lru_cache(maxsize=256)
def _code(path: Path, text: bytes) -> bytes:
    """Return the code of a file; all methods use the same few dozen."""
    return code_of(text)


def _collect(module: ModuleType, folder: Path, files: dict[Path, str]) -> None:
    """Add a module's file and those it uses, by names that are the same on every machine."""
    path = _resolved(inspect.getfile(module))
    if path in files:
        return
    files[path] = path.name if path.parent == folder else module.__name__
    for value in list(vars(module).values()):
        name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", "")
        used = sys.modules.get(name) if isinstance(name, str) else None
        if used is None or getattr(used, "__file__", None) is None:
            continue
        same_folder = _resolved(inspect.getfile(used)).parent == folder
        if same_folder or used.__name__.startswith(("hashbench.linalg", "hashbench.neural")):
            _collect(used, folder, files)


@cache
def _resolved(file: str) -> Path:
    """Return a file by its real name; every method uses the same few dozen."""
    return Path(file).resolve()


@cache
def environment() -> dict[str, Any]:
    """Return what is the same for every cell computed by this process."""
    return {
        "hashbench": hashbench.__version__,
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in PACKAGES},
        "git": git_state(),
        "system": platform.platform(),
        "machine": platform.node(),
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "blas": blas_kernels(),
    }


def blas_kernels() -> str:
    """Return the linear algebra libraries with the processor that their kernels are for.

    Other kernels add in another order, so that sums differ by rounding.
    """
    import scipy.linalg  # loads its own BLAS, which is not numpy's

    assert scipy.linalg
    found = {
        f"{pool['internal_api']} {pool['version']} {pool.get('architecture', '')}".strip()
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    }
    return ", ".join(sorted(found))


def git_state() -> str:
    """Return the commit of the source tree, marked if it has changes; empty if installed."""
    root = Path(hashbench.__file__).parent.parent
    if not (root / ".git").exists():
        return ""
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return found.stdout.strip()


def cpu_name() -> str:
    """Return the processor's name as the system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
