"""Believing nothing: every checksum of a folder of results, and every number from its codes again.

What does not verify is set aside and named; the next run computes it again. Tables and remembered
numbers follow from codes and labels, so that they are put right at once. In a folder that is
read-only everything is checked and nothing is moved or written.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

from hashbench.analysis.csv_tables import RESULT_COLUMNS, RUN_COLUMNS, result_rows, run_rows, to_csv
from hashbench.analysis.results import Results
from hashbench.core.errors import DamagedError, HashbenchError
from hashbench.core.io import checksum, load_sealed
from hashbench.core.units import format_count
from hashbench.execution.plan import FILE, Plan
from hashbench.execution.score_cache import EvaluatedCell, all_names, fingerprint_of, unsealed
from hashbench.execution.scoring import evaluate_cell
from hashbench.execution.store import Store, Stored
from hashbench.execution.verified_index import CheckedCells
from hashbench.plugins.registry import Registry

Key = tuple[str, ...]

#: Columns whose text is that of a measured value: what tells rows apart comes before it.
IDENTITY = {"results.csv": 8, "runs.csv": 5}


class Verification:
    """What a look at a folder of results has found.

    Parameters
    ----------
    store : the folder, open
    registry : where facts about plugins come from
    tell : told a line for everything that is wrong, as it is found
    read_only : check only; move and write nothing

    Attributes
    ----------
    wrong : how many things did not verify
    checked : how many files of each kind were looked at
    """

    def __init__(
        self,
        store: Store,
        registry: Registry,
        tell: Callable[[str], None],
        read_only: bool = False,
    ) -> None:
        self.store = store
        self.read_only = read_only
        self.registry = registry
        self.tell = tell
        self.wrong = 0
        self.checked: dict[str, int] = {}

    def note(self, line: str) -> None:
        """Count and tell something that is wrong."""
        self.wrong += 1
        self.tell(line)

    def files(self) -> Results | None:
        """Check every file that can change a number; return what is left, None without a plan."""
        plan = self._plan()
        present, lines = self.store.audit(anew=True, keep=self.read_only)
        for line in lines:
            self.note(line)
        self._believed(present)
        self._splits()
        self._trials()
        self.checked["cell"] = len(present) + len(lines)
        if plan is None:
            return None
        ids = {cell.id for cell in plan.cells}
        stored = {name: each for name, each in present.items() if name in ids}
        return Results(self.store.path, self.registry, plan, stored)

    def numbers(self, results: Results, shown: Callable[..., Iterable[Stored]]) -> None:
        """Evaluate every done cell again and compare what is remembered and printed with it."""
        fresh: dict[str, EvaluatedCell] = {}
        lost: set[str] = set()
        for stored in shown(list(results.done())):
            try:
                split = results.split(stored.cell.split)
            except HashbenchError:
                lost.add(stored.cell.split)
                continue
            stamp = fingerprint_of(stored, split)
            remembered = results.memory.read(stored.cell.id, stamp)
            names = all_names((*results.measures, *results.plan.measures))
            fresh[stored.cell.id], per_query = evaluate_cell(stored, split, names)
            self._remembered(stored, remembered, fresh[stored.cell.id], results)
            if not self.read_only:
                results.memory.write(stored.cell.id, stamp, fresh[stored.cell.id], per_query)
        self.checked["evaluation"] = len(fresh)
        for name in sorted(lost):
            self.note(f"splits/{name}.npz is not there: nothing that needs it can be scored")
        done = results.done()
        pairs = [(each.cell, fresh[each.cell.id]) for each in done if each.cell.id in fresh]
        rows = list(result_rows(pairs, results.plan.measures))
        # What is not there cannot be held against a table that has it.
        unknown = [cell for cell in results.cells if cell.id not in fresh]
        open_cells = {tuple(map(str, cell.key)) for cell in unknown}
        self._table("results.csv", to_csv(rows, RESULT_COLUMNS), open_cells)
        gone = [cell for cell in results.cells if cell.id not in results.stored]
        open_cells = {tuple(map(str, cell.key)) for cell in gone}
        runs = to_csv(run_rows(results.plan, results.stored), RUN_COLUMNS)
        self._table("runs.csv", runs, open_cells)

    def _plan(self) -> Plan | None:
        path = self.store.path / FILE
        self.checked["plan"] = 1
        try:
            return Plan.read(self.store.path)
        except HashbenchError as error:
            if path.exists():
                self.note(f"{self._set_aside(path, FILE)}: {error}")
            else:
                self.note(f"{FILE} is not there: no number can be derived")
            return None

    def _believed(self, present: Mapping[str, Stored]) -> None:
        """Compare what other commands would believe without reading cells with what these say."""
        checked = CheckedCells(self.store.path)
        recalled = [
            (each, checked.recall(str(each.folder), each.cell.id)) for each in present.values()
        ]
        wrong = checked.damaged() + sum(
            known is not None and (known.cell, known.record) != (each.cell, each.record)
            for each, known in recalled
        )
        if wrong:
            place = self._set_aside(checked.path, checked.path.name)
            self.note(f"{place}: {format_count(wrong, 'line')} changed")

    def _splits(self) -> None:
        paths = sorted(self.store.splits.glob("*.npz"))
        self.checked["split"] = len(paths)
        for path in paths:
            try:
                load_sealed(path)
            except DamagedError as error:
                self.note(f"{self._set_aside(path, f'splits/{path.name}')}: {error}")

    def _trials(self) -> None:
        paths = sorted(self.store.trials.folder.glob("*.jsonl"))
        self.checked["search"] = len(paths)
        for path in paths:
            lines = [line for line in path.read_bytes().split(b"\n") if line]
            damaged = len(lines) - self.store.trials.count(path.stem)
            if damaged:
                count = format_count(damaged, "line")
                self.note(f"trials/{path.name}: {count} changed; these trials run again")

    def _remembered(
        self, stored: Stored, known: EvaluatedCell | None, fresh: EvaluatedCell, results: Results
    ) -> None:
        """Compare what ``.evaluated`` has of a cell with what its codes give."""
        paths = [results.memory.folder / f"{stored.cell.id}{end}" for end in (".json", ".npz")]
        reason = _changed(*paths)
        if reason is None and known is not None and not _agree(known, fresh):
            reason = "its numbers are not those of the codes"
        if reason is None:
            return
        name = f"{results.memory.folder.name}/{stored.cell.id}"
        places = [self._set_aside(path, name) for path in paths if path.exists()]
        self.note(f"{places[0]}, the cached scores of {stored.cell}: {reason}")

    def _table(self, name: str, expected: str, unknown: Collection[Key]) -> None:
        """Compare a table with what it is derived from; write it again if it is another."""
        path = self.store.path / name
        if not path.exists():
            if not unknown:  # a run that is not over has no tables yet
                self.note(f"{name} is missing")
                self._write(name, expected)
            return
        self.checked["table"] = self.checked.get("table", 0) + 1
        try:
            found = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            found = ""
        count = _differing(found, expected, IDENTITY[name], unknown)
        if count:
            rows = f"{format_count(count, 'row')} of it {'is' if count == 1 else 'are'} wrong"
            self.note(f"{self._set_aside(path, name)}: {rows}")
            self._write(name, expected)

    def _set_aside(self, path: Path, name: str) -> str:
        """Move what is wrong out of the way, if the folder may be written to; say what was done."""
        if self.read_only:
            return f"wrong: {name}"
        return f"set aside {name} in {self.store.set_aside(path)}"

    def _write(self, name: str, text: str) -> None:
        if not self.read_only:
            self.store.write_text(name, text)


def _changed(record: Path, arrays: Path) -> str | None:
    """Say what is wrong with the two files that remember a cell; None if nothing is."""
    if not record.exists():
        return None
    try:
        found = unsealed(record.read_bytes())
        if not arrays.is_file() or checksum(arrays) != found["per_query"]:
            return "its values by query have changed"
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return str(error) or type(error).__name__
    return None


def _agree(known: EvaluatedCell, fresh: EvaluatedCell) -> bool:
    """Say whether remembered numbers are those computed now; more measures may be remembered."""
    if (known.hamming, len(known.rankings)) != (fresh.hamming, len(fresh.rankings)):
        return False
    pairs = zip(known.rankings, fresh.rankings, strict=True)
    return all(
        _within(asdict(new)[part], asdict(old)[part])
        for old, new in pairs
        for part in ("scores", "curves")
    ) and json.dumps(known.codes) == json.dumps(fresh.codes)


def _within(some: Mapping[str, object], all_of_them: Mapping[str, object]) -> bool:
    return all(
        name in all_of_them and json.dumps(all_of_them[name]) == json.dumps(value)
        for name, value in some.items()
    )


def _differing(found: str, expected: str, identity: int, unknown: Collection[Key]) -> int:
    """Count the rows that one of two tables has not, or has otherwise, but of unknown cells."""
    if found == expected:
        return 0
    tables = []
    for text in (found, expected):
        try:
            rows = list(csv.reader(io.StringIO(text), strict=True))
        except csv.Error:  # not what a table can be
            rows = [[text]]
        tables.append({tuple(row[:identity]): tuple(row) for row in rows})
    keys = {key for key in (*tables[0], *tables[1]) if key[:5] not in unknown}
    return sum(tables[0].get(key) != tables[1].get(key) for key in keys)
