"""The files that datasets are read from: where they are searched, how they are downloaded.

A file is named by its path below a data folder. The folders in HASHBENCH_DATA are searched
first, then a cache of the user, which is also where downloads go. Nothing is downloaded unless
requested, and a download whose checksum is wrong is not kept.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
from collections.abc import Iterator
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
    path : path below a data folder
    sha256 : checksum, if one is known
    url : where it can be downloaded, if it may be: the file, or a zip archive that holds it
    content : what is in it, in one line
    git_blob : the id that git gives to its content, where no sha256 was published
    """

    path: str
    sha256: str | None = None
    url: str | None = None
    content: str = ""
    git_blob: str | None = None

    @property
    def has_checksum(self) -> bool:
        """True if a copy can be compared with a checksum."""
        return self.sha256 is not None or self.git_blob is not None

    def matches(self, copy: Path) -> bool:
        """Return whether a copy has the right checksum."""
        if self.sha256 is not None:
            return checksum(copy) == self.sha256
        return git_blob_id(copy) == self.git_blob


def git_blob_id(path: Path) -> str:
    """Return the id that git gives to a file's content."""
    digest = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def data_folders() -> list[Path]:
    """Return the folders that are searched for data, in order."""
    named = [Path(p) for p in os.environ.get(ENVIRONMENT, "").split(os.pathsep) if p]
    return [*named, cache_folder()]


def find(file: DataFile) -> Path | None:
    """Return the path of a file on this machine, None if it is missing."""
    paths = (folder / file.path for folder in data_folders())
    return next((path for path in paths if path.is_file()), None)


def locate(file: DataFile, dataset: str) -> Path:
    """Return the path of a file, or raise an error that says how to get it."""
    path = find(file)
    if path is not None:
        return path
    if file.url is not None:
        raise HashbenchError(
            f"{dataset}: {file.path} is not in {' or '.join(map(str, data_folders()))}; "
            f"`hashbench data fetch {dataset}` downloads it"
        )
    what = f" ({file.content})" if file.content else ""
    raise HashbenchError(
        f"{dataset}: {file.path}{what} is missing and may not be redistributed; "
        f"copy yours to {data_folders()[0] / file.path}"
    )


def check(file: DataFile) -> Status:
    """Return whether a file is on this machine and has the right checksum."""
    path = find(file)
    if path is None:
        return "missing"
    if not file.has_checksum:
        return "present, no checksum known"
    return "ok" if file.matches(path) else "wrong checksum"


def fetch(file: DataFile, dataset: str, progress: bool = False) -> Path:
    """Download a file into the cache, unless a right copy is already on this machine.

    A download that is interrupted, has a wrong checksum or finds no server leaves no file and
    raises an error of one line.
    """
    target = cache_folder() / file.path
    path = find(file)
    if path is not None and (not file.has_checksum or file.matches(path)):
        return path
    if file.url is None or not file.has_checksum:
        return locate(file, dataset)
    if path is not None and path != target:
        # The wrong copy would be found before the download every time.
        raise HashbenchError(f"{dataset}: {path} has a wrong checksum; remove it, then fetch")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            os.replace(_download(file, file.url, folder, progress), target)
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        # A failed connection is an OSError, a wrong checksum a ValueError.
        raise HashbenchError(
            f"{dataset}: {file.path} from {file.url}: {_failure_reason(error, file.url)}; "
            f"a copy that you get by hand belongs at {target}"
        ) from error
    return target


def _failure_reason(error: Exception, url: str) -> str:
    import requests

    if isinstance(error, requests.ConnectionError | requests.Timeout):
        return f"no connection to {urlsplit(url).hostname}"  # its own text is several lines long
    return " ".join(str(error).split())


def _download(file: DataFile, url: str, folder: str, progress: bool) -> Path:
    """Return a download with the right checksum; in an archive the file is found by its name."""
    import pooch

    pooch.get_logger().setLevel("ERROR")
    downloaded = pooch.retrieve(
        url,
        known_hash=None,
        fname="download",
        path=folder,
        downloader=pooch.HTTPDownloader(progressbar=progress, timeout=30),
    )
    for copy in _members(file, Path(downloaded)) if url.endswith(".zip") else [Path(downloaded)]:
        if file.matches(copy):
            return copy
    raise ValueError(f"found no {file.path} with the checksum {file.sha256 or file.git_blob}")


def _members(file: DataFile, path: Path) -> Iterator[Path]:
    """Yield the extracted members of an archive that have the name of the file."""
    with zipfile.ZipFile(path) as archive:
        for member in archive.namelist():
            if PurePosixPath(member).name == PurePosixPath(file.path).name:
                yield Path(archive.extract(member, path.parent))
