"""``hashbench list`` and ``hashbench show``: what there is to choose from."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import click

from hashbench.cli import completion, find_plugins, plugin_option
from hashbench.core.errors import unknown
from hashbench.plugins import numerical_tolerance
from hashbench.plugins.method import FIDELITIES, UP_TO_RANK
from hashbench.plugins.registry import KINDS, Plugin, Registry
from hashbench.plugins.requirements import install_command, missing_modules
from hashbench.plugins.selection import format_value
from hashbench.plugins.space import as_range
from hashbench.render.terminal import facts, listing

LISTINGS = (*KINDS, "measures")

#: Behind the fidelity of methods that agree with other code up to the rank of the data.
TO_RANK = "^"


@click.command("list")
@click.argument("kind", required=False, metavar="[methods|datasets|reports|measures]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@plugin_option
def list_command(kind: str | None, as_json: bool, plugins: tuple[str, ...]) -> None:
    """List methods, datasets, reports and measures, or one kind of them."""
    if kind is not None and kind not in LISTINGS:
        raise unknown("listing", kind, LISTINGS)
    registry = find_plugins(plugins)
    kinds = LISTINGS if kind is None else (kind,)
    entries = {each: _entries(registry, each) for each in kinds}
    if as_json:
        click.echo(json.dumps(entries if kind is None else entries[kind], indent=2))
    else:
        click.echo("\n\n".join(_TABLES[each](rows) for each, rows in entries.items()))


@click.command("show")
@click.argument("name", shell_complete=completion.plugins)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@plugin_option
def show_command(name: str, as_json: bool, plugins: tuple[str, ...]) -> None:
    """Show one plugin: paper, parameters with defaults, where it comes from."""
    registry = find_plugins(plugins)
    found = [registry.of(kind)[name] for kind in KINDS if name in registry.of(kind)]
    if not found:
        raise unknown("plugin", name, [n for kind in KINDS for n in registry.of(kind)])
    if as_json:
        entries = [_describe(plugin) for plugin in found]
        click.echo(json.dumps(entries[0] if len(entries) == 1 else entries, indent=2))
    else:
        click.echo("\n\n".join(_page(plugin) for plugin in found))


def _entries(registry: Registry, kind: str) -> list[dict[str, Any]]:
    if kind == "measures":
        from hashbench.measures import catalogue

        return [asdict(entry) for entry in catalogue()]
    return [_describe(plugin) for plugin in registry.of(kind).values()]


def _describe(plugin: Plugin) -> dict[str, Any]:
    cls = plugin.cls
    entry: dict[str, Any] = {
        "name": plugin.name,
        "title": plugin.title,
        "summary": _summary(cls),
        "origin": plugin.origin,
        "path": str(plugin.path),
        "parameters": {name: _plain(value) for name, value in cls.defaults().items()},
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


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | type(None)) else repr(value)


def _summary(cls: type[Any]) -> str:
    """The first paragraph of the docstring, on one line."""
    return " ".join((cls.__doc__ or "").strip().partition("\n\n")[0].split())


def _page(plugin: Plugin) -> str:
    entry = _describe(plugin)
    about: list[tuple[str, str]] = []
    if plugin.kind == "methods":
        about.append(("kind", ", ".join(_traits(entry))))
        limit = f", {UP_TO_RANK}" if entry["up_to_rank"] else ""
        about.append(("fidelity", FIDELITIES[entry["fidelity"]] + limit))
        about += [("", entry["fidelity_note"])] if entry["fidelity_note"] else []
        about.append(("rounding", entry["rounding"]))
        about.append(("paper", entry["paper"] or "none"))
        for module in entry["requires"]:
            absent = module in entry["lacking"]
            command = f", not installed: {install_command(module)}" if absent else ""
            about.append(("needs", f"{module}{command}"))
    elif plugin.kind == "datasets":
        about.append(("source", entry["source"] or "none"))
        about += [("licence", entry["licence"])] if entry["licence"] else []
        about.append(("preprocessing", " / ".join(entry["preprocessing"])))
        for name, text in entry["protocols"].items():
            first = name == next(iter(entry["protocols"]))
            about.append(("protocols" if first else "", f"{name}: {text}"))
    about.append(("origin", f"{entry['origin']}, {entry['path']}"))
    lines = [f"{plugin.name} ({plugin.kind.removesuffix('s')}): {plugin.title}", ""]
    lines += [facts([(entry["summary"],)]), "", facts(about)]
    if entry["parameters"]:
        lines += ["", "parameters"]
        lines += [
            f"  {name} = {format_value(value)}" for name, value in entry["parameters"].items()
        ]
    if plugin.kind == "methods":
        lines += ["", "space" if entry["space"] else "space: none; the method is not tuned"]
        lines += [f"  {name}: {values}" for name, values in entry["space"].items()]
    return "\n".join(lines)


def _traits(entry: dict[str, Any]) -> list[str]:
    return [
        "supervised" if entry["supervised"] else "unsupervised",
        "discrete" if entry["discrete"] else "relaxed",
        _features(entry),
        "scalable" if entry["scalable"] else "not scalable",
        *([] if entry["hamming"] else ["not Hamming"]),
    ]


def _features(entry: dict[str, Any]) -> str:
    """What the hash functions do with features; one that needs torch is a network."""
    if "torch" in entry["requires"]:
        return "network"
    return "kernel" if entry["kernel"] else "linear"


def _methods(rows: list[dict[str, Any]]) -> str:
    header = ("method", "labels", "codes", "features", "scales", "year", "fidelity")
    table = listing(
        header,
        [
            (
                row["name"],
                "supervised" if row["supervised"] else "-",
                "discrete" if row["discrete"] else ("relaxed" if row["hamming"] else "vectors"),
                _features(row),
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
    """Say what must be installed for some of the methods, a line a module."""
    found: dict[str, list[str]] = {}
    for row in rows:
        for module in row["lacking"]:
            found.setdefault(module, []).append(row["name"])
    return [
        f"need {module} ({install_command(module)}): {', '.join(names)}"
        for module, names in found.items()
    ]


def _datasets(rows: list[dict[str, Any]]) -> str:
    return listing(
        ("dataset", "split", "what it is"),
        [(row["name"], _protocols(list(row["protocols"])), row["summary"]) for row in rows],
    )


def _protocols(names: list[str]) -> str:
    """The default, and how many others `hashbench show` names."""
    return names[0] if len(names) == 1 else f"{names[0]} (+{len(names) - 1})"


def _reports(rows: list[dict[str, Any]]) -> str:
    return listing(("report", "what it shows"), [(row["name"], row["summary"]) for row in rows])


def _measures(rows: list[dict[str, Any]]) -> str:
    return listing(
        ("measure", "what it is"),
        [
            (row["name"], row["summary"] + (f" ({row['reproduces']})" if row["reproduces"] else ""))
            for row in rows
        ],
    )


_TABLES: dict[str, Callable[[list[dict[str, Any]]], str]] = {
    "methods": _methods,
    "datasets": _datasets,
    "reports": _reports,
    "measures": _measures,
}
