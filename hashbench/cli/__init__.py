"""The command line: one module per command, imported when that command is called.

The module ``list`` hides the builtin of that name here.
"""

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

#: command -> one line for --help; the module of that name has the object ``NAME_command``
COMMANDS = {
    "run": "Run a study: methods on datasets, into a folder of results.",
    "status": "Show which cells of a study are done, failed or left.",
    "verify": "Check every file and number of a study, and fit some cells again.",
    "merge": "Merge the results of several machines.",
    "report": "Write tables and figures of a study, from stored codes.",
    "export": "Write the codes of a study as files for other programs.",
    "compare": "Compare two methods: differences, intervals, p-values.",
    "list": "List methods, datasets, reports, measures and studies.",
    "show": "Show a plugin or study: paper, BibTeX, parameters, origin.",
    "data": "Download, check and describe datasets.",
    "new": "Write a working plugin file to start from.",
    "check": "Run the conformance checks on a plugin.",
    "evaluate": "Score codes that were computed elsewhere.",
    "rank": "Rank your method among all methods of the archive.",
    "explain": "Say which measure and protocol give a printed number.",
    "archive": "Show, check and write stored results of methods.",
    "doctor": "Show what this installation has and lacks.",
    "clean": "Delete what a folder of results does not need.",
    "cache": "List and clear downloads and compiled kernels.",
}


class LazyGroup(click.Group):
    """A group that imports a command's module only to run it or to show its help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which a newcomer needs them."""
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return one command."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"hashbench.cli.{cmd_name}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(hashbench.__version__, "-V", "--version", prog_name="hashbench")
def cli() -> None:
    """Benchmark cross-modal hashing: image-text retrieval with short binary codes."""


def main(arguments: list[str] | None = None) -> Any:
    """Run the command line; print an error of the user or of the system as one line.

    Exit codes: 2 for bad input, 1 for an error of the system, 130 for an interrupt.
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
        message = str(error)  # may quote a file with control characters for terminals
        click.echo(
            f"hashbench: {message if message.isprintable() else one_line(message)}", err=True
        )
        sys.exit(2)
    except OSError as error:
        click.echo(f"hashbench: {describe_os_error(error, 'a file')}", err=True)
        sys.exit(1)


def find_plugins(paths: Sequence[str]) -> Registry:
    """Return all plugins; print one line for each broken one."""
    from hashbench.plugins.registry import discover

    registry = discover(paths)
    for broken in registry.broken:
        click.echo(f"broken plugin {broken.path}: {broken.error}", err=True)
    return registry


def with_study(out: Path, plugins: Sequence[str]) -> Registry:
    """Return all plugins, and the stored facts of those that the study in OUT used.

    A folder of results is data: no code that it names is run. One line lists what is not loaded.
    """
    from hashbench.plugins.stored_facts import add_recorded

    registry = find_plugins(plugins)
    if names := add_recorded(registry, out):
        click.echo(not_loaded(names), err=True)
    return registry


def not_loaded(names: Sequence[str]) -> str:
    """Return the message about plugins of a study that are known from its folder only."""
    return f"plugins not loaded, described as in the folder: {', '.join(names)} (--plugin FILE)"


#: ``--plugin``, for every command that looks at plugins
plugin_option = click.option(
    "--plugin",
    "plugins",
    multiple=True,
    metavar="PATH",
    help="A file or folder with plugins of your own; may be repeated.",
)
