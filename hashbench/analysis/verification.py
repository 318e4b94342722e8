"""Checks of a folder of results: every checksum, and every number derived again from the codes.

Damaged files are set aside and named; the next run computes them again. Tables are written again
at once. In a read-only folder everything is checked and nothing is moved or written.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec

from hashbench.analysis.evaluate import evaluate_missing, table_texts
from hashbench.analysis.results import Results
from hashbench.core.errors import DamagedError, HashbenchError
from hashbench.core.io import load_checked_arrays, read_record
from hashbench.core.units import format_count
from hashbench.execution.plan import FILE, Plan
from hashbench.execution.progress import Progress
from hashbench.execution.score_cache import EvaluatedCell, EvaluationCache
from hashbench.execution.store import Store
from hashbench.plugins.registry import Registry


class Verification:
    """Checks a folder of results and counts what is wrong.

    Parameters
    ----------
    store : the folder, open unless it is read-only
    registry : facts about plugins
    message : called with one line for everything that is wrong
    read_only : check only; move and write nothing

    Attributes
    ----------
    wrong : number of things that are damaged or do not agree
    checked : number of files checked, by kind
    """

    def __init__(
        self, store: Store, registry: Registry, message: Callable[[str], None], read_only: bool
    ) -> None:
        self.store = store
        self.registry = registry
        self.message = message
        self.read_only = read_only
        self.wrong = 0
        self.checked: Counter[str] = Counter()

    def files(self) -> Results | None:
        """Check plan, cells, splits and trials; return the undamaged cells, None without a plan."""
        plan = self._read_plan()
        stored, damaged = self.store.read()
        for name, reason in damaged.items():
            self._damaged(self.store.cells / name, reason)
        self.checked["cell"] += len(stored) + len(damaged)
        splits = set()
        for path in sorted(self.store.splits.glob("*.npz")):
            self.checked["split"] += 1
            try:
                load_checked_arrays(path)
                splits.add(path.stem)
            except DamagedError as error:
                self._damaged(path, str(error))
        for path in sorted(self.store.trials.folder.glob("*.jsonl")):
            self.checked["search"] += 1
            lines = sum(bool(line) for line in path.read_bytes().split(b"\n"))
            changed = lines - self.store.trials.count(path.stem)
            if changed:
                self._report(f"trials/{path.name}: {format_count(changed, 'line')} changed")
        if plan is None:
            return None
        own = {cell.id: stored[cell.id] for cell in plan.cells if cell.id in stored}
        needed = {each.cell.split for each in own.values() if each.status == "done"}
        for name in sorted(needed - splits):
            self._report(f"splits/{name}.npz is missing: no cell of this split can be scored")
        own = {name: each for name, each in own.items() if each.cell.split not in needed - splits}
        return Results(self.store.path, self.registry, plan, own)

    def numbers(self, results: Results, progress: Progress) -> None:
        """Compare the score cache and the tables with what the codes give now."""
        with tempfile.TemporaryDirectory(prefix="hashbench-verify-") as folder:
            fresh = Results(
                results.path,
                results.registry,
                results.plan,
                results.stored,
                score_cache=EvaluationCache(Path(folder)),
            )
            evaluate_missing(fresh, progress)
            for stored in fresh.done():
                self.checked["evaluation"] += 1
                self._cached(results, stored.cell.id, fresh.evaluated(stored))
            if len(results.stored) == len(results.cells):
                self._check_tables(fresh)

    def _read_plan(self) -> Plan | None:
        path = self.store.path / FILE
        self.checked["plan"] += 1
        try:
            return Plan.read(self.store.path)
        except HashbenchError as error:
            self._damaged(path, str(error))
            return None

    def _cached(self, results: Results, cell_id: str, fresh: EvaluatedCell) -> None:
        """Set the cached numbers of a cell aside if they are damaged or not those of its codes."""
        record, arrays = results.score_cache.paths(cell_id)
        reason = None
        try:
            if record.exists():
                read_record(record)
            if arrays.exists():
                load_checked_arrays(arrays)
        except DamagedError as error:
            reason = str(error)
        stored = results.stored[cell_id]
        known = results.score_cache.read(cell_id, results.stamp(stored))
        if known is not None and not _agree(known, fresh):
            reason = "its numbers are not those of the codes"
        if reason is not None:
            self._damaged(record, f"cached scores of {stored.cell}: {reason}")
            if arrays.exists() and not self.read_only:
                arrays.unlink()

    def _check_tables(self, fresh: Results) -> None:
        for name, expected in table_texts(fresh, self.store).items():
            path = self.store.path / name
            self.checked["table"] += 1
            try:
                found = path.read_text(encoding="utf-8")
            except (OSError, ValueError):
                found = ""
            if found == expected:
                continue
            rows = len({*expected.splitlines()} - {*found.splitlines()})
            self._damaged(path, f"{format_count(rows, 'row')} missing or wrong")
            if not self.read_only:
                self.store.write_text(name, expected)

    def _damaged(self, path: Path, reason: str) -> None:
        """Set a file or folder aside, if it is there and may be moved."""
        name = path.relative_to(self.store.path)
        if path.exists() and not self.read_only:
            reason = f"set aside in {self.store.set_aside(path)}: {reason}"
        self._report(f"{name}: {reason}")

    def _report(self, line: str) -> None:
        self.wrong += 1
        self.message(line)


def _agree(known: EvaluatedCell, fresh: EvaluatedCell) -> bool:
    """Return whether cached numbers are those computed now; the cache may hold more measures."""
    if (known.hamming, len(known.rankings)) != (fresh.hamming, len(fresh.rankings)):
        return False
    pairs: list[tuple[object, object]] = [(known.codes, fresh.codes)]
    for old, new in zip(known.rankings, fresh.rankings, strict=True):
        pairs += [(old.scores.get(name), new.scores[name]) for name in new.scores]
        pairs += [(old.curves.get(name), new.curves[name]) for name in new.curves]
    return all(_json_bytes(old) == _json_bytes(new) for old, new in pairs)


def _json_bytes(value: object) -> bytes:
    return msgspec.json.encode(value, order="sorted")
