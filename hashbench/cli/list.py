"""``hashbench list``: methods, datasets, reports, measures and studies."""

from __future__ import annotations

import itertools
import json
import re
import tomllib
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import click

from hashbench.cli import find_plugins, plugin_option
from hashbench.core.errors import unknown
from hashbench.execution.study import built_in
from hashbench.plugins import numerical_tolerance
from hashbench.plugins.allowed import allowed_values, in_words
from hashbench.plugins.method import UP_TO_RANK
from hashbench.plugins.parameter_docs import meanings
from hashbench.plugins.registry import KINDS, Plugin, Registry
from hashbench.plugins.requirements import install_command, missing_modules
from hashbench.plugins.space import as_range
from hashbench.render.terminal import facts, listing

LISTINGS = (*KINDS, "measures", "studies")

#: Behind the fidelity of methods that agree with other code up to the rank of the data.
TO_RANK = "^"


@click.command("list")
@click.argument("kind", required=False, metavar="[methods|datasets|reports|measures|studies]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@plugin_option
def list_command(kind: str | None, as_json: bool, plugins: tuple[str, ...]) -> None:
    """List methods, datasets, reports, measures and studies, or one kind of them."""
    if kind is not None and kind not in LISTINGS:
        raise unknown("listing", kind, LISTINGS)
    registry = find_plugins(plugins)
    kinds = LISTINGS if kind is None else (kind,)
    entries = {each: _entries(registry, each) for each in kinds}
    if as_json:
        click.echo(json.dumps(entries if kind is None else entries[kind], indent=2))
    else:
        click.echo("\n\n".join(_TABLES[each](rows) for each, rows in entries.items()))


def _entries(registry: Registry, kind: str) -> list[dict[str, Any]]:
    if kind == "measures":
        from hashbench.measures import catalogue

        return [asdict(entry) for entry in catalogue()]
    if kind == "studies":
        return [describe_study(name) for name in built_in()]
    return [describe(plugin) for plugin in registry.of(kind).values()]


def describe(plugin: Plugin) -> dict[str, Any]:
    """Return the facts about a plugin by name, as ``--json`` prints them."""
    cls = plugin.cls
    entry: dict[str, Any] = {
        "name": plugin.name,
        "title": plugin.title,
        "summary": _summary(cls),
        "origin": plugin.origin,
        "path": str(plugin.path),
        "parameters": {name: _json_value(value) for name, value in cls.defaults().items()},
    }
    if plugin.kind == "methods":
        entry |= {
            "supervised": cls.supervised,
            "discrete": cls.discrete,
            "kernel": cls.kernel,
            "scalable": cls.scalable,
            "hamming": cls.hamming,
            "requires": list(cls.requires),
            "lacking": missing_modules(cls),
            "year": cls.paper.year or None,
            "fidelity": cls.paper.fidelity,
            "rounding": numerical_tolerance.words(plugin.name),
            "fidelity_note": cls.paper.fidelity_note,
            "up_to_rank": cls.paper.up_to_rank,
            "paper": str(cls.paper) if cls.paper.title else None,
            "meanings": {name: plain_text(said) for name, said in meanings(cls).items()},
            "allowed": {
                name: in_words(values, cls.defaults()[name])
                for name, values in allowed_values(cls).items()
            },
            "space": {name: str(as_range(values)) for name, values in cls.space.items()},
            "tune_preprocessing": cls.tune_preprocessing,
        }
    elif plugin.kind == "datasets":
        entry |= {
            "synthetic": cls.synthetic,
            "preprocessing": list(cls.preprocessing),
            "protocols": {name: p.description for name, p in cls.protocols.items()},
            "source": str(cls.source) if cls.source else None,
            "licence": cls.licence or None,
        }
    return entry


def describe_study(name: str) -> dict[str, Any]:
    """Return the facts about a study that ships with hashbench by name."""
    path = built_in()[name]
    text = path.read_text(encoding="utf-8")
    comments = itertools.takewhile(lambda line: line.startswith("#"), text.splitlines())
    summary = " ".join(line.removeprefix("#").strip() for line in comments)
    return {"name": name, "summary": summary, "path": str(path), "study": tomllib.loads(text)}


def _json_value(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | type(None)) else repr(value)


def plain_text(docstring: str) -> str:
    """Return a docstring without marks for code and links.

    Examples
    --------
    >>> plain_text("As :class:`CCA` with ``ridge``, see :data:`hashbench.neural.inputs.SCALINGS`.")
    'As CCA with ridge, see hashbench.neural.inputs.SCALINGS.'
    """
    return re.sub(r":\w+:`([^`]*)`", r"\1", docstring).replace("``", "")


def _summary(cls: type[Any]) -> str:
    """Return the first paragraph of the docstring, on one line."""
    return " ".join((cls.__doc__ or "").strip().partition("\n\n")[0].split())


def feature_map(entry: dict[str, Any]) -> str:
    """Return how a method maps features: linear, kernel or network."""
    if "torch" in entry["requires"]:
        return "network"
    return "kernel" if entry["kernel"] else "linear"


def _methods_table(rows: list[dict[str, Any]]) -> str:
    header = ("method", "labels", "codes", "features", "scales", "year", "fidelity")
    table = listing(
        header,
        [
            (
                row["name"],
                "supervised" if row["supervised"] else "-",
                "discrete" if row["discrete"] else ("relaxed" if row["hamming"] else "vectors"),
                feature_map(row),
                "yes" if row["scalable"] else "no",
                str(row["year"] or "-"),
                row["fidelity"] + (TO_RANK if row["up_to_rank"] else ""),
            )
            for row in rows
        ],
    )
    lines = [f"{TO_RANK} {UP_TO_RANK}"] if any(row["up_to_rank"] for row in rows) else []
    return "\n\n".join([table, *(facts([(line,)]) for line in [*lines, *_absent(rows)])])


def _absent(rows: list[dict[str, Any]]) -> list[str]:
    """Return one line per module that must be installed for some of the methods."""
    found: dict[str, list[str]] = {}
    for row in rows:
        for module in row["lacking"]:
            found.setdefault(module, []).append(row["name"])
    return [
        f"need {module} ({install_command(module)}): {', '.join(names)}"
        for module, names in found.items()
    ]


def _datasets_table(rows: list[dict[str, Any]]) -> str:
    return listing(
        ("dataset", "split", "what it is"),
        [(row["name"], _protocols(list(row["protocols"])), row["summary"]) for row in rows],
    )


def _protocols(names: list[str]) -> str:
    """Return the default protocol and the number of others."""
    return names[0] if len(names) == 1 else f"{names[0]} (+{len(names) - 1})"


def _reports_table(rows: list[dict[str, Any]]) -> str:
    return listing(("report", "what it shows"), [(row["name"], row["summary"]) for row in rows])


def _measures_table(rows: list[dict[str, Any]]) -> str:
    return listing(
        ("measure", "what it is"),
        [
            (row["name"], row["summary"] + (f" ({row['reproduces']})" if row["reproduces"] else ""))
            for row in rows
        ],
    )


def _studies_table(rows: list[dict[str, Any]]) -> str:
    return listing(("study", "what it is"), [(row["name"], row["summary"]) for row in rows])


_TABLES: dict[str, Callable[[list[dict[str, Any]]], str]] = {
    "methods": _methods_table,
    "datasets": _datasets_table,
    "reports": _reports_table,
    "measures": _measures_table,
    "studies": _studies_table,
}
