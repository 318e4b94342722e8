"""The results of a study as reports read them: tidy tables, made of the store when asked for.

A method in these tables is one with its parameters, ``edsh[gamma=1]``: two settings of a method
are two methods to a reader. Failed cells have a row in ``runs`` and none in ``scores``.
"""

from __future__ import annotations

import copy
import fnmatch
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hashbench.analysis.csv_tables import run_rows
from hashbench.analysis.packed_scores import AtHand
from hashbench.core.errors import HashbenchError, unknown
from hashbench.data.splits import StoredSplit
from hashbench.execution.cell import Cell
from hashbench.execution.cell_codes import EITHER
from hashbench.execution.plan import Plan
from hashbench.execution.score_cache import (
    EvaluatedCell,
    EvaluationCache,
    RankingScores,
    all_names,
    fingerprint_of,
)
from hashbench.execution.store import Store, Stored
from hashbench.execution.tuning.search import Search
from hashbench.measures import parse
from hashbench.plugins.dataset import ContactSheet
from hashbench.plugins.registry import Registry
from hashbench.plugins.selection import bare_name, full_name

if TYPE_CHECKING:
    import pandas as pd

#: What tells two rows of every table apart, besides what the table is about.
IDENTITY = ["dataset", "method", "bits", "seed"]

DATABASES = ("encoded", "learned")

#: The code length that figures of one length show if none is asked for: most papers' choice.
USUAL_BITS = 16


class Results:
    """What a study has given, or a part of it.

    Parameters
    ----------
    out : the folder of results
    registry : where titles and other facts about plugins come from
    plan, stored : what the folder holds, if that has been read and checked already

    Attributes
    ----------
    cells : list of Cell
        Every cell asked for whose dataset could be loaded, done or not.
    measures : tuple of str
        Measures by their canonical names; curves are not among them.
    damaged : dict
        Why a cell that is there is left out, by its id.
    """

    def __init__(
        self,
        out: Path,
        registry: Registry,
        plan: Plan | None = None,
        stored: Mapping[str, Stored] | None = None,
    ) -> None:
        self.path = out
        self.registry = registry
        self.store = Store(out)
        self.plan = Plan.read(out) if plan is None else plan
        self.cells = sorted(self.plan.cells, key=lambda cell: cell.key)
        self.damaged: dict[str, str] = {}
        if stored is None:
            stored, self.damaged = self.store.read(self.cells)
        self.stored = stored
        self.measures = tuple(
            str(measure) for measure in map(parse, self.plan.measures) if not measure.is_curve
        )
        self._tasks: tuple[str, ...] | None = None
        self._databases: tuple[str, ...] | None = None
        self._bits: tuple[int, ...] | None = None
        self.memory = EvaluationCache(out)
        self._splits: dict[str, StoredSplit] = {}
        self._at_hand = AtHand()
        self._frames: dict[Any, pd.DataFrame] = {}

    def select(
        self,
        *,
        measures: Sequence[str] = (),
        bits: Sequence[int] = (),
        tasks: Sequence[str] = (),
        databases: Sequence[str] = (),
        datasets: Sequence[str] = (),
        methods: Sequence[str] = (),
    ) -> Self:
        """Return a part of the results; what is left empty is not restricted.

        Measures need not be those that the study named. Datasets and methods may be patterns, and
        match with or without their parameters.
        """
        part = copy.copy(self)
        if not any((measures, bits, tasks, databases, datasets, methods)):
            return part  # what was made of the whole holds
        part._frames = {}
        for name in ("tasks", "bits"):  # of the whole
            part.__dict__.pop(name, None)
        if measures:
            chosen = [parse(measure) for measure in measures]
            for measure in chosen:
                if measure.is_curve:
                    raise HashbenchError(f"measure {str(measure)!r} is a curve; allowed: numbers")
            part.measures = tuple(dict.fromkeys(map(str, chosen)))
        if bits:
            _check("bits", bits, {cell.bits for cell in self.cells})
            part._bits = tuple(bits)
        if tasks:
            _check("task", tasks, self.tasks)
            part._tasks = tuple(tasks)
        if databases:
            _check("database codes", databases, (*DATABASES, EITHER))
            if EITHER in databases and len(databases) > 1:
                raise HashbenchError(f"database codes: {EITHER!r} stands alone; found {databases}")
            part._databases = tuple(databases)
        part.cells = [cell for cell in self.cells if not bits or cell.bits in bits]
        part.cells = _matching(part.cells, "dataset", datasets, lambda cell: cell.dataset)
        part.cells = _matching(part.cells, "method", methods, lambda cell: cell.label)
        return part

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """The tasks of all done cells, in the order of the views."""
        if self._tasks is not None:
            return self._tasks
        found: dict[str, None] = {}
        for name in self.split_names:
            found.update((task.name, None) for task in self.split(name).tasks)
        return tuple(found)

    @property
    def databases(self) -> tuple[str, ...]:
        """The kinds of database codes that are asked for."""
        return DATABASES if self._databases is None else self._databases

    @cached_property
    def bits(self) -> tuple[int, ...]:
        """The code lengths, ascending."""
        return tuple(sorted({cell.bits for cell in self.cells}))

    @property
    def figure_bits(self) -> tuple[int, ...]:
        """The code lengths that figures of a single length are made for.

        Those asked for; otherwise 16 as in most papers, or else the middle one of the study.
        """
        if self._bits is not None or len(self.bits) < 2:
            return self.bits
        return (USUAL_BITS if USUAL_BITS in self.bits else self.bits[len(self.bits) // 2],)

    @property
    def main_measure(self) -> str:
        """The measure of reports that can show only one: the first asked for."""
        if not self.measures:
            raise HashbenchError(
                f"{self.path}: the study names no measure; give one with --measure"
            )
        return self.measures[0]

    @property
    def searches(self) -> list[Search]:
        """What was tried to tune methods, for the cells of this part."""
        chosen = {cell.id for cell in self.cells}
        return [search for search in self.plan.searches if search.cell.id in chosen]

    def done(self) -> list[Stored]:
        """Return the cells that have codes."""
        found = (self.stored.get(cell.id) for cell in self.cells)
        return [stored for stored in found if stored is not None and stored.status == "done"]

    @property
    def split_names(self) -> tuple[str, ...]:
        """The splits of the cells that have codes."""
        return tuple(dict.fromkeys(stored.cell.split for stored in self.done()))

    def split(self, name: str) -> StoredSplit:
        """Return labels, rows and strings of a split."""
        if name not in self._splits:
            self._splits[name] = self.store.split(name)
        return self._splits[name]

    def pictures(self, cell: Cell) -> ContactSheet | None:
        """Return pictures of the items of a cell's dataset, if it gave any."""
        return self.store.pictures(cell.fingerprint)

    def scores(self, measures: Sequence[str] | None = None) -> pd.DataFrame:
        """Return a row a number.

        Returns
        -------
        DataFrame
            dataset, method, bits, seed, task, database, measure, value; low and high bound the
            value over all orders of tied items, chance is the value of a random order and
            chance_error the standard error of the distance from it (nan where not defined).
        """
        names = [str(parse(name)) for name in (self.measures if measures is None else measures)]
        return self._once(("scores", *names), lambda: self._scores(names))

    def _scores(self, names: Sequence[str]) -> pd.DataFrame:
        numbers = ["value", "low", "high", "chance", "chance_error"]
        # tuples, not dicts: there may be a hundred thousand
        rows = [
            (*about.values(), name, *(ranking.scores[name].get(each) for each in numbers))
            for about, ranking in self._rankings(self.done(), names)
            for name in names
            if name in ranking.scores
        ]
        table = _frame(rows, [*IDENTITY, "task", "database", "measure", *numbers])
        table[numbers] = table[numbers].astype(float)
        return table

    def curves(self, measure: str = "PR") -> pd.DataFrame:
        """Return a row a point of a curve, for the code lengths of figures.

        Returns
        -------
        DataFrame
            dataset, method, bits, seed, task, database, x (rank or radius), precision, recall
        """
        name, bits = str(parse(measure)), set(self.figure_bits)
        chosen = [stored for stored in self.done() if stored.cell.bits in bits]
        found = [
            (about, ranking.curves[name])
            for about, ranking in self._rankings(chosen, curves=True)
            if name in ranking.curves
        ]
        # a row a curve, then a row a point: points are many
        table = _frame((about for about, _ in found), [*IDENTITY, "task", "database"])
        table = table.loc[table.index.repeat([len(curve["x"]) for _, curve in found])]
        for column, kind in (("x", int), ("precision", float), ("recall", float)):
            values = [np.asarray(curve[column], kind) for _, curve in found]
            table[column] = np.concatenate([np.empty(0, kind), *values])
        return table.reset_index(drop=True)

    def _rankings(
        self, done: Iterable[Stored], measures: Sequence[str] = (), curves: bool = False
    ) -> Iterator[tuple[dict[str, Any], RankingScores]]:
        for stored in done:
            evaluated = self.evaluated(stored, measures, curves)
            for ranking in evaluated.rankings:
                if ranking.task not in self.tasks:
                    continue
                if ranking.database in self._kinds(evaluated):
                    kind = EITHER if EITHER in self.databases else ranking.database
                    about = {"task": ranking.task, "database": kind}
                    yield {**identity(stored.cell), **about}, ranking

    def _kinds(self, evaluated: EvaluatedCell) -> tuple[str, ...]:
        """Return the kinds of database codes that are shown of a cell."""
        if EITHER not in self.databases:
            return self.databases
        found = {ranking.database for ranking in evaluated.rankings}
        return ("learned",) if "learned" in found else ("encoded",)

    def evaluated(
        self, stored: Stored, measures: Sequence[str] = (), curves: bool = False
    ) -> EvaluatedCell:
        """Return a done cell's numbers: those of the study, and the given ones; curves if wanted.

        They are remembered, and computed only if they are not; see
        :mod:`hashbench.execution.score_cache`.
        """
        known = self._at_hand.get(stored.cell.id, curves)
        if known is not None and known.has(measures):
            return known
        # everything that reports ask of the study at once: a ranking is made only once
        names = _all_names((*self.measures, *self.plan.measures, *measures))
        split = self.split(stored.cell.split)
        stamp = fingerprint_of(stored, split)
        known = self.memory.read(stored.cell.id, stamp)
        if known is None or not known.has(names):
            from hashbench.execution.scoring import evaluate_cell  # imports numba: a second

            known, per_query = evaluate_cell(stored, split, names, known)
            self.memory.write(stored.cell.id, stamp, known, per_query)
        self._at_hand.put(stored.cell.id, known)
        return known

    def codes(self) -> pd.DataFrame:
        """Return a row a set of database codes: see `hashbench.measures.code_statistics`."""
        return self._once("codes", self._codes)

    def _codes(self) -> pd.DataFrame:
        rows = [
            {**identity(stored.cell), **statistics}
            for stored in self.done()
            for statistics in self.evaluated(stored).codes
        ]
        columns = [
            "codes", "items", "ones", "imbalance", "constant", "correlation",
            "largest_correlation", "distinct", "collisions", "collisions_apart",
        ]  # fmt: skip
        # None where fewer than two bits change, or where labels are those of other rows
        undefined = ["correlation", "largest_correlation", "collisions_apart"]
        return _frame(rows, [*IDENTITY, *columns]).astype(dict.fromkeys(undefined, float))

    def runs(self) -> pd.DataFrame:
        """Return a row a cell, done or not: status, times, memory and where it ran.

        ``train_rows`` is the number of rows the method was fitted on, ``own_memory`` the peak
        above what its process held before the data; nan if nothing is known.
        """
        return self._once("runs", self._runs)

    def _runs(self) -> pd.DataFrame:
        chosen = {cell.key for cell in self.cells}
        columns = [
            *IDENTITY, "status", "reason", "train_rows", "fit_seconds", "encode_seconds",
            "peak_memory", "own_memory", "threads", "alone", "item_bytes", "protocol",
            "preprocessing", "cpu",
        ]  # fmt: skip
        rows = []
        for row in run_rows(self.plan, self.stored):
            key = tuple(row[name] for name in ("dataset", "method", "params", "bits", "seed"))
            if "id" in row and key not in chosen:
                continue  # not selected; a cell without an id could not even be planned
            label = full_name(row["method"], row["params"])
            row |= {"method": label, **self._sizes(row.get("id"))}
            rows.append([row.get(column, np.nan) for column in columns])
        table = _frame(rows, columns)
        numbers = [
            "train_rows", "fit_seconds", "encode_seconds", "peak_memory", "own_memory",
            "item_bytes",
        ]  # fmt: skip
        table[numbers] = table[numbers].astype(float)
        return table

    def _once(self, key: Any, make: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        """Return a table that many reports ask for: made once, and a copy for each."""
        if key not in self._frames:
            self._frames[key] = make()
        return self._frames[key].copy()

    def _sizes(self, cell_id: str | None) -> dict[str, int]:
        stored = None if cell_id is None else self.stored.get(cell_id)
        if stored is None:
            return {}
        sizes = {"train_rows": len(self.split(stored.cell.split).train)}
        peak, before = stored.record.peak_memory, stored.record.resident_at_start
        return sizes | ({"own_memory": peak - before} if peak and before else {})

    def history(self) -> pd.DataFrame:
        """Return a row an iteration: objective, and seconds of training until then."""
        rows = []
        wanted = set(self.figure_bits)
        for stored in self.done():
            arrays = stored.history() if stored.cell.bits in wanted else {}
            if "objective" not in arrays:
                continue
            seconds = arrays.get("objective_seconds", np.full(len(arrays["objective"]), np.nan))
            for iteration, pair in enumerate(zip(arrays["objective"], seconds, strict=True), 1):
                point = {"objective": float(pair[0]), "second": float(pair[1])}
                rows.append({**identity(stored.cell), "iteration": iteration, **point})
        return _frame(rows, [*IDENTITY, "iteration", "second", "objective"])


@cache
def _all_names(measures: tuple[str, ...]) -> list[str]:
    """Return what `all_names` does, once for all cells."""
    return all_names(measures)


def identity(cell: Cell) -> dict[str, Any]:
    """Return the columns by which a reader tells cells apart."""
    return {
        "dataset": cell.dataset,
        "method": cell.label,
        "bits": cell.bits,
        "seed": cell.seed,
    }


def _frame(rows: Iterable[Any], columns: list[str]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(list(rows), columns=columns)


def _check(what: str, found: Iterable[Any], allowed: Iterable[Any]) -> None:
    names = [str(each) for each in allowed]
    for each in found:
        if str(each) not in names:
            raise unknown(what, str(each), names)


def _matching(
    cells: list[Cell], what: str, patterns: Sequence[str], name: Callable[[Cell], str]
) -> list[Cell]:
    """Return the cells whose name, with or without parameters, matches one of the patterns."""
    if not patterns:
        return cells
    kept: dict[str, Cell] = {}
    names = {name(cell): bare_name(name(cell)) for cell in cells}
    for pattern in patterns:
        hits = {
            full
            for full, bare in names.items()
            if pattern == full or fnmatch.fnmatchcase(bare, pattern)
        }
        if not hits:
            raise unknown(what, pattern, names)
        kept |= {cell.id: cell for cell in cells if name(cell) in hits}
    return sorted(kept.values(), key=lambda cell: cell.key)
