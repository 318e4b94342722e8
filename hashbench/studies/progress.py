"""What a run shows while it runs: one bar on a terminal, a line a cell elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TextIO

from tqdm import tqdm

from hashbench.base.units import format_duration
from hashbench.studies.cell import Cell
from hashbench.studies.store import Stored


class Progress(Protocol):
    """Told of everything that happens."""

    def note(self, text: str) -> None:
        """Say something that belongs to no cell."""

    def loading(self, name: str) -> None:
        """A dataset is being looked at."""

    def loaded(self) -> None:
        """All datasets have been looked at."""

    def begin(self, total: int) -> None:
        """So many cells are to run."""

    def started(self, cell: Cell) -> None:
        """A cell has started."""

    def ended(self, cell: Cell, status: str, reason: str, seconds: float) -> None:
        """A cell has ended and is stored."""

    def scoring(self, done: Sequence[Stored]) -> Iterable[Stored]:
        """Give back the cells, which are scored one after the other."""
        ...

    def close(self) -> None:
        """Nothing more will come."""


class Quiet:
    """Says nothing."""

    def note(self, text: str) -> None:
        """Say nothing."""

    def loading(self, name: str) -> None:
        """Say nothing."""

    def loaded(self) -> None:
        """Say nothing."""

    def begin(self, total: int) -> None:
        """Say nothing."""

    def started(self, cell: Cell) -> None:
        """Say nothing."""

    def ended(self, cell: Cell, status: str, reason: str, seconds: float) -> None:
        """Say nothing."""

    def scoring(self, done: Sequence[Stored]) -> Iterable[Stored]:
        """Say nothing."""
        return done

    def close(self) -> None:
        """Say nothing."""


class Lines(Quiet):
    """A line a cell, for files and pipes."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.count = self.total = 0

    def note(self, text: str) -> None:
        """Print a line."""
        print(text, file=self.stream, flush=True)

    def begin(self, total: int) -> None:
        """Remember how many cells there are."""
        self.total = total

    def ended(self, cell: Cell, status: str, reason: str, seconds: float) -> None:
        """Print the cell's line."""
        self.count += 1
        count = f"[{self.count:{len(str(self.total))}}/{self.total}]"
        text = f"{count} {status:7} {cell} ({format_duration(seconds)})"
        self.note(f"{text}: {reason}" if reason else text)


class Bar(Quiet):
    """One bar for all cells, the running ones named; failures as lines above it."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.bar: Any = None
        self.running: dict[str, Cell] = {}
        self.failed = 0

    def note(self, text: str) -> None:
        """Print a line above the bar."""
        tqdm.write(text, file=self.stream)

    def loading(self, name: str) -> None:
        """Name the dataset in a line that goes away: large ones take minutes."""
        self._erase()
        self.stream.write(f"loading {name}")
        self.stream.flush()

    def loaded(self) -> None:
        """Take the line away."""
        self._erase()

    def _erase(self) -> None:
        self.stream.write("\r\x1b[K")  # to the end of the line

    def begin(self, total: int) -> None:
        """Draw the bar."""
        shape = "{n_fmt}/{total_fmt} |{bar:20}| {elapsed} left {remaining}{postfix}"
        self.bar = tqdm(total=total, bar_format=shape, file=self.stream, dynamic_ncols=True)

    def started(self, cell: Cell) -> None:
        """Name the cell beside the bar."""
        self.running[cell.id] = cell
        self._show()

    def ended(self, cell: Cell, status: str, reason: str, seconds: float) -> None:
        """Move the bar on."""
        self.running.pop(cell.id, None)
        if status not in ("done", "skipped"):
            self.failed += 1
        if reason:
            self.note(f"{status}: {cell}: {reason}")
        self._show()
        self.bar.update()

    def _show(self) -> None:
        failed = f"{self.failed} failed, " if self.failed else ""
        names = ", ".join(
            f"{c.label} {c.bits} {c.dataset} s{c.seed}" for c in self.running.values()
        )
        self.bar.set_postfix_str(failed + names, refresh=False)

    def scoring(self, done: Sequence[Stored]) -> Iterable[Stored]:
        """Draw a bar of its own if it takes more than a moment."""
        shape = "scoring {n_fmt}/{total_fmt} |{bar:20}| {elapsed} left {remaining}"
        return tqdm(done, bar_format=shape, file=self.stream, leave=False, delay=1)

    def close(self) -> None:
        """Leave the bar as it is."""
        if self.bar is not None:
            self.bar.set_postfix_str(f"{self.failed} failed" if self.failed else "")
            self.bar.close()


def make_progress(quiet: bool, stream: TextIO | None = None) -> Progress:
    """Return what suits the stream (stderr, because results go to stdout)."""
    stream = sys.stderr if stream is None else stream
    if quiet:
        return Quiet()
    return Bar(stream) if stream.isatty() else Lines(stream)
