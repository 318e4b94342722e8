"""The results of a study as data frames, derived from the store on demand.

A method in these tables includes its parameters, ``edsh[gamma=1]``: two settings of a method are
two methods. Failed cells have a row in ``runs`` and none in ``scores``.
"""

from __future__ import annotations

import fnmatch
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hashbench.analysis.csv_tables import RESULT_COLUMNS, Row, run_rows
from hashbench.core.errors import HashbenchError, unknown
from hashbench.core.validation import listed
from hashbench.data.splits import SEARCHED, Searched, StoredSplit
from hashbench.execution.cell import Cell
from hashbench.execution.plan import Plan
from hashbench.execution.score_cache import (
    EvaluatedCell,
    EvaluationCache,
    PerQuery,
    RankingScores,
    all_names,
    fingerprint_of,
)
from hashbench.execution.store import Store, Stored
from hashbench.execution.tuning.search import Search
from hashbench.measures import MANY_LABELS, MULTILABEL_MEASURES, parse, parse_many
from hashbench.plugins.dataset import ContactSheet
from hashbench.plugins.protocol import ALL, EITHER, ENCODED, LEARNED, SEEN, UNSEEN
from hashbench.plugins.registry import Registry
from hashbench.plugins.selection import bare_name, full_name

if TYPE_CHECKING:
    import pandas as pd

#: The columns that identify a cell in every table.
IDENTITY = ["dataset", "method", "bits", "seed"]

DATABASES = (UNSEEN, SEEN, ALL)

CODES = (ENCODED, LEARNED)

#: The columns of a score with numbers.
NUMBERS = ["value", "pessimistic", "optimistic", "chance", "chance_error"]

#: What the score cache calls the bounds over all orders of tied items.
CACHED = {"pessimistic": "low", "optimistic": "high"}

#: The code length that figures of one length show by default: most papers' choice.
USUAL_BITS = 16


@dataclass(frozen=True)
class ResultsFilter:
    """A part of results; None where nothing is restricted.

    With `shown`, only what tables show by default of each cell's database, see `Results.shown`.
    """

    cells: tuple[Cell, ...] | None = None
    measures: tuple[str, ...] | None = None
    bits: tuple[int, ...] | None = None
    tasks: tuple[str, ...] | None = None
    databases: tuple[str, ...] | None = None
    codes: tuple[str, ...] | None = None
    shown: bool = False


class Results:
    """The results of a study, or a part of them.

    Parameters
    ----------
    out : the folder of results
    registry : titles and other facts about plugins
    plan, stored, damaged : what the folder holds, if that has been read already
    selection : the part
    score_cache, splits : numbers and splits that have been read already

    Attributes
    ----------
    cells : list of Cell
        Every selected cell of the plan, done or not.
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
        damaged: Mapping[str, str] | None = None,
        *,
        selection: ResultsFilter = ResultsFilter(),
        score_cache: EvaluationCache | None = None,
        splits: dict[str, StoredSplit] | None = None,
    ) -> None:
        self.path = out
        self.registry = registry
        self.store = Store(out)
        self.plan = Plan.read(out) if plan is None else plan
        if stored is None:
            stored, damaged = self.store.read(self.plan.cells)
        self.stored, self.damaged = stored, damaged or {}
        self.selection = selection
        if selection.cells is None:
            self.cells = sorted(self.plan.cells, key=lambda cell: cell.key)
        else:
            self.cells = list(selection.cells)
        planned = parse_many([*self.plan.measures, *self.plan.further_measures])
        self.measures = selection.measures or tuple(
            str(measure) for measure in planned if not measure.is_curve
        )
        self.score_cache = EvaluationCache(out) if score_cache is None else score_cache
        self._splits: dict[str, StoredSplit] = {} if splits is None else splits
        self._frames: dict[Any, pd.DataFrame] = {}

    def select(
        self,
        *,
        measures: str | Sequence[str] = (),
        bits: int | Sequence[int] = (),
        tasks: str | Sequence[str] = (),
        databases: str | Sequence[str] = (),
        codes: str | Sequence[str] = (),
        datasets: str | Sequence[str] = (),
        methods: str | Sequence[str] = (),
        seeds: int | Sequence[int] = (),
    ) -> Self:
        """Return a part of the results; what is left empty is not restricted.

        Each is one value or a list. Measures need not be those of the study. Datasets and methods
        may be patterns, and match with or without their parameters. Where all rows of the database
        are seen, or all are unseen, these rows are the database "all", too.
        """
        measures, tasks, databases = listed(measures), listed(tasks), listed(databases)
        codes, datasets, methods = listed(codes), listed(datasets), listed(methods)
        bits, seeds = listed(bits), listed(seeds)
        if not any((measures, bits, tasks, databases, codes, datasets, methods, seeds)):
            return self
        part = self.selection
        if measures:
            chosen = parse_many(measures)
            for measure in chosen:
                if measure.is_curve:
                    raise HashbenchError(f"measure {str(measure)!r} is a curve; allowed: numbers")
            part = replace(part, measures=tuple(dict.fromkeys(map(str, chosen))))
        if bits:
            _check_known("bits", bits, {cell.bits for cell in self.cells})
            bits = [int(each) for each in bits]
            part = replace(part, bits=tuple(bits))
        if tasks:
            _check_known("task", tasks, self.tasks)
            part = replace(part, tasks=tuple(tasks))
        if databases:
            _check_known("database", databases, DATABASES)
            part = replace(part, databases=tuple(databases), shown=False)
        if codes:
            _check_known("codes", codes, (*CODES, EITHER))
            if EITHER in codes and len(codes) > 1:
                raise HashbenchError(f"codes: found {codes}; allowed: {EITHER!r} alone, or others")
            part = replace(part, codes=tuple(codes), shown=False)
        if seeds:
            _check_known("seed", seeds, {cell.seed for cell in self.cells})
            seeds = [int(each) for each in seeds]
        cells = [cell for cell in self.cells if not bits or cell.bits in bits]
        cells = [cell for cell in cells if not seeds or cell.seed in seeds]
        cells = _matching(cells, "dataset", datasets, lambda cell: cell.dataset)
        cells = _matching(cells, "method", methods, lambda cell: cell.label)
        return self._filtered(replace(part, cells=tuple(cells)))

    def shown(self) -> Self:
        """Return what tables show where neither database nor codes were selected.

        Of each cell the encoded codes of unseen rows; if its protocol has none, those of what
        there is: seen rows, or the whole database. Of these the learned codes, where the study
        asks for "learned-or-encoded" and the method has them.
        """
        if self.selection.databases or self.selection.codes:
            return self
        return self._filtered(replace(self.selection, shown=True))

    def _filtered(self, selection: ResultsFilter) -> Self:
        return type(self)(
            self.path,
            self.registry,
            self.plan,
            self.stored,
            self.damaged,
            selection=selection,
            score_cache=self.score_cache,
            splits=self._splits,
        )

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """The tasks of all done cells, in the order of the views."""
        if self.selection.tasks is not None:
            return self.selection.tasks
        found: dict[str, None] = {}
        for name in self.split_names:
            found.update((task.name, None) for task in self.split(name).tasks)
        return tuple(found)

    @cached_property
    def searched(self) -> tuple[Searched, ...]:
        """The selected parts of databases and codes of all done cells, what is shown first."""
        found = {each.searched for stored in self.done() for each in self._selected(stored)}
        codes = CODES[::-1] if self.plan.codes == EITHER else CODES
        every = (Searched(*pair) for pair in itertools.product(DATABASES, codes))
        return tuple(each for each in every if each in found)

    @cached_property
    def bits(self) -> tuple[int, ...]:
        """The code lengths, ascending."""
        return tuple(sorted({cell.bits for cell in self.cells}))

    @property
    def figure_bits(self) -> tuple[int, ...]:
        """The code lengths that figures of a single length are made for.

        The selected ones; otherwise 16 as in most papers, or else the middle one of the study.
        """
        if self.selection.bits is not None or len(self.bits) < 2:
            return self.bits
        return (USUAL_BITS if USUAL_BITS in self.bits else self.bits[len(self.bits) // 2],)

    @property
    def main_measure(self) -> str:
        """The measure of reports that can show only one: the first."""
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
        """Return pictures of the items of a cell's dataset, or None."""
        return self.store.pictures(cell.fingerprint)

    def scores(self, measures: str | Sequence[str] | None = None) -> pd.DataFrame:
        """Return one row per number.

        Returns
        -------
        DataFrame
            dataset, method, bits, seed, task, database ("unseen", "seen" or "all"), codes
            ("encoded" or "learned"), measure, value; pessimistic and optimistic bound the value
            over all orders of tied items, chance is the value of a random order and chance_error
            the standard error of the distance from it (nan where not defined).
        """
        wanted = self.measures if measures is None else measures
        names = [str(measure) for measure in parse_many(wanted)]
        return self._once(("scores", *names), lambda: self._scores(names))

    def _scores(self, names: Sequence[str]) -> pd.DataFrame:
        keys = [CACHED.get(name, name) for name in NUMBERS]
        rows = [
            (*identity(cell).values(), task, *searched, name, *map(score.get, keys))
            for cell, task, searched, name, score in self._each_score(names)
        ]
        table = _frame(rows, [*IDENTITY, "task", *SEARCHED, "measure", *NUMBERS])
        table[NUMBERS] = table[NUMBERS].astype(float)
        return table

    def rows(self) -> list[Row]:
        """Return the rows of results.csv, with the chance level of each number."""
        rows = []
        for cell, task, searched, name, score in self._each_score(self.measures):
            value = np.nan if score["value"] is None else score["value"]
            found = (*cell.key, task, *searched, name, value)
            row = dict(zip(RESULT_COLUMNS, found, strict=True))
            rows.append({**row, "chance": score["chance"], "chance_error": score["chance_error"]})
        return rows

    def _each_score(
        self, names: Sequence[str]
    ) -> Iterator[tuple[Cell, str, Searched, str, Mapping[str, float | None]]]:
        """Yield cell, task, what is searched, measure and score of every number."""
        for cell, searched, ranking in self._rankings(self.done(), names):
            for name in names:
                if name in ranking.scores:  # vectors have no Hamming radius
                    yield cell, ranking.task, searched, name, ranking.scores[name]

    def curves(self, measure: str = "PR") -> pd.DataFrame:
        """Return one row per point of a curve, for the code lengths of figures.

        Returns
        -------
        DataFrame
            dataset, method, bits, seed, task, database, codes, x (rank or radius), precision,
            recall
        """
        name, bits = str(parse(measure)), set(self.figure_bits)
        chosen = [stored for stored in self.done() if stored.cell.bits in bits]
        found = [
            (
                {**identity(cell), "task": ranking.task, **searched._asdict()},
                ranking.curves[name],
            )
            for cell, searched, ranking in self._rankings(chosen)
            if name in ranking.curves
        ]
        # first one row per curve, then one row per point: points are many
        table = _frame((about for about, _ in found), [*IDENTITY, "task", *SEARCHED])
        table = table.loc[table.index.repeat([len(curve["x"]) for _, curve in found])]
        for column, kind in (("x", int), ("precision", float), ("recall", float)):
            values = [np.asarray(curve[column], kind) for _, curve in found]
            table[column] = np.concatenate([np.empty(0, kind), *values])
        return table.reset_index(drop=True)

    def _rankings(
        self, done: Iterable[Stored], measures: Sequence[str] = ()
    ) -> Iterator[tuple[Cell, Searched, RankingScores]]:
        """Yield cell, what is searched and scores of every selected ranking."""
        either = EITHER in (self.selection.codes or ())
        either |= self.selection.shown and self.plan.codes == EITHER
        for stored in done:
            for ranking in self._selected(stored, measures):
                if ranking.task in self.tasks:
                    searched = ranking.searched
                    yield (
                        stored.cell,
                        searched._replace(codes=EITHER) if either else searched,
                        ranking,
                    )

    def _selected(self, stored: Stored, measures: Sequence[str] = ()) -> list[RankingScores]:
        """Return the rankings of a done cell whose part of the database and codes are selected."""
        rankings = self.evaluated(stored, measures).rankings
        every = {ranking.searched for ranking in rankings}
        if self.selection.shown:
            first = rankings[0].searched
            learned = first._replace(codes=LEARNED)
            shown = learned if self.plan.codes == EITHER and learned in every else first
            return [each for each in rankings if each.searched == shown]
        databases, codes = self.selection.databases or DATABASES, self.selection.codes or CODES
        whole = ALL in databases and len({each.database for each in every}) == 1

        def is_selected(searched: Searched) -> bool:
            if searched.database not in databases and not whole:
                return False
            if EITHER in codes:
                return searched.codes == LEARNED or searched._replace(codes=LEARNED) not in every
            return searched.codes in codes

        return [each for each in rankings if is_selected(each.searched)]

    def evaluated(self, stored: Stored, measures: Sequence[str] = ()) -> EvaluatedCell:
        """Return the numbers of a done cell: those of the study, and of the given measures.

        They come from the score cache, and are computed if they are not there.
        """
        known = self._cached(stored, measures)
        return known or self.keep(stored, *self.compute(stored, measures))

    def is_cached(self, stored: Stored) -> bool:
        """Return whether the score cache holds the numbers of a done cell."""
        return self._cached(stored) is not None

    def compute(
        self, stored: Stored, measures: Sequence[str] = ()
    ) -> tuple[EvaluatedCell, dict[tuple[str, str, Searched], PerQuery]]:
        """Return the numbers of a done cell, and those of the first measure query by query."""
        from hashbench.execution.scoring import evaluate_cell  # imports numba: a second

        known = self.score_cache.read(stored.cell.id, self.stamp(stored))
        split = self.split(stored.cell.split)
        return evaluate_cell(stored, split, self._names(stored, measures), known)

    def keep(
        self,
        stored: Stored,
        evaluated: EvaluatedCell,
        per_query: Mapping[tuple[str, str, Searched], PerQuery],
    ) -> EvaluatedCell:
        """Write the numbers of a done cell to the score cache; return them."""
        self.score_cache.write(stored.cell.id, self.stamp(stored), evaluated, per_query)
        return evaluated

    def stamp(self, stored: Stored) -> dict[str, str]:
        """Return what has to be equal for cached numbers of a cell to be used."""
        return fingerprint_of(stored, self.split(stored.cell.split))

    def _cached(self, stored: Stored, measures: Sequence[str] = ()) -> EvaluatedCell | None:
        known = self.score_cache.read(stored.cell.id, self.stamp(stored))
        return known if known is not None and known.has(self._names(stored, measures)) else None

    def _names(self, stored: Stored, measures: Sequence[str]) -> list[str]:
        """Return all measures that reports need of a cell: its rankings are made only once."""
        names = _all_names((*self.measures, *self.plan.measures, *measures))
        split = self.split(stored.cell.split)
        names = [name for name in names if parse(name).needs_pairs == (not split.n_labels)]
        if split.labels_per_row > MANY_LABELS:
            return names
        several = {*MULTILABEL_MEASURES} & {*self.plan.further_measures}
        return [name for name in names if name not in several]

    def code_statistics(self) -> pd.DataFrame:
        """Return one row per part of the database, codes and view (none if all share the codes).

        See `hashbench.measures.code_statistics`.
        """
        return self._once("codes", self._code_statistics)

    def _code_statistics(self) -> pd.DataFrame:
        rows = [
            {**identity(stored.cell), **statistics}
            for stored in self.done()
            for statistics in self.evaluated(stored).codes
            if (statistics["database"], statistics["codes"])
            in {each.searched for each in self._selected(stored)}
        ]
        columns = [
            *SEARCHED, "view", "items", "ones", "imbalance", "constant", "correlation",
            "largest_correlation", "distinct", "collisions", "collisions_apart",
        ]  # fmt: skip
        # None where fewer than two bits change, or where labels are those of other rows
        undefined = ["correlation", "largest_correlation", "collisions_apart"]
        return _frame(rows, [*IDENTITY, *columns]).astype(dict.fromkeys(undefined, float))

    def runs(self) -> pd.DataFrame:
        """Return one row per cell, done or not: status, times, memory and where it ran.

        ``train_rows`` is the number of rows the method was fitted on, ``own_memory`` the peak
        above what its process held before the data; nan if nothing is known.
        """
        return self._once("runs", self._runs)

    def _runs(self) -> pd.DataFrame:
        chosen = {cell.key for cell in self.cells}
        columns = [
            *IDENTITY, "status", "reason", "train_rows", "fit_seconds", "encode_seconds",
            "peak_memory", "own_memory", "threads", "alone", "hamming", "item_bytes", "protocol",
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
        """Return a copy of a table that is made only once."""
        if key not in self._frames:
            self._frames[key] = make()
        return self._frames[key].copy()

    def _sizes(self, cell_id: str | None) -> dict[str, int]:
        """Return the training rows of a done cell, and the memory that it added."""
        stored = None if cell_id is None else self.stored.get(cell_id)
        if stored is None:
            return {}
        sizes = {"train_rows": len(self.split(stored.cell.split).train)}
        peak, before = stored.record.peak_memory, stored.record.resident_at_start
        return sizes | ({"own_memory": peak - before} if peak and before else {})

    def history(self) -> pd.DataFrame:
        """Return one row per iteration: objective, and seconds of training until then."""
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
    """Return the columns that identify a cell in tables."""
    return {
        "dataset": cell.dataset,
        "method": cell.label,
        "bits": cell.bits,
        "seed": cell.seed,
    }


def _frame(rows: Iterable[Any], columns: list[str]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(list(rows), columns=columns)


def _check_known(what: str, found: Iterable[Any], allowed: Iterable[Any]) -> None:
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
