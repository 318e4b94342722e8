"""Finding plugins: the harness knows none of them by name.

Built-in plugins, installed ones (entry points) and a user's files are treated alike. A plugin that
cannot be imported is listed as broken and stops nothing; two of one name are an
error that names both files. A user's file is first imported in a subprocess, so that one that ends
its process, closes stdout or raises KeyboardInterrupt is only a broken plugin.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.metadata
import importlib.util
import inspect
import os
import pkgutil
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from hashbench.core import isolation
from hashbench.core.errors import HashbenchError, unknown
from hashbench.plugins.allowed import allowed_error
from hashbench.plugins.method import FIDELITIES, RECONSTRUCTION, Citation, Paper
from hashbench.plugins.space import space_error

#: Kinds of plugins: the values of ``plugin_kind`` in the base classes, and the names of packages.
KINDS = ("methods", "datasets", "reports")

#: Folders and files with plugins of the user's own, separated as in PATH.
ENVIRONMENT = "HASHBENCH_PLUGINS"


@dataclass(frozen=True)
class Plugin:
    """A plugin class and where it was found."""

    kind: str
    name: str
    cls: Any  # the class, or facts about it if it is not loaded
    path: Path
    origin: str  # "built in", "installed" or "local"

    @property
    def title(self) -> str:
        """What tables print."""
        return str(self.cls.title or self.name)


@dataclass(frozen=True)
class Broken:
    """A plugin that could not be imported."""

    path: str
    origin: str
    error: str


@dataclass
class Registry:
    """Every plugin found, by kind and name."""

    methods: dict[str, Plugin] = field(default_factory=dict)
    datasets: dict[str, Plugin] = field(default_factory=dict)
    reports: dict[str, Plugin] = field(default_factory=dict)
    broken: list[Broken] = field(default_factory=list)
    paths: tuple[Path, ...] = ()  # local plugins, for processes that must find the same ones

    def of(self, kind: str) -> dict[str, Plugin]:
        """Return the plugins of one kind ("methods", "datasets" or "reports")."""
        plugins: dict[str, Plugin] = getattr(self, kind)
        return plugins

    def get(self, kind: str, name: str) -> Plugin:
        """Return one plugin, or raise an error that suggests the nearest name."""
        plugins = self.of(kind)
        if name not in plugins:
            raise unknown(kind.removesuffix("s"), name, plugins)
        return plugins[name]

    def reconstructions(self) -> dict[str, str]:
        """Return the methods that are a reconstruction, with what was inferred."""
        papers = {name: plugin.cls.paper for name, plugin in self.methods.items()}
        return {
            name: paper.fidelity_note or "from partial knowledge"
            for name, paper in papers.items()
            if paper.fidelity == RECONSTRUCTION
        }

    def put(self, plugin: Plugin) -> None:
        """Add a plugin."""
        plugins = self.of(plugin.kind)
        known = plugins.get(plugin.name)
        if known is not None and known.cls is not plugin.cls:
            raise HashbenchError(
                f"two {plugin.kind} named {plugin.name!r}: {known.path} and {plugin.path}"
            )
        plugins[plugin.name] = plugin


def discover(paths: Sequence[str | os.PathLike[str]] = ()) -> Registry:
    """Find every plugin.

    Parameters
    ----------
    paths : files and folders with the user's plugins, in addition to those in HASHBENCH_PLUGINS
    """
    from_environment = [p for p in os.environ.get(ENVIRONMENT, "").split(os.pathsep) if p]
    local = tuple(dict.fromkeys(Path(p).resolve() for p in (*from_environment, *paths) if str(p)))
    registry = Registry(paths=local)
    for kind in KINDS:
        package = importlib.import_module(f"hashbench.{kind}")
        for found in pkgutil.iter_modules(package.__path__):
            name = f"{package.__name__}.{found.name}"
            where = str(Path(package.__path__[0]) / f"{found.name}.py")
            _attempt(registry, where, "built in", partial(importlib.import_module, name))
        for entry in importlib.metadata.entry_points(group=f"hashbench.{kind}"):
            _attempt(
                registry, f"entry point {entry.value}", "installed", partial(_entry_module, entry)
            )
    for path in local:
        for file in _python_files(path):
            _attempt(registry, str(file), "local", partial(_load_file, file))
    for kind in KINDS:
        ordered = sorted(registry.of(kind).items())
        registry.of(kind).clear()
        registry.of(kind).update(ordered)
    return registry


def _attempt(registry: Registry, where: str, origin: str, load: Callable[[], ModuleType]) -> None:
    try:
        with _same_working_directory():
            found = list(_plugins(load(), origin))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plugin may raise anything
        registry.broken.append(Broken(where, origin, _describe(error, where)))
        return
    for plugin in found:
        registry.put(plugin)


@contextlib.contextmanager
def _same_working_directory() -> Iterator[None]:
    """Restore the working directory: research code often changes it when it is imported."""
    before = os.getcwd()
    try:
        yield
    finally:
        os.chdir(before)


def _describe(error: BaseException, where: str) -> str:
    """Return one line with the error of a plugin and the line of its file."""
    text = str(error).strip().partition("\n")[0]
    if isinstance(error, HashbenchError):
        return text
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f" (line {frame.lineno})" for frame in frames if frame.filename == where]
    return f"{type(error).__name__}: {text}{lines[-1] if lines else ''}"


def _plugins(module: ModuleType, origin: str) -> Iterator[Plugin]:
    """Yield the plugin classes that a module defines; classes without a name are base classes."""
    for cls in vars(module).values():
        if not inspect.isclass(cls) or cls.__module__ != module.__name__:
            continue
        kind = getattr(cls, "plugin_kind", None)
        if kind in KINDS and hasattr(cls, "name"):
            check_class(kind, cls)
            yield Plugin(kind, cls.name, cls, Path(inspect.getfile(cls)).resolve(), origin)


def check_class(kind: str, cls: type[Any]) -> None:
    """Raise an error if a plugin class lacks an attribute or has a wrong one."""
    rules: dict[str, tuple[bool, str]] = {
        "name": (_is_name(cls.name), "a text of letters, digits and the signs - _ . +"),
        "title": (isinstance(cls.title, str), "a text"),
    }
    required: tuple[str, ...] = ()
    if kind == "methods":
        required = ("n_bits", "random_state")
        labels, paper = getattr(cls, "supervised", None), cls.paper
        rules["supervised"] = (isinstance(labels, bool), "True or False")
        rules["paper"] = (isinstance(paper, Paper), "a hashbench.Paper")
        rules["tune_preprocessing"] = (isinstance(cls.tune_preprocessing, bool), "True or False")
        if isinstance(paper, Paper) and paper.fidelity not in FIDELITIES:
            raise unknown(f"{cls.__name__}.paper.fidelity", paper.fidelity, FIDELITIES)
    elif kind == "datasets":
        source, protocols = cls.source, cls.protocols
        rules["source"] = (isinstance(source, Citation | None), "a hashbench.Citation or None")
        rules["protocols"] = (isinstance(protocols, Mapping), "a mapping of names to protocols")
    for attribute, (right, allowed) in rules.items():
        if not right:
            found = repr(getattr(cls, attribute, "nothing"))
            raise HashbenchError(f"{cls.__name__}.{attribute}: found {found}; allowed: {allowed}")
    if kind == "methods" and (wrong := space_error(cls.space, cls.defaults())):
        raise HashbenchError(f"{cls.__name__}.space: {wrong}")
    if kind == "methods" and (wrong := allowed_error(cls)):
        raise HashbenchError(f"{cls.__name__}.allowed: {wrong}")
    lacking = sorted(getattr(cls, "__abstractmethods__", ()))
    if lacking:
        raise HashbenchError(f"{cls.__name__}: found no {' and no '.join(lacking)}; write it")
    defaults = cls.defaults()
    for parameter in (*defaults, *required):
        if defaults.get(parameter, inspect.Parameter.empty) is inspect.Parameter.empty:
            raise HashbenchError(
                f"{cls.__name__}.__init__: found no default of the parameter {parameter}"
            )


def _is_name(name: Any) -> bool:
    """Return whether a selection can contain the name."""
    return isinstance(name, str) and re.fullmatch(r"\w[\w.+-]*", name) is not None


def _entry_module(entry: importlib.metadata.EntryPoint) -> ModuleType:
    """Load an entry point and return its module."""
    loaded = entry.load()
    return loaded if isinstance(loaded, ModuleType) else sys.modules[loaded.__module__]


def _python_files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from (p for p in sorted(path.glob("*.py")) if not p.name.startswith("_"))
    elif path.is_file():
        yield path
    else:
        raise HashbenchError(f"plugin path {str(path)!r} does not exist; allowed: a file or folder")


def _load_file(path: Path) -> ModuleType:
    if wrong := isolation.run_in_subprocess(lambda: _try_import(path), path.name, "importing"):
        raise HashbenchError(wrong)
    return import_file(path)


def _try_import(path: Path) -> str:
    """Import a file in a subprocess and return the error, or an empty text."""
    silence = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):  # the import that follows prints it
        os.dup2(silence, descriptor)
    try:
        import_file(path)
    except BaseException as error:
        return _describe(error, str(path))
    closed = [name for name in ("stdin", "stdout", "stderr") if getattr(sys, name).closed]
    return f"importing it closes {' and '.join(closed)}" if closed else ""


def import_file(path: Path) -> ModuleType:
    """Import a Python file, under a name that follows from its path."""
    digest = hashlib.sha256(str(path).encode()).hexdigest()[:8]
    name = f"hashbench_plugin_{path.stem}_{digest}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise HashbenchError(f"plugin {str(path)!r} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
