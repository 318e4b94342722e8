"""``hashbench check``: does a plugin keep the rules that the harness relies on?"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import click

from hashbench.commands import find_plugins, plugin_option
from hashbench.conformance import Outcome, run_checks
from hashbench.errors import HashbenchError
from hashbench.registry import Plugin


@click.command("check")
@click.argument("plugin_name", metavar="PLUGIN")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@plugin_option
def check_command(plugin_name: str, as_json: bool, plugins: tuple[str, ...]) -> None:
    """Put a method through the conformance suite.

    PLUGIN is the name of a method, or the path of a file: then every method in it is checked.
    """
    chosen = _chosen(plugin_name, plugins)
    outcomes: dict[str, list[Outcome]] = {}
    for plugin in chosen:
        outcomes[plugin.name] = []
        if not as_json:
            click.echo(f"{plugin.name} ({plugin.path})")
        for outcome in run_checks(plugin.cls):
            outcomes[plugin.name].append(outcome)
            if not as_json:
                reason = f": {outcome.message}" if outcome.message else ""
                click.echo(f"  {outcome.status:<8} {outcome.check}{reason}")
    if as_json:
        click.echo(json.dumps({k: [asdict(o) for o in v] for k, v in outcomes.items()}, indent=2))
    failed = sum(o.status == "failed" for found in outcomes.values() for o in found)
    if failed:
        click.echo(f"hashbench: {failed} checks failed", err=True)
        sys.exit(1)


def _chosen(text: str, plugins: tuple[str, ...]) -> list[Plugin]:
    path = Path(text)
    if path.suffix != ".py" and not path.is_dir():
        registry = find_plugins(plugins)
        if text in registry.datasets:
            raise HashbenchError(
                f"{text!r} is a dataset; allowed: methods (see hashbench data describe {text})"
            )
        return [registry.get("methods", text)]
    registry = find_plugins((*plugins, text))
    root = path.resolve()
    found = [p for p in registry.methods.values() if root in (p.path, *p.path.parents)]
    if not found:
        raise HashbenchError(
            f"{text}: found no method; allowed: subclasses of hashbench.Method with a name"
        )
    return found
