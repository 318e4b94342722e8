"""What a folder of results says of its plugins, so that reports need not run them.

A folder of results is data, possibly from a stranger. Titles, papers and protocols of plugins that
do not ship with hashbench are written beside the results when a study runs; a report reads them
there. The code of a plugin is loaded only when the user names it with ``--plugin``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hashbench.core.errors import HashbenchError
from hashbench.core.io import add_checksum, verify_checksum
from hashbench.plugins.dataset import Data, Dataset
from hashbench.plugins.method import FIDELITIES, LinearMethod, Method, Paper
from hashbench.plugins.registry import Plugin, Registry

FILE = "plugins.json"  # in OUT

#: The origin of a plugin of which only the record is here.
ORIGIN = "not loaded"

_METHOD_TEXTS = ("title", "objective_note")
_METHOD_FLAGS = ("supervised", "kernel", "hamming")


@dataclass(frozen=True)
class RecordedProtocol:
    """A protocol by its description: it names a split and cannot make one."""

    description: str

    def __call__(self, data: Any, rng: Any) -> Any:
        """Refuse to split."""
        raise HashbenchError("split: its plugin is not loaded; name it with --plugin FILE")


def describe_plugins(registry: Registry, methods: Iterable[str], datasets: Iterable[str]) -> str:
    """Return plugins.json: facts about the plugins of a study that are not built in."""
    chosen = {"methods": methods, "datasets": datasets}
    record: dict[str, Any] = {}
    for kind, names in chosen.items():
        known = registry.of(kind)
        record[kind] = {
            name: _method_facts(known[name].cls) if kind == "methods" else _data_facts(known[name])
            for name in sorted(set(names))
            if name in known and known[name].origin != "built in"
        }
    return json.dumps(add_checksum(record), indent=1) + "\n"


def merge_plugins(folders: Iterable[Path]) -> str:
    """Return plugins.json for the results of several folders; of one name the first counts."""
    registry = Registry()
    for folder in folders:
        add_recorded(registry, folder)
    return describe_plugins(registry, registry.methods, registry.datasets)


def _method_facts(cls: type[Method]) -> dict[str, Any]:
    return {
        **{name: getattr(cls, name) for name in (*_METHOD_TEXTS, *_METHOD_FLAGS)},
        "linear": issubclass(cls, LinearMethod),
        "requires": list(cls.requires),
        "paper": asdict(cls.paper),
    }


def _data_facts(plugin: Plugin) -> dict[str, Any]:
    protocols = plugin.cls.protocols
    return {
        "title": plugin.cls.title,
        "synthetic": bool(plugin.cls.synthetic),
        "protocols": {name: str(each.description) for name, each in protocols.items()},
    }


def add_recorded(registry: Registry, out: Path) -> list[str]:
    """Let a registry know what OUT says of plugins that are not loaded; return their names."""
    names = []
    for kind, classes in _read(out).items():
        for name, cls in classes.items():
            if name not in registry.of(kind):
                registry.put(Plugin(kind, name, cls, out / FILE, ORIGIN))
                names.append(name)
    return names


def _read(out: Path) -> dict[str, dict[str, type[Any]]]:
    """Return classes with the facts that OUT has, by kind and name; none if they are damaged."""
    try:
        record = verify_checksum(json.loads((out / FILE).read_text(encoding="utf-8")))
        return {
            "methods": {n: _method(n, facts) for n, facts in record["methods"].items()},
            "datasets": {n: _dataset(n, facts) for n, facts in record["datasets"].items()},
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}


def _method(name: str, facts: Mapping[str, Any]) -> type[Method]:
    """Return a class with the facts of a method and none of its code."""
    values = {
        **{key: str(facts[key]) for key in _METHOD_TEXTS},
        **{key: bool(facts[key]) for key in _METHOD_FLAGS},
        "requires": tuple(map(str, facts["requires"])),
        "paper": _paper(facts["paper"]),
        "name": name,
    }
    base = LinearMethod if facts["linear"] else Method
    return type(name, (base,), values)


def _paper(record: Mapping[str, Any]) -> Paper:
    authors, title, venue, note = (
        str(record[name]) for name in ("authors", "title", "venue", "fidelity_note")
    )
    fidelity = record["fidelity"] if record["fidelity"] in FIDELITIES else "own"
    limited = bool(record["up_to_rank"])
    return Paper(authors, title, venue, int(record["year"]), fidelity, note, limited)


def _dataset(name: str, facts: Mapping[str, Any]) -> type[Dataset]:
    protocols = {str(k): RecordedProtocol(str(v)) for k, v in facts["protocols"].items()}
    values = {
        "title": str(facts["title"]),
        "synthetic": bool(facts["synthetic"]),
        "protocols": protocols,
        "name": name,
        "load": _no_data,
    }
    return type(name, (Dataset,), values)


def _no_data(self: Dataset) -> Data:
    raise HashbenchError(f"dataset {self.name}: its plugin is not loaded; name it with --plugin")
