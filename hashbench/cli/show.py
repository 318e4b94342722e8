"""``hashbench show``: the facts about one plugin."""

from __future__ import annotations

import json
from typing import Any

import click

from hashbench.cli import completion, find_plugins, plugin_option
from hashbench.cli.list import describe, feature_map
from hashbench.core.errors import unknown
from hashbench.plugins.method import FIDELITIES, UP_TO_RANK
from hashbench.plugins.registry import KINDS, Plugin
from hashbench.plugins.requirements import install_command
from hashbench.plugins.selection import format_value
from hashbench.render.terminal import facts


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
        entries = [describe(plugin) for plugin in found]
        click.echo(json.dumps(entries[0] if len(entries) == 1 else entries, indent=2))
    else:
        click.echo("\n\n".join(_facts_text(plugin) for plugin in found))


def _facts_text(plugin: Plugin) -> str:
    entry = describe(plugin)
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
        feature_map(entry),
        "scalable" if entry["scalable"] else "not scalable",
        *([] if entry["hamming"] else ["not Hamming"]),
    ]
