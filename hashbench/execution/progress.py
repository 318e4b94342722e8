"""What a run shows: a progress bar on a terminal, one line per cell elsewhere, or a log."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, TextIO

from tqdm import tqdm

from hashbench.core.units import format_count, format_duration
from hashbench.execution.cell import Cell
from hashbench.execution.store import Stored
from hashbench.execution.time_left import TimeLeft, scoring_keys


class Progress:
    """Shows nothing; the base class of those that do."""

    def message(self, text: str) -> None:
        """Show a line that belongs to no cell."""

    def loading_dataset(self, name: str) -> None:
        """A dataset is being loaded."""

    def datasets_loaded(self) -> None:
        """All datasets have been loaded."""

    def begin(self, cells: Sequence[Cell]) -> None:
        """These cells are about to run."""

    def cell_started(self, cell: Cell) -> None:
        """A cell has started."""

    def cell_output(self, cell: Cell, line: str) -> None:
        """A running cell has logged an iteration or printed a line."""

    def cell_finished(self, cell: Cell, status: str, reason: str, seconds: float) -> None:
        """A cell has ended and is stored."""

    def scoring(self, done: Sequence[Stored]) -> Iterable[Stored]:
        """Return the cells to iterate over while each is scored."""
        return done

    def close(self) -> None:
        """No cell is left."""


class LineProgress(Progress):
    """Prints one line per finished cell, for files and pipes."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.count = self.total = 0

    def message(self, text: str) -> None:
        """Print a line."""
        print(text, file=self.stream, flush=True)

    def begin(self, cells: Sequence[Cell]) -> None:
        """Set the number of cells."""
        self.count, self.total = 0, len(cells)

    def cell_finished(self, cell: Cell, status: str, reason: str, seconds: float) -> None:
        """Print the status of a cell."""
        self.count += 1
        count = f"[{self.count:{len(str(self.total))}}/{self.total}]"
        text = f"{count} {status:7} {cell} ({format_duration(seconds)})"
        self.message(f"{text}: {reason}" if reason else text)


class LogProgress(LineProgress):
    """Prints one line with the time of day per event."""

    def message(self, text: str) -> None:
        """Print a line with the time."""
        now = datetime.now().isoformat(" ", "milliseconds")
        super().message(f"{now} {text}")

    def loading_dataset(self, name: str) -> None:
        """Print the dataset."""
        self.message(f"loading {name}")

    def begin(self, cells: Sequence[Cell]) -> None:
        """Print the number of cells."""
        super().begin(cells)
        self.message(f"to run: {format_count(len(cells), 'cell')}")

    def cell_started(self, cell: Cell) -> None:
        """Print the cell."""
        self.message(f"started {cell}")

    def cell_output(self, cell: Cell, line: str) -> None:
        """Print the line."""
        self.message(f"{cell}: {line}")

    def scoring(self, done: Sequence[Stored]) -> Iterator[Stored]:
        """Print how long each cell took to score."""
        for stored in done:
            start = time.monotonic()
            yield stored
            self.message(f"scored {stored.cell} ({format_duration(time.monotonic() - start)})")


class BarProgress(Progress):
    """Draws one bar for all cells that names the running ones; failures are lines above it.

    Parameters
    ----------
    stream : where it is drawn
    notebook : draw the bar of notebooks
    """

    def __init__(self, stream: TextIO, notebook: bool = False) -> None:
        self.stream = stream
        self.notebook = notebook
        self.loading: Any = None
        self.bar: Any = None
        self.running: dict[str, Cell] = {}
        self.last_lines: dict[str, str] = {}
        self.left = TimeLeft()
        self.jobs = 1
        self.failed = 0

    def message(self, text: str) -> None:
        """Print a line above the bar."""
        tqdm.write(text, file=self.stream)

    def loading_dataset(self, name: str) -> None:
        """Name the dataset in a line that disappears: large ones take minutes."""
        self.datasets_loaded()
        self.loading = tqdm(
            desc=f"loading {name}", bar_format="{desc}", file=self.stream, leave=False
        )

    def datasets_loaded(self) -> None:
        """Remove the line."""
        if self.loading is not None:
            self.loading.close()
            self.loading = None

    def begin(self, cells: Sequence[Cell]) -> None:
        """Draw the bar."""
        self.left.expect(cells)
        self.bar = self._draw("", total=len(cells))

    def _draw(self, title: str, **options: Any) -> Any:
        if self.notebook:
            from tqdm.auto import tqdm as notebook_tqdm  # plain text where there are no widgets

            shape = f"{title}{{n_fmt}}/{{total_fmt}} {{bar}} {{elapsed}}{{postfix}}"
            return notebook_tqdm(bar_format=shape, **options)
        shape = f"{title}{{n_fmt}}/{{total_fmt}} |{{bar:20}}| {{elapsed}}{{postfix}}"
        columns = shutil.get_terminal_size().columns
        return tqdm(bar_format=shape, file=self.stream, ncols=columns, **options)

    def cell_started(self, cell: Cell) -> None:
        """Name the cell behind the bar."""
        self.running[cell.id] = cell
        self.jobs = max(self.jobs, len(self.running))
        self._describe()

    def cell_output(self, cell: Cell, line: str) -> None:
        """Show the line behind the cell's name."""
        self.last_lines[cell.id] = line
        self._describe()
        self.bar.refresh()

    def cell_finished(self, cell: Cell, status: str, reason: str, seconds: float) -> None:
        """Advance the bar."""
        self.running.pop(cell.id, None)
        self.last_lines.pop(cell.id, None)
        self.left.finish(cell, seconds)
        if status not in ("done", "skipped"):
            self.failed += 1
        if reason:
            self.message(f"{status}: {cell}: {reason}")
        self._describe()
        self.bar.update()

    def _describe(self) -> None:
        """Write behind the bar what is running; tqdm cuts it at the edge of the terminal."""
        parts = [self.left.text(self.jobs), self._failures()]
        if self.running:
            parts.append(f"{len(self.running)} running")
        for key, cell in self.running.items():
            name = f"{cell.label} {cell.bits} {cell.dataset} s{cell.seed}"
            line = self.last_lines.get(key)
            parts.append(f"{name} ({line})" if line else name)
        self.bar.set_postfix_str(", ".join(filter(None, parts)), refresh=False)

    def _failures(self) -> str:
        return f"{self.failed} failed" if self.failed else ""

    def scoring(self, done: Sequence[Stored]) -> Iterator[Stored]:
        """Draw another bar if scoring takes more than a second."""
        left = TimeLeft(scoring_keys)
        left.expect(stored.cell for stored in done)
        with self._draw("scoring ", total=len(done), leave=False, delay=1) as bar:
            for number, stored in enumerate(done):
                start = time.monotonic()
                yield stored
                # the first one also loads compiled functions
                left.finish(stored.cell, time.monotonic() - start if number else None)
                bar.set_postfix_str(left.text(), refresh=False)
                bar.update()

    def close(self) -> None:
        """Leave the bar as it is."""
        if self.bar is not None:
            self.bar.set_postfix_str(self._failures())
            self.bar.close()


def make_progress(quiet: bool, stream: TextIO | None = None, *, verbose: bool = False) -> Progress:
    """Return the progress display that suits the stream (stderr: results go to stdout)."""
    stream = sys.stderr if stream is None else stream
    if quiet:
        return Progress()
    if verbose:
        return LogProgress(stream)
    notebook = in_notebook()
    return BarProgress(stream, notebook) if notebook or stream.isatty() else LineProgress(stream)


def in_notebook() -> bool:
    """Return whether this is the kernel of a notebook, without importing IPython."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and "IPKernelApp" in getattr(shell, "config", {})
