"""Estimate how long the remaining cells take from the times of cells that have ended."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from statistics import fmean, median

from hashbench.core.units import format_duration
from hashbench.execution.cell import Cell

Key = tuple[object, ...]

#: Returns descriptions of a cell, the most specific first. Cells that share one take equally long.
Keys = Callable[[Cell], tuple[Key, ...]]


def training_keys(cell: Cell) -> tuple[Key, ...]:
    """Return which cells take as long to train as this one."""
    return (
        (cell.label, cell.dataset, cell.bits),
        (cell.label, cell.dataset),
        (cell.method, cell.dataset),
        (cell.method,),
    )


def scoring_keys(cell: Cell) -> tuple[Key, ...]:
    """Return which cells take as long to score as this one: those on the same data."""
    return ((cell.dataset, cell.bits), (cell.dataset,))


class TimeLeft:
    """Estimates the time of cells by the median of the most similar cells that have ended.

    A mean over all cells would be wrong by the factor between the slowest and the fastest method.

    Parameters
    ----------
    keys : which cells are similar
    """

    def __init__(self, keys: Keys = training_keys) -> None:
        self.keys = keys
        self.remaining: Counter[tuple[Key, ...]] = Counter()
        self.times: defaultdict[Key, list[float]] = defaultdict(list)
        self.all_times: list[float] = []

    def expect(self, cells: Iterable[Cell]) -> None:
        """Set the cells that have to run."""
        self.remaining = Counter(map(self.keys, cells))  # seeds share one entry

    def add_time(self, cell: Cell, seconds: float) -> None:
        """Learn how long a cell took."""
        self.all_times.append(seconds)
        for key in self.keys(cell):
            self.times[key].append(seconds)

    def finish(self, cell: Cell, seconds: float | None) -> None:
        """Remove a cell from those that have to run; None teaches nothing about the others."""
        self.remaining[self.keys(cell)] -= 1
        if seconds is not None:
            self.add_time(cell, seconds)

    def known(self) -> tuple[float, int]:
        """Return the seconds of cells similar to ended ones, and the number of other cells."""
        seconds, unknown = 0.0, 0
        for keys, count in self.remaining.items():
            key = next((key for key in keys if key in self.times), None)
            if key is None:
                unknown += count
            else:
                seconds += count * median(self.times[key])
        return seconds, unknown

    def seconds(self) -> float | None:
        """Return the seconds of all remaining cells in sequence; None if no cell has ended.

        Cells that resemble no ended cell count with the mean of all that have ended.
        """
        if not self.all_times:
            return None
        seconds, unknown = self.known()
        return seconds + unknown * fmean(self.all_times)

    def text(self, jobs: int = 1) -> str:
        """Return the time left for display, with `jobs` cells running at once."""
        seconds = self.seconds()
        return f"left {format_duration(seconds / jobs)}" if seconds else ""


def estimate(
    cells: Iterable[Cell], times: Iterable[tuple[Cell, float]], jobs: int
) -> tuple[float, int]:
    """Return the seconds that cells take with `jobs` at once, and how many have no estimate.

    `times` are cells that have ended, with the seconds that they took.
    """
    left = TimeLeft()
    left.expect(cells)
    for cell, seconds in times:
        left.add_time(cell, seconds)
    known, unknown = left.known()
    return known / jobs, unknown
