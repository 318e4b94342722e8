"""Computing a sample of stored cells once more: the same codes, to the bit, or what differs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hashbench.analysis.results import Results
from hashbench.api.job import Job
from hashbench.execution.cell_codes import CellCodes
from hashbench.execution.external import is_external
from hashbench.execution.plan import Source, build_plan, make_task, run_order
from hashbench.execution.progress import Progress
from hashbench.execution.run_cells import run_cells
from hashbench.execution.run_record import RunRecord
from hashbench.execution.store import Store, Stored
from hashbench.plugins.source_hash import environment

#: What may make rounding another: compared in this order.
FACTS = (
    "hashbench", "git", "python", "numpy", "scipy", "scikit-learn", "numba", "cpu", "machine",
    "blas",
)  # fmt: skip


@dataclass(frozen=True)
class Rerun:
    """A cell that was computed again.

    Attributes
    ----------
    stored : the cell as it is kept
    bits : how many bits differ, of
    total : so many; both are entries where the method has vectors
    differences : "numpy 2.0.0, now 2.4.6" and the like
    failure : why there is nothing to compare, or nothing
    """

    stored: Stored
    bits: int = 0
    total: int = 0
    differences: tuple[str, ...] = ()
    failure: str = ""

    @property
    def same(self) -> bool:
        """Whether the codes are the same to the bit."""
        return not self.failure and not self.bits

    def __str__(self) -> str:
        if self.failure:
            return f"{self.stored.cell}: not compared: {self.failure}"
        if self.same:
            return f"{self.stored.cell}: the same codes"
        why = "; ".join(self.differences) or "versions, threads and machine are the same"
        return f"{self.stored.cell}: {self.bits:,} of {self.total:,} bits differ ({why})"


def sample(stored: Sequence[Stored], count: int) -> list[Stored]:
    """Return so many of the done cells, always the same ones of the same cells."""
    by_id = sorted(stored, key=lambda each: each.cell.id)
    chosen = np.random.default_rng(0).permutation(len(by_id))[:count]
    return [by_id[place] for place in sorted(chosen)]


def rerun(
    job: Job,
    results: Results,
    store: Store,
    count: int,
    progress: Progress,
    tell: Callable[[Rerun], None],
) -> None:
    """Fit a sample of the done cells again and compare codes, one cell after the other.

    Cells whose plugin is not loaded or whose codes were computed elsewhere are not in the sample.
    """
    methods = job.registry.methods
    able = [
        each
        for each in results.done()
        if each.cell.method in methods and not is_external(each.cell)
    ]
    wanted = {each.cell.id: each for each in sample(able, count)}
    executor = job.executor(store.prepared)
    try:
        found = build_plan(job.study, job.specs, job.registry, executor, store.work, progress)
        sources: dict[str, Source] = {}
        for cell in found.plan.cells:
            sources.setdefault(cell.split, found.sources[cell.id])
        cells = []
        for each in wanted.values():
            if each.cell.split not in sources:
                tell(Rerun(each, failure=_other_data(each)))
            else:
                cells.append(each.cell)
        todo = [make_task(cell, sources[cell.split]) for cell in run_order(cells)]

        def keep(cell: Any, record: RunRecord, folder: Any) -> None:
            tell(_compare_codes(wanted[cell.id], record, folder))

        if todo:
            run_cells(todo, executor, store, progress, keep)
    finally:
        executor.close()


def _other_data(stored: Stored) -> str:
    """Say that a cell's data cannot be made again, and what is not as it was."""
    now = RunRecord("done", threads=stored.record.threads, environment=environment())
    changed = "; ".join(_differences(stored.record, now))
    return "the data or the split are others now" + (f" ({changed})" if changed else "")


def _compare_codes(stored: Stored, record: RunRecord, folder: Any) -> Rerun:
    if record.status != "done" or folder is None:
        return Rerun(stored, failure=record.reason or record.status)
    old, new = stored.codes(), CellCodes.load(folder / "codes.npz")
    bits, total = _distance(old, new)
    return Rerun(stored, bits, total, tuple(_differences(stored.record, record)))


def _distance(old: CellCodes, new: CellCodes) -> tuple[int, int]:
    """Return how many bits, or entries of vectors, differ, and of how many."""
    bits = total = 0
    for role in ("query", "database", "learned"):
        ours, theirs = getattr(old, role), getattr(new, role)
        size = sum(part.size if old.n_bits is None else len(part) * old.n_bits for part in ours)
        total += size
        shapes = [[part.shape for part in parts] for parts in (ours, theirs)]
        if shapes[0] != shapes[1]:
            bits += max(size, 1)
            continue
        for a, b in zip(ours, theirs, strict=True):
            different = a != b if old.n_bits is None else np.bitwise_count(a ^ b)
            bits += int(different.sum(dtype=np.int64))
    return bits, total


def _differences(old: RunRecord, new: RunRecord) -> list[str]:
    """Say what of versions, threads and machine is not as it was."""
    before: Mapping[str, Any] = {**old.environment, "threads": old.threads}
    now: Mapping[str, Any] = {**new.environment, "threads": new.threads}
    return [
        f"{name} {before.get(name) or 'unknown'}, now {now.get(name) or 'unknown'}"
        for name in (*FACTS, "threads")
        if before.get(name) != now.get(name)
    ]
