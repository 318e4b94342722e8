"""Facts about a study's plugins that are stored with its results.

Reports read titles, papers and protocols of plugins that do not ship with hashbench from there.
The code of a plugin is imported only when the user names it with ``--plugin``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from hashbench.core.io import add_checksum, verify_checksum
from hashbench.core.records import from_json, to_json
from hashbench.plugins.method import FIDELITIES, Paper
from hashbench.plugins.registry import Plugin, Registry
from hashbench.plugins.space import Space

FILE = "plugins.json"  # in OUT

#: The origin of a plugin that is known from a folder of results only.
ORIGIN = "not loaded"

Facts = TypeVar("Facts", "MethodFacts", "DatasetFacts")


@dataclass(frozen=True)
class MethodFacts:
    """The class attributes of a method that reports read."""

    name: str
    title: str
    objective_note: str
    supervised: bool
    kernel: bool
    hamming: bool
    linear: bool
    requires: tuple[str, ...]
    paper: Paper

    space: ClassVar[Space] = {}

    def __post_init__(self) -> None:
        if self.paper.fidelity not in FIDELITIES:
            raise ValueError(f"found fidelity {self.paper.fidelity!r}")


@dataclass(frozen=True)
class ProtocolFacts:
    """The description of a protocol."""

    description: str


@dataclass(frozen=True)
class DatasetFacts:
    """The class attributes of a dataset that reports read."""

    name: str
    title: str
    synthetic: bool
    protocols: Mapping[str, ProtocolFacts]


def describe_plugins(registry: Registry, methods: Iterable[str], datasets: Iterable[str]) -> str:
    """Return plugins.json: facts about the plugins of a study that are not built in."""
    record = {
        "methods": {
            plugin.name: to_json(_facts(MethodFacts, plugin.cls))
            for plugin in _not_built_in(registry.methods, methods)
        },
        "datasets": {
            plugin.name: to_json(_dataset_facts(plugin.cls))
            for plugin in _not_built_in(registry.datasets, datasets)
        },
    }
    return json.dumps(add_checksum(record), indent=1) + "\n"


def _not_built_in(known: Mapping[str, Plugin], names: Iterable[str]) -> list[Plugin]:
    plugins = [known[name] for name in sorted(set(names)) if name in known]
    return [plugin for plugin in plugins if plugin.origin != "built in"]


def _facts(kind: type[Facts], cls: Any, **changes: Any) -> Facts:
    """Return the facts of a plugin class, or of facts that were read."""
    return kind(**{each.name: getattr(cls, each.name) for each in fields(kind)} | changes)


def _dataset_facts(cls: Any) -> DatasetFacts:
    protocols = {name: ProtocolFacts(str(p.description)) for name, p in cls.protocols.items()}
    return _facts(DatasetFacts, cls, protocols=protocols)


def merge_plugins(folders: Iterable[Path]) -> str:
    """Return plugins.json for several folders of results; the first of one name is kept."""
    registry = Registry()
    for folder in folders:
        add_recorded(registry, folder)
    return describe_plugins(registry, registry.methods, registry.datasets)


def add_recorded(registry: Registry, out: Path) -> list[str]:
    """Add the recorded plugins of OUT that are not loaded to a registry; return their names."""
    names = []
    for kind, facts in _read(out).items():
        for name, each in facts.items():
            if name not in registry.of(kind):
                registry.put(Plugin(kind, name, each, out / FILE, ORIGIN))
                names.append(name)
    return names


def _read(out: Path) -> dict[str, dict[str, Any]]:
    """Return the facts in OUT by kind and name; none if the file is missing or damaged."""
    try:
        record = verify_checksum(json.loads((out / FILE).read_text(encoding="utf-8")))
        return {
            kind: {name: from_json(cls, each) for name, each in record[kind].items()}
            for kind, cls in (("methods", MethodFacts), ("datasets", DatasetFacts))
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}
