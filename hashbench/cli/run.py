"""``hashbench run``: a study from a file, by name, or from flags.

What a run needs is imported once the pool has started: its own imports take as long.
"""

from __future__ import annotations

import os
import signal
from typing import Any

import click

from hashbench.api.study_args import RESULTS, resolve
from hashbench.cli import completion, plugin_option
from hashbench.neural.device import DEVICE


@click.command("run")
@click.argument("study", required=False, shell_complete=completion.studies)
@click.option(
    "-m",
    "--methods",
    multiple=True,
    shell_complete=completion.PluginSelection("methods"),
    help="Methods: edsh,cca*  edsh[gamma=1|10]  all,!lssh.",
)
@click.option(
    "-d",
    "--datasets",
    multiple=True,
    shell_complete=completion.PluginSelection("datasets"),
    help="Datasets or files: wiki,synthetic[rows=500],mine.mat.",
)
@click.option("-b", "--bits", help="Code lengths: 16,32.")
@click.option("-s", "--seeds", help="How many seeds (3 means 0,1,2), or which ones: 3,5.")
@click.option("-o", "--out", help=f"Folder of the results; default {RESULTS}/STUDY.")
@click.option("-j", "--jobs", help="Cells at once; default: cores / threads.")
@click.option("--measures", shell_complete=completion.measures, help="Names of measures: AP,P@100.")
@click.option("--published", multiple=True, help="CSV with numbers that a paper prints.")
@click.option("--plan", "plan_only", is_flag=True, help="Show what would run, and run nothing.")
@click.option("--timeout", help="Longest time of a cell: 10m.")
@click.option("--memory", help="Largest resident set of a cell and its processes: 8G.")
@click.option("--threads", help="Threads of each cell; default 1.")
@click.option(
    "--device",
    envvar=DEVICE,
    default="auto",
    help="Where networks are trained: auto (default), cpu, cuda, cuda:1, mps.",
)
@click.option("--retry", default="", help="Run these again: failed,timeout,memory,skipped.")
@click.option("--force", is_flag=True, help="Run every cell again.")
@click.option("--replace", is_flag=True, help="Replace the tables of another study in OUT.")
@click.option(
    "--timing/--no-timing", default=None, help="Run cells one at a time, for comparable times."
)
@click.option("--tune", help="Number of points of its space that each method is tuned with.")
@click.option("--tune-bits", help="middle (default): tune at one code length; each: at every one.")
@click.option("--keep-trials/--drop-trials", default=None, help="Keep the codes of trials.")
@click.option("--executor", help="local (default) or dask.")
@click.option("--scheduler", help="Address of a Dask scheduler; implies --executor dask.")
@click.option("--quiet", is_flag=True, help="Print no progress.")
@click.option("-v", "--verbose", is_flag=True, help="Print a log with times.")
@click.option(
    "--report/--no-report",
    default=True,
    envvar="HASHBENCH_REPORT",
    help="Write reports and the page at the end; default: yes.",
)
@plugin_option
def run_command(study: str | None, plugins: tuple[str, ...], **flags: Any) -> None:
    """Run a study: every method on every dataset at every code length, for every seed.

    STUDY is the name of a study that comes with hashbench (`hashbench list studies` names
    them) or a TOML file whose keys are the flags' names; flags override it. Without STUDY and
    without flags, the study quick is run. What is already in OUT is not run again.

    Exit codes: 0 all cells are done, 1 some are not, 2 bad input, 130 interrupted.
    """
    from hashbench.execution.local import PoolProcess

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    resolved = resolve(study, plugins, flags)
    os.environ[DEVICE] = flags["device"]  # which the processes of cells inherit
    pool = PoolProcess(resolved.threads) if resolved.executor == "local" else None
    try:
        from hashbench.cli.run_study import run_study

        run_study(resolved, flags, pool)
    finally:
        if pool is not None:
            pool.close()


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
