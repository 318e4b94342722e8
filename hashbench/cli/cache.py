"""``hashbench cache``: list or delete what is cached outside of studies.

Everything there can be made or downloaded again; results of studies are never in it.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from hashbench.core.errors import unknown
from hashbench.core.paths import cache_folder
from hashbench.core.units import format_size


@dataclass(frozen=True)
class CacheEntry:
    """A folder of the cache with its size in bytes."""

    name: str
    place: str
    size: int


def entries() -> list[CacheEntry]:
    """Return what the cache holds: compiled kernels, generated data, downloads by dataset."""
    folder = cache_folder()
    if not folder.is_dir():
        return []
    return [
        CacheEntry(place.name, str(place), size_of(place))
        for place in sorted(folder.iterdir())
        if not place.name.startswith(".")
    ]


def size_of(place: Path) -> int:
    """Return the bytes of a file, or of all files of a folder."""
    files = [place] if place.is_file() else [path for path in place.rglob("*") if path.is_file()]
    return sum(path.stat().st_size for path in files)


@click.group("cache", invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def cache_command(context: click.Context, as_json: bool) -> None:
    """List what is kept in the cache folder: downloads, generated data, compiled kernels."""
    if context.invoked_subcommand is not None:
        return
    found = entries()
    if as_json:
        click.echo(json.dumps([asdict(each) for each in found], indent=2))
        return
    for each in found:
        click.echo(f"{each.name:20} {format_size(each.size):>10}  {each.place}")
    if not found:
        click.echo(f"nothing in {cache_folder()}")


@cache_command.command("clear")
@click.argument("names", nargs=-1)
def clear(names: tuple[str, ...]) -> None:
    """Delete the NAMES that `hashbench cache` lists, or all of them."""
    found = {each.name: each for each in entries()}
    for name in names:
        if name not in found:
            raise unknown("entry of the cache", name, found)
    for name in names or found:
        place = Path(found[name].place)
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink()
        click.echo(f"deleted {place} ({format_size(found[name].size)})")
