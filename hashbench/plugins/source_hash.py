"""Provenance of outcomes: hash of a method's source, versions, machine, state of the source tree.

Recorded with every cell, because a number that cannot be traced cannot be compared.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import inspect
import os
import platform
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from threadpoolctl import threadpool_info

import hashbench
from hashbench.plugins.registry import Plugin

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")

#: Class attributes of a method that no score depends on.
DESCRIPTIVE = frozenset({"paper", "title", "allowed"})


@cache
def source_hash(plugin: Plugin) -> str:
    """Return a hash of a plugin's source and of what it builds on.

    That is its own file, the files beside it that it imports from, and the shared mathematics and
    the base of neural methods that it uses. The rest of the harness is covered by the protocol
    version. Kept once computed: what counts is the source that was imported, not what an editor
    has made of it since.
    """
    digest = hashlib.sha256()
    for path, name in _files(plugin):
        digest.update(f"{name}\n".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


@cache
def code_hash(plugin: Plugin) -> str:
    """Return a hash of what a plugin computes: its source without what no score depends on.

    That is left out: comments, layout, docstrings, imports and the attributes in
    :data:`DESCRIPTIVE`. Pages compare it with the sources: a corrected docstring
    does not make their numbers old.
    """
    digest = hashlib.sha256()
    for path, name in _files(plugin):
        tree = _Computation().visit(ast.parse(path.read_bytes()))
        digest.update(f"{name}\n{ast.dump(tree)}\0".encode())
    return digest.hexdigest()[:16]


class _Computation(ast.NodeTransformer):
    """Removes from a syntax tree what no score depends on."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) else node

    def visit_Import(self, node: ast.Import) -> None:
        return None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        return None

    def visit_Assign(self, node: ast.Assign) -> ast.Assign | None:
        return None if _descriptive(node.targets[0]) else node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign | None:
        return None if _descriptive(node.target) else node


def _descriptive(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and target.id in DESCRIPTIVE


def _files(plugin: Plugin) -> list[tuple[Path, str]]:
    """Return the files of a plugin with their names, sorted by name."""
    files: dict[Path, str] = {}
    _collect(sys.modules[plugin.cls.__module__], plugin.path.parent, files)
    return sorted(files.items(), key=lambda item: item[1])


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
