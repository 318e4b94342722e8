"""Every reading of one number: measures that papers call mAP or precision, on stored codes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hashbench.analysis.results import Results
from hashbench.analysis.summary import grouped
from hashbench.data.splits import Searched
from hashbench.execution.cell import Cell
from hashbench.execution.store import Stored
from hashbench.measures import Measure, evaluate_ranking, parse_many
from hashbench.plugins.protocol import ALL, ENCODED

if TYPE_CHECKING:
    import pandas as pd

#: Cutoffs that papers use.
CUTOFFS = (50, 100, 500, 1000, 5000)

TIES = ("expected", "index", "optimistic", "pessimistic")


@dataclass(frozen=True)
class Reading:
    """One way to compute a number.

    Attributes
    ----------
    dataset, method, bits : of the cells, the first two as tables print them
    searched : the part of the database and the codes
    copies : whether queries count that are copies of rows of the database
    measure : its name
    seeds : the seed, or all whose mean is taken
    source : the folder or archive
    """

    dataset: str
    method: str
    bits: int
    searched: Searched
    copies: bool
    measure: str
    seeds: tuple[int, ...]
    source: str

    def __str__(self) -> str:
        count = len(self.seeds)
        seeds = f"mean of {count} seeds" if count > 1 else f"seed {self.seeds[0]}"
        copies = ", copies count" if self.copies else ""
        return f"{self.measure}, {self.searched}{copies}, {seeds}"


#: Values of a reading by task.
Values = Mapping[str, float]


def measures(n_database: int) -> list[Measure]:
    """Return the measures that are tried on a database of so many rows."""
    names = [f"AP(ties={ties},empty={empty})" for ties in TIES for empty in ("skip", "zero")]
    names += [f"PRarea(mean={m},empty={e})" for m in ("macro", "micro") for e in ("skip", "zero")]
    for cutoff in (each for each in CUTOFFS if each < n_database):
        pairs = itertools.product(TIES[:2], ("skip", "zero"))
        for ties, empty in pairs:
            choices = f"ties={ties},empty={empty}"
            names += [f"AP(norm={norm},{choices})@{cutoff}" for norm in ("retrieved", "all", "min")]
            names += [f"AP(cut=hits,{choices})@{cutoff}", f"P({choices})@{cutoff}"]
        names += [
            f"AP(norm=retrieved,no_hits=skip,ties=index)@{cutoff}",
            f"AP(norm=retrieved,ties=optimistic)@{cutoff}",
            f"AP(norm=retrieved,ties=pessimistic)@{cutoff}",
        ]
    return parse_many(names)


def readings(results: Results) -> Iterator[tuple[Reading, Values]]:
    """Yield every reading of the codes of the selected cells, with its value in each task.

    Seeds come one by one, and as the mean of all.
    """
    groups: dict[tuple[str, str, int], list[Stored]] = {}
    for stored in results.done():
        cell = stored.cell
        groups.setdefault((cell.dataset, cell.label, cell.bits), []).append(stored)
    for cells in groups.values():
        values: dict[tuple[Searched, bool, str], dict[int, dict[str, float]]] = {}
        for stored in cells:
            for searched, copies, task, measure, value in _of_cell(stored, results):
                by_seed = values.setdefault((searched, copies, measure), {})
                by_seed.setdefault(stored.cell.seed, {})[task] = value
        for (searched, copies, measure), by_seed in values.items():
            about = searched, copies, measure
            yield from _by_seeds(cells[0].cell, about, by_seed, str(results.path))


def _by_seeds(
    cell: Cell,
    about: tuple[Searched, bool, str],
    by_seed: Mapping[int, dict[str, float]],
    source: str,
) -> Iterator[tuple[Reading, Values]]:
    """Yield the mean over seeds, and each seed where there are several."""
    identity = cell.dataset, cell.label, cell.bits, *about
    tasks = next(iter(by_seed.values()))
    seeds = tuple(sorted(by_seed))
    mean = {task: float(np.mean([by_seed[seed][task] for seed in seeds])) for task in tasks}
    yield Reading(*identity, seeds, source), mean
    for seed in seeds if len(seeds) > 1 else ():
        yield Reading(*identity, (seed,), source), by_seed[seed]


def _of_cell(stored: Stored, results: Results) -> Iterator[tuple[Searched, bool, str, str, float]]:
    """Yield every reading of one cell: what is searched, copies, task, measure and value."""
    from hashbench.execution.scoring import make_ranking, searched_parts  # numba: a second

    codes, split = stored.codes(), results.split(stored.cell.split)
    parts = searched_parts(stored, codes, split)
    if len(split.parts) > 1:
        parts = list(dict.fromkeys([*parts, Searched(ALL, ENCODED)]))
    for searched, task in itertools.product(parts, split.tasks):
        ranking = make_ranking(codes, split, searched, task)
        names = [
            each
            for each in measures(ranking.n_database)
            if codes.n_bits is not None or each.has_ties
        ]
        left_out = split.copied(task)
        for copies in (False, True) if split.copies.any() else (False,):
            chosen = None if copies else left_out
            found = evaluate_ranking(ranking, names, left_out=chosen)
            for name in map(str, names):
                yield searched, copies, task.name, name, float(found[name])


def readings_of_table(
    table: pd.DataFrame, labels: Iterable[str]
) -> Iterator[tuple[Reading, Values]]:
    """Yield the readings in rows of the archive, whose codes need not be here."""
    keys = ["dataset", "label", "bits", "database", "codes", "measure"]
    for key, rows in grouped(table.assign(label=list(labels)), *keys):
        dataset, label, bits, database, codes, measure = key
        wide = rows.pivot_table(index="seed", columns="task", values="value").dropna()
        if not len(wide):
            continue
        source = f"archive {rows['edition'].iloc[0]}"
        identity = (str(dataset), str(label), int(bits), Searched(str(database), str(codes)), False)
        sets = [tuple(map(int, wide.index)), *((int(seed),) for seed in wide.index)]
        for seeds in dict.fromkeys(sets):
            mean = wide.loc[list(seeds)].mean()
            values = {str(task): float(value) for task, value in mean.items()}
            yield Reading(*identity, str(measure), seeds, source), values
