"""The files behind datasets: where they are looked for, where they come from, are they right.

A file is named by its path below a data folder. The folders in HASHBENCH_DATA are searched
first, then a per-user cache, which is also where downloads go. Nothing is downloaded unless
asked for, and nothing is kept whose checksum is wrong.
"""

from __future__ import annotations

import os
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal
from urllib.parse import urlsplit

from hashbench.core.errors import HashbenchError
from hashbench.core.io import checksum
from hashbench.core.paths import cache_folder

#: Folders with data, separated as in PATH.
ENVIRONMENT = "HASHBENCH_DATA"

Status = Literal["ok", "missing", "wrong checksum", "present, no checksum known"]


@dataclass(frozen=True)
class DataFile:
    """A file that a dataset is read from.

    Attributes
    ----------
    path : where it lies below a data folder
    sha256 : its checksum, if one is known
    url : where it can be downloaded, if it may be: the file, or a zip archive that holds it
    content : what is in it, for people who have to find it themselves
    """

    path: str
    sha256: str | None = None
    url: str | None = None
    content: str = ""


def data_folders() -> list[Path]:
    """Return the folders that are searched for data, in order."""
    named = [Path(p) for p in os.environ.get(ENVIRONMENT, "").split(os.pathsep) if p]
    return [*named, cache_folder()]


def find(file: DataFile) -> Path | None:
    """Return where a file is on this machine, if it is anywhere."""
    places = (folder / file.path for folder in data_folders())
    return next((place for place in places if place.is_file()), None)


def locate(file: DataFile, dataset: str) -> Path:
    """Return where a file is, or raise an error that says how to get it."""
    place = find(file)
    if place is not None:
        return place
    if file.url is not None:
        raise HashbenchError(
            f"{dataset}: {file.path} is not in {' or '.join(map(str, data_folders()))}; "
            f"`hashbench data fetch {dataset}` downloads it"
        )
    what = f" ({file.content})" if file.content else ""
    raise HashbenchError(
        f"{dataset}: {file.path}{what} is missing and may not be redistributed; "
        f"place your copy at {data_folders()[0] / file.path}"
    )


def check(file: DataFile) -> Status:
    """Say whether a file is here and has the right checksum."""
    place = find(file)
    if place is None:
        return "missing"
    if file.sha256 is None:
        return "present, no checksum known"
    return "ok" if checksum(place) == file.sha256 else "wrong checksum"


def fetch(file: DataFile, dataset: str, progress: bool = False) -> Path:
    """Download a file into the cache, unless a right copy is already on this machine.

    A download that breaks off, differs from its checksum or finds no server leaves nothing
    behind and raises an error of one line.
    """
    target = cache_folder() / file.path
    place = find(file)
    if place is not None and (file.sha256 is None or checksum(place) == file.sha256):
        return place
    if file.url is None or file.sha256 is None:
        return locate(file, dataset)
    if place is not None and place != target:
        # It would be found before the download, again and again.
        raise HashbenchError(f"{dataset}: {place} has a wrong checksum; remove it, then fetch")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
            os.replace(_download(file.url, file.sha256, target.name, scratch, progress), target)
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        # A connection that fails is an OSError, a wrong checksum a ValueError.
        raise HashbenchError(
            f"{dataset}: {file.path} from {file.url}: {_reason(error, file.url)}; "
            f"a copy that you get by hand belongs at {target}"
        ) from error
    return target


def _reason(error: Exception, url: str) -> str:
    import requests

    if isinstance(error, requests.ConnectionError | requests.Timeout):
        return f"no connection to {urlsplit(url).hostname}"  # its own text is a nest of classes
    return " ".join(str(error).split())


def _download(url: str, sha256: str, name: str, folder: str, progress: bool) -> Path:
    """Return a file with the right checksum; out of an archive, it is found by its name."""
    import pooch

    pooch.get_logger().setLevel("ERROR")
    archived = url.endswith(".zip")
    downloaded = pooch.retrieve(
        url,
        known_hash=None if archived else f"sha256:{sha256}",
        fname="archive.zip" if archived else name,
        path=folder,
        downloader=pooch.HTTPDownloader(progressbar=progress, timeout=30),
    )
    if not archived:
        return Path(downloaded)
    with zipfile.ZipFile(downloaded) as archive:
        for member in archive.namelist():
            if PurePosixPath(member).name == name:
                extracted = Path(archive.extract(member, folder))
                if checksum(extracted) == sha256:
                    return extracted
    raise ValueError(f"the archive holds no {name} with the checksum {sha256}")
