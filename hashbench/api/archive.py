"""The archive of scores for programs and notebooks; packing it and getting codes back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hashbench.analysis.archive import ArchiveRecord, labels, read_about, read_archive, stale
from hashbench.analysis.archive_files import choose_cells, unpack_codes, write_archive
from hashbench.analysis.evaluate import evaluate_missing
from hashbench.analysis.results import Results
from hashbench.analysis.submission import badge
from hashbench.api.study_args import RESULTS
from hashbench.core.errors import HashbenchError
from hashbench.execution.progress import Progress
from hashbench.plugins.registry import Plugin, Registry, discover
from hashbench.plugins.selection import bare_name

if TYPE_CHECKING:
    import pandas as pd


def archive(folder: str | Path | None = None) -> pd.DataFrame:
    """Return the scores of all methods that ship with hashbench, one row per number.

    Parameters
    ----------
    folder : an archive that `hashbench archive pack` wrote; that of the package if None

    Returns
    -------
    DataFrame
        See `hashbench.analysis.archive.read_archive`; further columns: label, the method with its
        parameters as tables print it; stale, whether the method has changed since; badge, "codes
        only" or "retrained here".
    """
    table = read_archive(None if folder is None else Path(folder))
    return table.assign(
        label=labels(table), stale=stale(table, discover()), badge=table["source"].map(badge)
    )


def is_embedded(plugin: Plugin) -> bool:
    """Return whether a dataset is inside the package, so that codes of it may be passed on."""
    return plugin.origin == "built in" and not plugin.cls.files and not plugin.cls.synthetic


def pack(
    folders: Sequence[Path],
    out: Path,
    edition: str,
    progress: Progress,
    tell: Callable[[str], None],
    codes: bool = True,
) -> ArchiveRecord:
    """Write the archive of several folders of results; codes only of embedded datasets."""
    registry = discover()
    results = [Results(each, registry) for each in folders]
    for each in results:
        evaluate_missing(each, progress)
    chosen = choose_cells(results, registry, tell)
    datasets = dict.fromkeys(cell.dataset for cell in chosen)
    embedded = [name for name in datasets if _is_embedded(name, registry)] if codes else []
    return write_archive(chosen, out, edition, embedded)


def _is_embedded(dataset: str, registry: Registry) -> bool:
    plugin = registry.datasets.get(bare_name(dataset))
    return plugin is not None and is_embedded(plugin)


def pull(source: str, out: Path | None = None, sha256: str | None = None) -> Path:
    """Write the folder of results in a file of codes, a path or an address, and return it.

    Parameters
    ----------
    source : what `hashbench archive pack` wrote
    out : the new folder; if None, one in hashbench-results named after the file
    sha256 : checksum of the file; if None, the one that the archive of the package has for a file
        of this name, if any
    """
    name = source.rstrip("/").rpartition("/")[2]
    target = out or Path(RESULTS) / name.removesuffix(".tar.gz")
    if target.exists():
        raise HashbenchError(f"{target}: found a folder; allowed: one that does not exist yet")
    known = sha256 or _known_checksum(name)
    if source.startswith(("https://", "http://")):
        path = _download(source, known)
    else:
        path = Path(source)
        if not path.is_file():
            raise HashbenchError(f"{source}: found no such file; allowed: a file or an address")
        _check(path, known)
    unpack_codes(path, target)
    return target


def _known_checksum(name: str) -> str | None:
    try:
        codes = read_about().codes.values()
    except HashbenchError:  # an installation without an archive
        return None
    return next((each.sha256 for each in codes if each.file == name), None)


def _check(path: Path, sha256: str | None) -> None:
    from hashbench.core.io import checksum

    if sha256 is not None and checksum(path) != sha256:
        raise HashbenchError(f"{path}: found another checksum than {sha256[:16]}...; get it again")


def _download(address: str, sha256: str | None) -> Path:
    """Return a file from an address, in the user's cache."""
    import pooch
    import requests

    from hashbench.core.paths import cache_folder

    pooch.get_logger().setLevel("ERROR")
    try:
        found = pooch.retrieve(
            address,
            known_hash=sha256,
            path=cache_folder() / "archive",
            downloader=pooch.HTTPDownloader(timeout=30),
        )
    except (OSError, ValueError, requests.RequestException) as error:
        reason = " ".join(str(error).split())
        raise HashbenchError(f"{address}: {reason}") from error
    return Path(found)
