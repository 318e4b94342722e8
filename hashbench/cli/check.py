"""``hashbench check``: run the conformance checks on a plugin."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from hashbench.checks.datasets import run_data_checks
from hashbench.checks.methods import CheckResult, run_checks
from hashbench.cli import completion, find_plugins, plugin_option
from hashbench.core.errors import HashbenchError, unknown
from hashbench.core.units import format_count
from hashbench.plugins.registry import Plugin
from hashbench.plugins.requirements import unavailable


@click.command("check")
@click.argument("plugin_name", metavar="PLUGIN", shell_complete=completion.plugins)
@click.option(
    "--sensitivity",
    is_flag=True,
    help="Also measure how far rounding moves the scores of a method.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@plugin_option
def check_command(
    plugin_name: str, sensitivity: bool, as_json: bool, plugins: tuple[str, ...]
) -> None:
    """Run the conformance checks on a method or a dataset.

    PLUGIN is its name, or the path of a file: then every method and dataset in it is checked.
    """
    chosen = _chosen_plugins(plugin_name, plugins)
    methods = {plugin.name: plugin for plugin in chosen if plugin.kind == "methods"}
    for name, needs in unavailable(methods).items():
        raise HashbenchError(f"method {name} needs {needs}")
    outcomes: dict[str, list[CheckResult]] = {}
    for plugin in chosen:
        outcomes[plugin.name] = []
        if not as_json:
            click.echo(f"{plugin.name} ({plugin.path})")
        checks = run_checks if plugin.kind == "methods" else run_data_checks
        printed = io.StringIO()  # what the plugin prints itself is no line of this command's
        for outcome in _without_output(checks(plugin.cls), printed):
            outcomes[plugin.name].append(outcome)
            if not as_json:
                reason = f": {outcome.message}" if outcome.message else ""
                click.echo(f"  {outcome.status:<8} {outcome.check}{reason}")
        for line in printed.getvalue().splitlines():
            click.echo(f"printed by {plugin.name}: {line}", err=True)
    if as_json:
        click.echo(json.dumps({k: [asdict(o) for o in v] for k, v in outcomes.items()}, indent=2))
    if sensitivity:
        _measure(methods.values(), plugins if Path(plugin_name).suffix != ".py" else (plugin_name,))
    failed = sum(o.status == "failed" for found in outcomes.values() for o in found)
    if failed:
        click.echo(f"hashbench: {format_count(failed, 'check')} failed", err=True)
        sys.exit(1)


def _measure(methods: Iterable[Plugin], plugins: Sequence[str]) -> None:
    """Measure how far rounding moves scores, store it and print it."""
    from hashbench.api.sensitivity import sensitivity
    from hashbench.plugins import numerical_tolerance

    measured = sensitivity(list(methods), plugins=[Path(path) for path in plugins])
    for name, found in measured.items():
        path = numerical_tolerance.store(name, found)
        click.echo(
            f"rounding of {name}: AP moves by {found.float64:.5f} (float64), "
            f"{found.float32:.5f} (float32), {found.kernels:.5f} (kernels {found.compared}); "
            f"{found.seeds} seeds; stored in {path}",
            err=True,
        )


def _without_output(outcomes: Iterable[CheckResult], printed: io.StringIO) -> Iterator[CheckResult]:
    """Yield outcomes; what is printed while they are computed goes to `printed`."""
    waiting = iter(outcomes)
    while True:
        with contextlib.redirect_stdout(printed):
            outcome = next(waiting, None)
        if outcome is None:
            return
        yield outcome


def _chosen_plugins(text: str, plugins: tuple[str, ...]) -> list[Plugin]:
    path = Path(text)
    if path.suffix != ".py":  # a name wins over a folder that happens to be called the same
        known = _all_plugins(plugins)
        found = [plugin for plugin in known if plugin.name == text]
        if found:
            return found
        if not path.is_dir():
            raise unknown("method or dataset", text, [plugin.name for plugin in known])
    known = _all_plugins((*plugins, text))
    root = path.resolve()
    found = [plugin for plugin in known if root in (plugin.path, *plugin.path.parents)]
    if not found:
        raise HashbenchError(
            f"{text}: found no method and no dataset; allowed: subclasses of hashbench.Method and "
            "hashbench.Dataset with a name"
        )
    return found


def _all_plugins(plugins: tuple[str, ...]) -> list[Plugin]:
    registry = find_plugins(plugins)
    return [*registry.methods.values(), *registry.datasets.values()]
