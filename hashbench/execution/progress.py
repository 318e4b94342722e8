"""What a run shows while it runs: one bar on a terminal, a line a cell elsewhere."""

from __future__ import annotations

import bisect
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Protocol, TextIO

from tqdm import tqdm

from hashbench.core.units import format_count, format_duration
from hashbench.execution.cell import Cell
from hashbench.execution.store import Stored


class Progress(Protocol):
    """Told of everything that happens."""

    def note(self, text: str) -> None:
        """Say something that belongs to no cell."""

    def loading(self, name: str) -> None:
        """A dataset is being looked at."""

    def loaded(self) -> None:
        """All datasets have been looked at."""

    def begin(self, cells: Sequence[Cell]) -> None:
        """These cells are to run."""

    def started(self, cell: Cell) -> None:
        """A cell has started."""

    def said(self, cell: Cell, text: str) -> None:
        """A running cell has told how far it is, or printed a line."""

    def ended(self, cell: Cell, status: str, reason: str, seconds: float) -> None:
        """A cell has ended and is stored."""

    def scoring(self, done: Sequence[Stored]) -> Iterable[Stored]:
        """Give back the cells, which are scored one after the other."""
        ...

    def close(self) -> None:
        """Nothing more will come."""


Keys = Callable[[Cell], Sequence[tuple[object, ...]]]


def training_keys(cell: Cell) -> list[tuple[object, ...]]:
    """Return which cells take as long to train, those that surely do first."""
    return [(cell.label, cell.dataset, cell.bits), (cell.label, cell.dataset), (cell.label,), ()]


def scoring_keys(cell: Cell) -> list[tuple[object, ...]]:
    """Return which cells take as long to score: that depends on the data, not on the method."""
    return [(cell.dataset, cell.bits), (cell.dataset,), ()]


class TimeLeft:
    """Learns from cells that have ended how long the others will take.

    A mean over all cells is wrong by the factor between the slowest and the fastest method: each
    cell is judged by the median of those most like it.

    Parameters
    ----------
    keys : which cells are alike
    """

    def __init__(self, keys: Keys) -> None:
        self.keys = keys
        self.waiting: Counter[tuple[tuple[object, ...], ...]] = Counter()
        self.seen: dict[tuple[object, ...], list[float]] = {}
        self.spent = 0.0

    def expect(self, cells: Iterable[Cell]) -> None:
        """Take the cells whose time is asked for, until they have ended."""
        # Counted by what they are alike in: there may be tens of thousands, asked after each one.
        self.waiting = Counter(tuple(self.keys(cell)) for cell in cells)

    def ended(self, cell: Cell, seconds: float | None) -> None:
        """Remember how long a cell took, if that tells of others; it waits no longer."""
        keys = tuple(self.keys(cell))
        self.waiting[keys] -= 1
        if seconds is None:
            return
        self.spent += seconds
        for key in keys:
            bisect.insort(self.seen.setdefault(key, []), seconds)

    def seconds(self) -> float | None:
        """Return how long the others will take one after another; None if nothing is known yet."""
        if not self.seen:
            return None
        # () is the last key and known: where nothing is alike, the mean of all is the best guess
        mean = self.spent / len(self.seen[()])
        return sum(
            count * next((_middle(self.seen[key]) for key in keys[:-1] if key in self.seen), mean)
            for keys, count in self.waiting.items()
        )

    def words(self, at_once: int = 1) -> str:
        """Return the time left as it is shown, with so many cells at once."""
        seconds = self.seconds()
        return "" if not seconds else f"left {format_duration(seconds / at_once)}"


def _middle(ascending: Sequence[float]) -> float:
    """Return the median of numbers in order."""
    half = len(ascending) // 2
    return ascending[half] if len(ascending) % 2 else (ascending[half - 1] + ascending[half]) / 2


class Quiet:
    """Says nothing."""

    def note(self, text: str) -> None:
        """Say nothing."""

    def loading(self, name: str) -> None:
        """Say nothing."""

    def loaded(self) -> None:
        """Say nothing."""

    def begin(self, cells: Sequence[Cell]) -> None:
        """Say nothing."""

    def started(self, cell: Cell) -> None:
        """Say nothing."""

    def said(self, cell: Cell, text: str) -> None:
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

    def begin(self, cells: Sequence[Cell]) -> None:
        """Remember how many cells there are."""
        self.count, self.total = 0, len(cells)

    def ended(self, cell: Cell, status: str, reason: str, seconds: float) -> None:
        """Print the cell's line."""
        self.count += 1
        count = f"[{self.count:{len(str(self.total))}}/{self.total}]"
        text = f"{count} {status:7} {cell} ({format_duration(seconds)})"
        self.note(f"{text}: {reason}" if reason else text)


class Log(Lines):
    """Everything that happens, a line each, with the time of day."""

    def note(self, text: str) -> None:
        """Print a line with the time."""
        now = datetime.now().isoformat(" ", "milliseconds")
        super().note(f"{now} {text}")

    def loading(self, name: str) -> None:
        """Say which dataset is being looked at."""
        self.note(f"loading {name}")

    def begin(self, cells: Sequence[Cell]) -> None:
        """Say how many cells are to run."""
        super().begin(cells)
        self.note(f"to run: {format_count(len(cells), 'cell')}")

    def started(self, cell: Cell) -> None:
        """Say that a cell has started."""
        self.note(f"started {cell}")

    def said(self, cell: Cell, text: str) -> None:
        """Say how far a cell is."""
        self.note(f"{cell}: {text}")

    def scoring(self, done: Sequence[Stored]) -> Iterator[Stored]:
        """Say how long each cell took to score."""
        for stored in done:
            begun = time.monotonic()
            yield stored
            self.note(f"scored {stored.cell} ({format_duration(time.monotonic() - begun)})")


class Bar(Quiet):
    """One bar for all cells, the running ones named; failures as lines above it.

    Parameters
    ----------
    stream : where it is drawn
    notebook : draw it as a notebook shows bars
    """

    def __init__(self, stream: TextIO, notebook: bool = False) -> None:
        self.stream = stream
        self.notebook = notebook
        self.bar: Any = None
        self.running: dict[str, Cell] = {}
        self.left = TimeLeft(training_keys)
        self.at_once = 1
        self.heard: dict[str, str] = {}
        self.failed = 0

    def note(self, text: str) -> None:
        """Print a line above the bar."""
        tqdm.write(text, file=self.stream)

    def loading(self, name: str) -> None:
        """Name the dataset in a line that goes away: large ones take minutes."""
        self._erase()
        if not self.notebook:
            self.stream.write(f"loading {name}")
            self.stream.flush()

    def loaded(self) -> None:
        """Take the line away."""
        self._erase()

    def _erase(self) -> None:
        if not self.notebook:
            self.stream.write("\r\x1b[K")  # to the end of the line

    def begin(self, cells: Sequence[Cell]) -> None:
        """Draw the bar."""
        self.left.expect(cells)
        self.bar = self._draw("", total=len(cells), dynamic_ncols=True)

    def _draw(self, what: str, **more: Any) -> Any:
        if self.notebook:
            from tqdm.auto import tqdm as drawn  # plain text where there are no widgets

            return drawn(
                bar_format=f"{what}{{n_fmt}}/{{total_fmt}} {{bar}} {{elapsed}}{{postfix}}", **more
            )
        shape = f"{what}{{n_fmt}}/{{total_fmt}} |{{bar:20}}| {{elapsed}}{{postfix}}"
        return tqdm(bar_format=shape, file=self.stream, **more)

    def started(self, cell: Cell) -> None:
        """Name the cell beside the bar."""
        self.running[cell.id] = cell
        self.at_once = max(self.at_once, len(self.running))
        self._show()

    def said(self, cell: Cell, text: str) -> None:
        """Put what a cell said behind its name."""
        self.heard[cell.id] = text
        self._show()
        self.bar.refresh()

    def ended(self, cell: Cell, status: str, reason: str, seconds: float) -> None:
        """Move the bar on."""
        self.running.pop(cell.id, None)
        self.left.ended(cell, seconds)
        self.heard.pop(cell.id, None)
        if status not in ("done", "skipped"):
            self.failed += 1
        if reason:
            self.note(f"{status}: {cell}: {reason}")
        self._show()
        self.bar.update()

    def _show(self) -> None:
        left = self.left.words(self.at_once)
        failed = f"{self.failed} failed" if self.failed else ""
        names = {c.id: f"{c.label} {c.bits} {c.dataset} s{c.seed}" for c in self.running.values()}
        said = [
            f"{name} ({self.heard[key]})" if key in self.heard else name
            for key, name in names.items()
        ]
        rest = f"{len(names)} running"
        # as much as the line has room for; a terminal would cut it anywhere
        texts = [
            ", ".join(filter(None, (left, failed, *more)))
            for more in (said, names.values(), [rest])
        ]
        room = self._room()
        shown = next((text for text in texts if len(text) <= room), texts[-1])
        self.bar.set_postfix_str(shown if names else texts[0], refresh=False)

    def _room(self) -> float:
        """Return how many letters there are behind the bar."""
        if self.notebook:
            return float("inf")
        columns = shutil.get_terminal_size().columns
        return columns - 2 * len(str(self.bar.total)) - len("/ ||  00:00:00, ") - 20

    def scoring(self, done: Sequence[Stored]) -> Iterator[Stored]:
        """Draw a bar of its own if it takes more than a moment."""
        left = TimeLeft(scoring_keys)
        left.expect(stored.cell for stored in done)
        with self._draw("scoring ", total=len(done), leave=False, delay=1) as bar:
            for number, stored in enumerate(done):
                begun = time.monotonic()
                yield stored
                # the first reads what is compiled, once for all
                left.ended(stored.cell, time.monotonic() - begun if number else None)
                bar.set_postfix_str(left.words(), refresh=False)
                bar.update()

    def close(self) -> None:
        """Leave the bar as it is."""
        if self.bar is not None:
            self.bar.set_postfix_str(f"{self.failed} failed" if self.failed else "")
            self.bar.close()


def make_progress(quiet: bool, stream: TextIO | None = None, *, verbose: bool = False) -> Progress:
    """Return what suits the stream (stderr, because results go to stdout)."""
    stream = sys.stderr if stream is None else stream
    if quiet:
        return Quiet()
    if verbose:
        return Log(stream)
    notebook = in_notebook()
    return Bar(stream, notebook) if notebook or stream.isatty() else Lines(stream)


def in_notebook() -> bool:
    """Say whether this is the kernel of a notebook; imports nothing."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and "IPKernelApp" in getattr(shell, "config", {})
