"""``hashbench doctor``: what this installation has and lacks, to send along with a question.

Nothing is changed, and only what is needed to find versions is imported.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

import hashbench
from hashbench.cli import plugin_option
from hashbench.cli.cache import entries
from hashbench.core.parallel import usable_cores
from hashbench.core.paths import cache_folder
from hashbench.core.units import format_size

#: What each extra of the package adds.
EXTRAS = {
    "dask": "distributed",
    "faiss": "faiss-cpu",
    "features": "wordllama",
    "parquet": "pyarrow",
    "torch": "torch",
}

NAME = 28  # columns that a name may take


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@plugin_option
def doctor_command(as_json: bool, plugins: tuple[str, ...]) -> None:
    """Show versions, threads, memory, data, plugins, extras and caches of this installation.

    Exit codes: 0 nothing is wrong, 1 a plugin is broken or a file of data has a wrong checksum.
    """
    facts = examine(plugins)
    if as_json:
        click.echo(json.dumps(facts, indent=2))
    else:
        click.echo("\n".join(_lines(facts)))
    wrong = any("wrong checksum" in text for text in facts["data"].values())
    sys.exit(1 if facts["broken plugins"] or wrong else 0)


def examine(plugins: tuple[str, ...]) -> dict[str, Any]:
    """Return everything that the command prints, by heading."""
    from hashbench.plugins.registry import discover

    registry = discover(plugins)
    counts = {kind: len(registry.of(kind)) for kind in ("methods", "datasets", "reports")}
    return {
        "versions": _versions(),
        "machine": _machine(),
        "threads": _pools(),
        "data": {name: _data(plugin.cls) for name, plugin in registry.datasets.items()},
        "plugins": {**counts, "local": [str(path) for path in registry.paths]},
        "broken plugins": {each.path: each.error for each in registry.broken},
        "extras": {name: _extra_version(name, package) for name, package in EXTRAS.items()},
        "caches": {each.name: f"{format_size(each.size)}, {each.place}" for each in entries()},
    }


def _versions() -> dict[str, str]:
    needed = [
        text.partition(";")[0].split(">")[0].split("=")[0].strip()
        for text in importlib.metadata.requires("hashbench") or ()
        if "extra ==" not in text
    ]
    found = {"hashbench": f"{hashbench.__version__}, {Path(hashbench.__file__).parent}"}
    found["python"] = f"{platform.python_version()}, {sys.executable}"
    for name in needed:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "missing"
    return found


def _machine() -> dict[str, str]:
    import psutil

    from hashbench.plugins.source_hash import cpu_name

    memory = psutil.virtual_memory()
    free = shutil.disk_usage(Path.cwd()).free
    return {
        "system": platform.platform(),
        "processor": f"{cpu_name()}, {usable_cores()} of {os.cpu_count()} cores may be used",
        "memory": f"{format_size(memory.available)} of {format_size(memory.total)} free",
        "disk": f"{format_size(free)} free here",
    }


def _pools() -> dict[str, str]:
    """Return the libraries that compute in threads, once numpy and scipy have loaded theirs."""
    import scipy.linalg
    from threadpoolctl import threadpool_info

    assert scipy.linalg  # loaded for its BLAS, which is not numpy's
    found = {
        f"{pool['internal_api']} {pool['version']}": f"{pool['num_threads']} threads"
        for pool in threadpool_info()
    }
    named = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    return found | {name: os.environ[name] for name in named if name in os.environ}


def _data(cls: type[Any]) -> str:
    """Say whether a dataset's files are here, and how to get those that are not."""
    from hashbench.plugins.downloads import check, data_folders

    if not cls.files:
        return "needs no file"
    states = {file: check(file) for file in cls.files}
    missing = [file for file, state in states.items() if state == "missing"]
    wrong = [file.path for file, state in states.items() if state == "wrong checksum"]
    if wrong:
        return f"wrong checksum: {', '.join(wrong)}"
    if not missing:
        return "here"
    if all(file.url for file in missing):
        return f"missing; `hashbench data fetch {cls.name}` downloads it"
    paths = ", ".join(file.path for file in missing if not file.url)
    return f"missing; place {paths} below {data_folders()[0]}"


def _extra_version(name: str, package: str) -> str:
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return f"not installed; pip install {package}"


def _lines(facts: Mapping[str, Any]) -> Iterator[str]:
    longest = max(len(name) for part in facts.values() for name in part)
    names = min(longest, NAME)
    columns = shutil.get_terminal_size((80, 24)).columns
    for heading, part in facts.items():
        if not part:
            continue
        yield click.style(heading, bold=True)
        for name, value in part.items():
            text = ", ".join(value) or "none" if isinstance(value, list) else value
            yield textwrap.fill(
                f"  {name:{names}}  {text}",
                columns,
                subsequent_indent=" " * (names + 4),
                break_long_words=False,
                break_on_hyphens=False,
            )
    yield f"The cache is {cache_folder()}; `hashbench cache clear` empties it."
