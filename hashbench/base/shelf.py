"""A shelf beside the prepared data: what follows from the training rows alone, computed once.

A study fits the same rows at every code length, with every method and for every trial, and most
fits begin with the same products. `hashbench.linalg` asks here before it computes one; a method
does not know whether a statistic was found or made, and gets the same bytes either way.

Times stay honest: what a statistic took when it was made is charged to every fit that finds it.
A file that is damaged or of another shape is made again; a disk that is full costs nothing but
the finding.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.base.files import checksum

#: Seconds below which a statistic is made sooner than found.
WORTH = 0.02
#: Bytes above which it is not kept: a disk holds one for every seed and preprocessing.
MOST = 2**31

Array = npt.NDArray[Any]
Place = tuple[int, tuple[int, ...], tuple[int, ...], str]


class Shelf:
    """Statistics of known arrays, in a folder.

    Parameters
    ----------
    folder : where they lie; made when there is something to lay there
    known : arrays that nobody writes to, the same at every opening of the folder, in this order;
        without any the shelf is closed: nothing is found and nothing kept

    Attributes
    ----------
    owed : seconds that what was found took when it was made, less what finding and keeping took
    """

    def __init__(self, folder: Path, known: Iterable[Array]) -> None:
        self.folder = folder
        self.names = {place(array): str(number) for number, array in enumerate(known)}
        self.owed = 0.0
        self._held: list[Array] = []  # a place stands for an array while that is there

    def fetch(
        self,
        what: str,
        rows: Sequence[Array],
        more: Sequence[Array | None],
        make: Callable[[], tuple[Array, ...]],
        known: bool = False,
    ) -> tuple[Array, ...]:
        """Return what `make` returns, found if it was made before.

        Parameters
        ----------
        what : the name of the statistic
        rows : the known arrays that it is made of; with any other it is made and not kept
        more : small arrays that it depends on, told apart by what they hold
        make : returns new arrays, C-contiguous: the layout decides how products with them round
        known : whether statistics of the first of them are shared as well; nobody may write to it
        """
        names = [
            self.names.get(place(array)) if isinstance(array, np.ndarray) else None
            for array in rows  # what only looks like an array, rows made as they are read, is new
        ]
        if None in names or not self.names:
            return make()
        begun = time.perf_counter()
        digest = hashlib.sha256(repr((what, names)).encode())
        for array in more:
            held = b"" if array is None else np.ascontiguousarray(array).tobytes()
            digest.update(f"{None if array is None else (array.dtype.str, array.shape)}".encode())
            digest.update(held)
        path = self.folder / digest.hexdigest()[:32]
        arrays = self._found(path, begun, make)
        if known:
            self.names[place(arrays[0])] = path.name
            self._held.append(arrays[0])
        return arrays

    def _found(
        self, path: Path, begun: float, make: Callable[[], tuple[Array, ...]]
    ) -> tuple[Array, ...]:
        """Return what lies at a path, or make it and lay it there; what is asked since `begun`."""
        found = _read(path)
        if found is not None:
            cost, arrays = found
            self.owed += cost - (time.perf_counter() - begun)
            return arrays
        owed, start = self.owed, time.perf_counter()
        arrays = make()
        made = time.perf_counter()
        cost = made - start + self.owed - owed  # with what was found on the way
        if cost >= WORTH and sum(array.nbytes for array in arrays) <= MOST:
            with contextlib.suppress(OSError):
                _write(path, cost, arrays)
        self.owed -= time.perf_counter() - made + start - begun
        return arrays


def place(array: Array) -> Place:
    """Return where in memory an array lies, and how: what tells one read-only map from another."""
    address = array.__array_interface__["data"][0]
    return address, array.shape, array.strides, array.dtype.str


def _read(path: Path) -> tuple[float, tuple[Array, ...]] | None:
    """Return the cost and the arrays, writable without changing the files; None without them."""
    try:
        record = json.loads(path.with_suffix(".json").read_text())
        files = [path.with_suffix(f".{number}.npy") for number in range(len(record["files"]))]
        if [checksum(file) for file in files] != record["files"]:
            return None
        return float(record["seconds"]), tuple(np.load(file, mmap_mode="c") for file in files)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _write(path: Path, seconds: float, arrays: tuple[Array, ...]) -> None:
    """Write the arrays, then the record that vouches for them; others may do so meanwhile."""
    path.parent.mkdir(exist_ok=True)
    sums = []
    for number, array in enumerate(arrays):
        with _new(path.with_suffix(f".{number}.npy")) as part:
            with part.open("wb") as stream:
                np.save(stream, array)
            sums.append(checksum(part))
    with _new(path.with_suffix(".json")) as part:
        part.write_text(json.dumps({"seconds": seconds, "files": sums}))


@contextlib.contextmanager
def _new(path: Path) -> Iterator[Path]:
    """Give a file of one's own that takes the place of `path` when it is complete."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=path.suffix)
    os.close(handle)
    try:
        yield Path(name)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


_open: list[Shelf] = []


@contextlib.contextmanager
def opened(folder: Path, known: Iterable[Array]) -> Iterator[Shelf]:
    """Let every fit in here find its statistics on a shelf."""
    shelf = Shelf(folder, known)
    _open.append(shelf)
    try:
        yield shelf
    finally:
        _open.pop()


def fetch(
    what: str,
    rows: Sequence[Array],
    more: Sequence[Array | None],
    make: Callable[[], tuple[Array, ...]],
    known: bool = False,
) -> tuple[Array, ...]:
    """Return what `make` returns: from the open shelf if there is one, see :meth:`Shelf.fetch`."""
    return _open[-1].fetch(what, rows, more, make, known) if _open else make()


def owed() -> float:
    """Return the seconds by which the clock of a fit is behind that of one without a shelf."""
    return _open[-1].owed if _open else 0.0
