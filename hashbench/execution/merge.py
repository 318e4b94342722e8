"""Merge the results of several machines, and name the cells that contradict each other.

A cell's id is what determines its outcome, so equal ids should have equal codes. Where they have
not, or where two ids answer to one name (a method's source differs between machines), the first
folder's cell is kept and the conflict is named. The same holds for searches and their trials.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hashbench.core.errors import DamagedError, HashbenchError
from hashbench.core.records import to_json
from hashbench.execution.cell import Cell
from hashbench.execution.plan import FILE, Plan
from hashbench.execution.store import Store, Stored
from hashbench.execution.tuning.search import Search


@dataclass
class Merged:
    """What a merge has found.

    Attributes
    ----------
    plan : the cells and searches of all folders
    conflicts : a line for each cell on which two folders disagree
    notes : a line for each folder of a cell that was left out or set aside because it is damaged
    """

    plan: Plan
    conflicts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def merge(sources: Mapping[Path, Plan], target: Store) -> Merged:
    """Take cells and trials of all sources, folders with their plans, into a store that is open."""
    plans: dict[Path, Plan] = {}
    if (target.path / FILE).exists():  # what is there already comes first
        plans[target.path.resolve()] = Plan.read(target.path)
    for source, plan in sources.items():
        plans.setdefault(source.resolve(), plan)
    measures = dict.fromkeys(name for plan in plans.values() for name in plan.measures)
    merged = Merged(Plan(tuple(measures)))
    named: dict[tuple[str, str, str, int, int], tuple[Cell, Path]] = {}
    for folder, plan in plans.items():
        store = Store(folder)
        for cell in plan.cells:
            known, where = named.setdefault(cell.key, (cell, folder))
            if known.id != cell.id:
                merged.conflicts.append(
                    f"{cell}: {where} and {folder} have different versions of it ({known.id}, "
                    f"{cell.id}: {_difference(known, cell)}); that of {where} is kept"
                )
            elif folder != target.path.resolve():
                _merge_cell(cell, store, target, merged)
        if folder != target.path.resolve():
            for path in store.splits.glob("*.npz"):
                target.copy_split(path)
        merged.plan.missing += plan.missing
    merged.plan.cells = [cell for cell, _ in named.values()]
    merged.plan.missing = [
        each
        for each in dict.fromkeys(merged.plan.missing)
        if (each.dataset, each.method, each.params, each.bits, each.seed) not in named
    ]
    if not merged.plan.cells:
        raise HashbenchError(f"merge: found no cells in {', '.join(map(str, plans))}")
    _merge_searches(plans, target, merged)
    return merged


def _merge_searches(plans: Mapping[Path, Plan], target: Store, merged: Merged) -> None:
    """Take in the searches of the cells that were kept; trials are a union, whatever counts."""
    kept = {cell.id for cell in merged.plan.cells}
    found: dict[str, tuple[Search, Path]] = {}
    for folder, plan in plans.items():
        for search in plan.searches:
            if search.cell.id not in kept:  # the conflict about its cell has been named
                continue
            known, where = found.setdefault(search.id, (search, folder))
            if len(known.points) != len(search.points):
                merged.conflicts.append(
                    f"search for {search.cell}: {where} tried {len(known.points)} points and "
                    f"{folder} {len(search.points)}; those of {where} are kept as what counts"
                )
            if folder != target.path.resolve():
                differing = target.trials.merge(search.id, Store(folder).trials)
                merged.conflicts += [
                    f"trial {trial} of {search.cell}: its scores in {folder} differ from those of "
                    "an earlier folder; the earlier ones are kept"
                    for trial in differing
                ]
    merged.plan.searches = [search for search, _ in found.values()]


def _merge_cell(cell: Cell, source: Store, target: Store, merged: Merged) -> None:
    try:
        theirs = source.get(cell.id)
    except DamagedError as error:
        merged.notes.append(f"{cell}: left out of {source.path}: {error}")
        return
    if theirs is None:
        return
    try:
        ours = target.get(cell.id)
    except DamagedError as error:
        place = target.set_aside(target.cells / cell.id)
        merged.notes.append(f"{cell}: set aside in {place}: {error}")
        ours = None
    if ours is None or (ours.status != "done" and theirs.status == "done"):
        target.copy(theirs)
    elif theirs.status == "done" and not _equal(ours, theirs):
        merged.conflicts.append(
            f"{cell}: the codes in {source.path} differ from those of an earlier folder "
            f"({_machine_text(theirs)}, {_machine_text(ours)}); the earlier ones are kept"
        )


def _equal(one: Stored, other: Stored) -> bool:
    """Compare codes; files may differ by their compression alone."""
    return one.record.files == other.record.files or one.codes().equals(other.codes())


def _machine_text(stored: Stored) -> str:
    environment = stored.record.environment
    return f"{environment.get('machine', '?')} with numpy {environment.get('numpy', '?')}"


def _difference(one: Cell, other: Cell) -> str:
    """Say in which fields two cells of one name differ."""
    ours, theirs = to_json(one), to_json(other)
    return ", ".join(name for name in ours if ours[name] != theirs[name])
