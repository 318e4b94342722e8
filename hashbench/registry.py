"""Finding plugins: the harness knows none of them by name.

Built-in plugins, installed ones (entry points) and a user's own files go through the same door.
A plugin that does not import is kept with its error and stops nothing; two of one name are an
error that names both places.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
import inspect
import os
import pkgutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from hashbench.dataset import Dataset
from hashbench.errors import HashbenchError, unknown
from hashbench.method import Method
from hashbench.report import Report

KINDS: dict[str, type[Any]] = {"methods": Method, "datasets": Dataset, "reports": Report}

#: Folders and files with plugins of the user's own, separated as in PATH.
ENVIRONMENT = "HASHBENCH_PLUGINS"


@dataclass(frozen=True)
class Plugin:
    """A plugin class and where it was found."""

    kind: str
    name: str
    cls: type[Any]
    path: Path
    origin: str  # "built in", "installed" or "local"

    @property
    def title(self) -> str:
        """What tables print."""
        return str(self.cls.title or self.name)

    @property
    def source_hash(self) -> str:
        """A hash of the file: a changed plugin is another plugin."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest()[:16]


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

    def add(self, module: ModuleType, origin: str) -> None:
        """Take in every plugin class that a module defines."""
        for cls in vars(module).values():
            if not inspect.isclass(cls) or cls.__module__ != module.__name__:
                continue
            for kind, base in KINDS.items():
                if issubclass(cls, base) and not inspect.isabstract(cls) and hasattr(cls, "name"):
                    path = Path(inspect.getfile(cls)).resolve()
                    self._put(Plugin(kind, cls.name, cls, path, origin))

    def _put(self, plugin: Plugin) -> None:
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
    paths : files and folders with plugins of the user's own, besides those in HASHBENCH_PLUGINS
    """
    from_environment = [p for p in os.environ.get(ENVIRONMENT, "").split(os.pathsep) if p]
    local = tuple(dict.fromkeys(Path(p).resolve() for p in (*from_environment, *paths)))
    registry = Registry(paths=local)
    for kind in KINDS:
        package = importlib.import_module(f"hashbench.{kind}")
        for found in pkgutil.iter_modules(package.__path__):
            name = f"{package.__name__}.{found.name}"
            where = str(Path(package.__path__[0]) / f"{found.name}.py")
            _attempt(registry, where, "built in", lambda name=name: importlib.import_module(name))
        for entry in importlib.metadata.entry_points(group=f"hashbench.{kind}"):
            _attempt(registry, f"entry point {entry.value}", "installed", lambda e=entry: _entry(e))
    for path in local:
        for file in _python_files(path):
            _attempt(registry, str(file), "local", lambda file=file: _load_file(file))
    for kind in KINDS:
        ordered = sorted(registry.of(kind).items())
        registry.of(kind).clear()
        registry.of(kind).update(ordered)
    return registry


def _attempt(registry: Registry, where: str, origin: str, load: Any) -> None:
    try:
        module = load()
    except Exception as error:  # whatever a plugin raises is its own
        registry.broken.append(Broken(where, origin, f"{type(error).__name__}: {error}"))
    else:
        registry.add(module, origin)


def _entry(entry: importlib.metadata.EntryPoint) -> ModuleType:
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
