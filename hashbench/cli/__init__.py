"""The command line: one module a command, imported when that command is called."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import hashbench
from hashbench.core.errors import HashbenchError, describe_os_error
from hashbench.core.text import one_line

if TYPE_CHECKING:
    from hashbench.plugins.registry import Registry

#: The exit code of a command that was interrupted, as shells have it for Ctrl-C.
INTERRUPTED = 130

#: command -> (module below this package, one line for --help); the object in it has the
#: command's name
COMMANDS = {
    "run": ("run", "Run a study: methods on datasets, into a folder of results."),
    "status": ("status", "Show what of a study is done, failed, timed out and left."),
    "verify": ("verify", "Check every file and number of a study, and fit some cells again."),
    "merge": ("merge", "Bring the results of several machines together."),
    "report": ("report", "Write tables and figures of a study, from stored codes."),
    "compare": ("compare", "Compare two methods: paired, with significance."),
    "list": ("list_show", "List methods, datasets, reports and measures."),
    "show": ("list_show", "Show one plugin: paper, parameters with defaults, origin."),
    "data": ("data", "Download, check and describe datasets."),
    "new": ("new", "Write a working plugin file to start from."),
    "check": ("check", "Put a plugin through the conformance suite."),
    "evaluate": ("evaluate", "Score codes that somebody else produced."),
    "doctor": ("doctor", "Show what this installation has and lacks."),
    "cache": ("cache", "List and clear downloads and compiled kernels."),
}


class LazyGroup(click.Group):
    """A group that imports a command's module only to run it or to show its help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return one command."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"hashbench.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(hashbench.__version__, "-V", "--version", prog_name="hashbench")
def cli() -> None:
    """Benchmark cross-modal hashing: image-text retrieval with short binary codes."""


def main(arguments: list[str] | None = None) -> Any:
    """Run the command line; what went wrong outside the program is one line.

    What the user did wrong ends with exit code 2, what the system refused with 1, an interrupt
    with 130.
    """
    try:
        code = cli.main(args=arguments, prog_name="hashbench", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort as error:  # click's name for an interrupt, and for an end of input
        if isinstance(error.__cause__, EOFError):
            raise error.__cause__ from None
        click.echo("hashbench: interrupted", err=True)
        sys.exit(INTERRUPTED)
    except HashbenchError as error:
        said = str(error)  # which quotes files and names: no command to a terminal is among it
        click.echo(f"hashbench: {said if said.isprintable() else one_line(said)}", err=True)
        sys.exit(2)
    except OSError as error:
        click.echo(f"hashbench: {describe_os_error(error, 'a file')}", err=True)
        sys.exit(1)


def find_plugins(paths: Sequence[str]) -> Registry:
    """Find every plugin, and say which are broken: the names they would have had are unknown."""
    from hashbench.plugins.registry import discover

    registry = discover(paths)
    for broken in registry.broken:
        click.echo(f"broken plugin {broken.path}: {broken.error}", err=True)
    return registry


def with_study(out: Path, plugins: Sequence[str]) -> Registry:
    """Find every plugin; of those that the study in OUT used and that are not loaded, the facts.

    A folder of results is data: no code that it names is run. A line says what is not loaded.
    """
    from hashbench.plugins.stored_facts import add_recorded

    registry = find_plugins(plugins)
    if names := add_recorded(registry, out):
        click.echo(not_loaded(names), err=True)
    return registry


def not_loaded(names: Sequence[str]) -> str:
    """Say which plugins of a study are known from its folder only."""
    return f"plugins not loaded, described as in the folder: {', '.join(names)} (--plugin FILE)"


#: ``--plugin``, for every command that looks at plugins
plugin_option = click.option(
    "--plugin",
    "plugins",
    multiple=True,
    metavar="PATH",
    help="A file or folder with plugins of your own; may be repeated.",
)
