"""``hashbench show``: the facts about one plugin or study."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import click

from hashbench.cli import completion, find_plugins, plugin_option
from hashbench.cli.list import describe, describe_study, feature_map
from hashbench.core.errors import HashbenchError, unknown
from hashbench.execution.study import built_in
from hashbench.plugins.method import FIDELITIES, UP_TO_RANK
from hashbench.plugins.parameter_docs import effects
from hashbench.plugins.registry import KINDS, Plugin
from hashbench.plugins.requirements import install_command
from hashbench.plugins.selection import format_value
from hashbench.render.terminal import facts
from hashbench.site.bibtex import bibtex

#: The data of effects of parameters.
MEASURED_ON = "emoji, 16 bits, 1 split"


@click.command("show")
@click.argument("name", shell_complete=completion.plugins_and_studies)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--bibtex", "as_bibtex", is_flag=True, help="Print the paper as a BibTeX entry.")
@plugin_option
def show_command(name: str, as_json: bool, as_bibtex: bool, plugins: tuple[str, ...]) -> None:
    """Show a plugin or a study: paper, parameters in words with ranges, where it comes from.

    `allowed` is what a parameter may be, `searched` where tuning looks. Of many methods the effect
    of the ends of the search was measured.
    """
    registry = find_plugins(plugins)
    found = [registry.of(kind)[name] for kind in KINDS if name in registry.of(kind)]
    studies = [describe_study(name)] if name in built_in() else []
    if not found and not studies:
        names = [n for kind in KINDS for n in registry.of(kind)]
        raise unknown("plugin or study", name, [*names, *built_in()])
    if as_bibtex:
        click.echo(_bibtex(name, found))
    elif as_json:
        entries = [*map(describe, found), *studies]
        click.echo(json.dumps(entries[0] if len(entries) == 1 else entries, indent=2))
    else:
        click.echo("\n\n".join([*map(_facts_text, found), *map(_study_text, studies)]))


def _bibtex(name: str, found: Sequence[Plugin]) -> str:
    """Return the papers of plugins as BibTeX."""
    papers = [getattr(p.cls, "paper", None) or getattr(p.cls, "source", None) for p in found]
    entries = [bibtex(paper) for paper in papers if paper is not None and paper.title]
    if not entries:
        raise HashbenchError(f"{name}: found no paper; allowed: methods and datasets with a paper")
    return "\n\n".join(entries)


def _study_text(entry: dict[str, Any]) -> str:
    """Return the facts about a study for a terminal."""
    keys = {**entry["study"]}
    rules = keys.pop("rules", [])
    about = [(key, _joined(value)) for key, value in keys.items()]
    for number, rule in enumerate(rules):
        settings = ", ".join(f"{k} = {format_value(v)}" for k, v in rule["set"].items())
        words = f"{rule['methods']} on {rule['datasets']}: {settings}"
        about.append(("rules" if not number else "", words))
    about += [("run it", f"hashbench run {entry['name']}"), ("file", entry["path"])]
    return f"{entry['name']} (study)\n\n{facts([(entry['summary'],)])}\n\n{facts(about)}"


def _joined(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _facts_text(plugin: Plugin) -> str:
    entry = describe(plugin)
    about: list[tuple[str, str]] = []
    if plugin.kind == "methods":
        about.append(("kind", ", ".join(_traits(entry))))
        limit = f", {UP_TO_RANK}" if entry["up_to_rank"] else ""
        word = entry["fidelity"]
        about.append(("fidelity", f"{word}: {FIDELITIES[word]}{limit}"))
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
    if rows := list(_parameters(entry)):
        lines += ["", "parameters", facts(rows)]
    if plugin.kind == "methods" and not entry["space"]:
        lines += ["", "searched: nothing; the method is not tuned"]
    return "\n".join(lines)


def _parameters(entry: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the lines about each parameter: its meaning, its values and what was measured."""
    for name, default in entry["parameters"].items():
        about = [entry.get("meanings", {}).get(name, "")]
        if name in entry.get("allowed", {}):
            about.append(f"allowed: {entry['allowed'][name]}")
        if name in entry.get("space", {}):
            about.append(f"searched: {entry['space'][name]}")
        if points := effects(entry["name"], name):
            values = (f"{ap:.2f} at {format_value(value)}" for value, ap in points[1:])
            about.append(f"AP: {points[0][1]:.2f} by default, {', '.join(values)} ({MEASURED_ON})")
        first, *others = filter(None, about) if any(about) else ("",)
        yield f"  {name} = {format_value(default)}", first
        yield from (("", line) for line in others)


def _traits(entry: dict[str, Any]) -> list[str]:
    return [
        "supervised" if entry["supervised"] else "unsupervised",
        "discrete" if entry["discrete"] else "relaxed",
        feature_map(entry),
        "scalable" if entry["scalable"] else "not scalable",
        *([] if entry["hamming"] else ["not Hamming"]),
    ]
