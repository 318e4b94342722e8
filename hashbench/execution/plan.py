"""The plan: every cell of a study with its identity.

It is stored with the results, so that `status` and `merge` need neither plugins nor data.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hashbench.core.errors import HashbenchError
from hashbench.core.io import add_checksum, verify_checksum
from hashbench.core.records import from_json, to_json
from hashbench.data import preprocessing
from hashbench.data.prepare import DataSpec, SplitRequest
from hashbench.execution import external
from hashbench.execution.cell import Cell
from hashbench.execution.executor import Executor, Outcome, Task
from hashbench.execution.grid import CellSpec
from hashbench.execution.store import SCHEMA, Stored
from hashbench.execution.study import Study
from hashbench.execution.tuning.search import Search, make_searches
from hashbench.measures import DEFAULT_MEASURES, MANY_LABELS, MULTILABEL_MEASURES, PAIR_MEASURES
from hashbench.plugins.protocol import ENCODED
from hashbench.plugins.registry import Registry
from hashbench.plugins.source_hash import source_hash

if TYPE_CHECKING:
    from hashbench.execution.progress import Progress

FILE = "plan.json"


@dataclass(frozen=True)
class Source:
    """Where the rows of a cell come from, and its codes if they were computed elsewhere."""

    spec: DataSpec
    request: SplitRequest
    codes: str = ""


@dataclass(frozen=True)
class CellTask:
    """A cell and the task that computes it."""

    cell: Cell
    task: Task


@dataclass(frozen=True)
class UnplannedCell:
    """A cell without an identity: its data cannot be loaded, or its search found nothing."""

    dataset: str
    method: str
    params: str
    bits: int
    seed: int
    reason: str


@dataclass
class Plan:
    """Every cell of a study.

    Attributes
    ----------
    measures : measures of the tables
    further_measures : measures of datasets with several labels per row, or without labels
    codes : the codes that tables and the page show first, see `Study`
    cells : by dataset, seed, code length and method
    missing : cells whose dataset could not be loaded, or whose search found nothing
    searches : points that are tried to tune methods; each belongs to one of the cells
    """

    measures: tuple[str, ...]
    cells: list[Cell] = field(default_factory=list)
    missing: list[UnplannedCell] = field(default_factory=list)
    searches: list[Search] = field(default_factory=list)
    further_measures: tuple[str, ...] = ()
    codes: str = ENCODED

    def to_json(self) -> str:
        """Return the content of plan.json."""
        return json.dumps(add_checksum({"schema": SCHEMA, **to_json(self)}), indent=1) + "\n"

    @classmethod
    def read(cls, out: Path) -> Plan:
        """Read the plan of a folder of results."""
        path = out / FILE
        if not path.is_file():
            found = f"no {FILE}" if out.is_dir() and any(out.iterdir()) else "nothing"
            raise HashbenchError(f"{out}: found {found}; allowed: a folder made by hashbench run")
        check_schema(out)
        try:
            return from_json(cls, verify_checksum(json.loads(path.read_text(encoding="utf-8"))))
        except (ValueError, AttributeError, RecursionError) as error:
            raise HashbenchError(f"{path} is damaged: {error}; run the study again") from error


def check_schema(out: Path) -> None:
    """Raise an error if a folder was written by another version of hashbench."""
    path = out / FILE
    try:
        found = json.loads(path.read_text(encoding="utf-8"))["schema"]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return  # no folder of results yet, or a damaged plan, which a run replaces
    if found != SCHEMA:
        raise HashbenchError(
            f"{path}: found schema {found}; this version of hashbench reads and writes {SCHEMA}"
        )


def check_same_study(out: Path, study: Study, specs: Iterable[CellSpec]) -> None:
    """Raise an error if a folder has cells that a study lacks: its tables would lose their rows."""
    try:
        stored = Plan.read(out).cells
    except HashbenchError:
        return  # no folder of results yet, or a damaged plan, which a run replaces
    keys = {spec.key for spec in specs}
    # Tuned cells follow from those that are not, if the study tunes.
    lost = [each for each in stored if not (study.tune if each.tuned else each.key in keys)]
    if lost:
        raise HashbenchError(
            f"{out}: holds another study, with {len(lost)} of {len(stored)} cells that this one "
            f"lacks, such as {lost[0]}; allowed: another folder, as in -o NEW, or --replace: the "
            "tables are written for this study alone, and all cells stay"
        )


@dataclass
class BuiltPlan:
    """A plan, and what else is known after loading the datasets.

    Attributes
    ----------
    plan : the cells
    sources : for each cell, by its id, where its rows come from
    splits : the files of the splits, for the store
    notes : notes about the datasets
    """

    plan: Plan
    sources: dict[str, Source] = field(default_factory=dict)
    splits: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class LoadedDataset:
    """What a subprocess reports about a dataset.

    Attributes
    ----------
    fingerprint, views, labels_per_row, notes : of the data
    splits : name of each requested split
    files : files of the splits
    error : why the dataset cannot be loaded, or nothing
    """

    fingerprint: str = ""
    views: Sequence[str] = ()
    labels_per_row: float = 0.0
    notes: Sequence[str] = ()
    splits: Mapping[SplitRequest, str] = field(default_factory=dict)
    files: Sequence[Path] = ()
    error: str = ""


def build_plan(
    study: Study,
    specs: Sequence[CellSpec],
    registry: Registry,
    executor: Executor,
    folder: Path,
    progress: Progress,
) -> BuiltPlan:
    """Load every dataset once, in a subprocess, and give each cell its identity."""
    tuned = {spec for spec in specs if study.tune and registry.methods[spec.method].cls.space}
    requests: dict[DataSpec, dict[SplitRequest, None]] = {}
    for spec in specs:
        of_dataset = requests.setdefault(spec.data.spec, {})
        of_dataset[spec.split] = None
        if spec in tuned:
            of_dataset[_validation_request(spec)] = None
    tasks = {
        data: _loading_task(data, splits, [s.data.preprocess for s in specs if s.data.spec == data])
        for data, splits in requests.items()
    }
    outcomes = _run_loading(list(tasks.values()), executor, folder, progress)
    loaded = {
        data: _loaded_dataset(data, list(splits), outcomes[tasks[data]])
        for data, splits in requests.items()
    }
    built = BuiltPlan(Plan(study.measures, codes=study.codes))
    if study.measures == DEFAULT_MEASURES:
        numbers = [each.labels_per_row for each in loaded.values() if not each.error]
        if numbers and not any(numbers):
            built.plan.measures = PAIR_MEASURES
        else:
            several = MULTILABEL_MEASURES if max(numbers, default=0) > MANY_LABELS else ()
            built.plan.further_measures = (*several, *(PAIR_MEASURES if 0 in numbers else ()))
    for data, dataset in loaded.items():
        built.notes.extend(f"dataset {data}: {note}" for note in dataset.notes)
        built.splits.extend(dataset.files)
    validations: dict[str, str] = {}
    for spec in specs:
        dataset = loaded[spec.data.spec]
        if dataset.error:
            built.plan.missing.append(UnplannedCell(*spec.key, reason=dataset.error))
            continue
        cell = _make_cell(spec, dataset, registry)
        built.plan.cells.append(cell)
        built.sources[cell.id] = Source(spec.data.spec, spec.split, spec.codes)
        if spec in tuned:
            validations[cell.id] = dataset.splits[_validation_request(spec)]
    if not built.plan.cells:
        raise HashbenchError("; ".join(dict.fromkeys(m.reason for m in built.plan.missing)))
    built.plan.searches = make_searches(study, registry, built.plan.cells, validations)
    return built


def _validation_request(spec: CellSpec) -> SplitRequest:
    return replace(spec.split, validation=True)


def _loading_task(
    data: DataSpec,
    splits: Iterable[SplitRequest],
    preprocessings: Iterable[str | tuple[str, ...]],
) -> Task:
    arguments = {
        "dataset": to_json(data),
        "requests": [to_json(split) for split in splits],
        "preprocessings": list(dict.fromkeys(preprocessings)),
    }
    return Task("hashbench.data.prepare:load_dataset", arguments, f"dataset {data}")


def _run_loading(
    tasks: Sequence[Task], executor: Executor, folder: Path, progress: Progress
) -> dict[Task, Outcome]:
    outcomes: dict[Task, Outcome] = {}
    try:
        for event in executor.run(tasks, folder):
            if event.outcome is None:
                progress.loading_dataset(event.task.name)
            else:
                outcomes[event.task] = event.outcome
    finally:
        progress.datasets_loaded()
    return outcomes


def _loaded_dataset(
    data: DataSpec, splits: Sequence[SplitRequest], outcome: Outcome
) -> LoadedDataset:
    if outcome.status != "done":
        # A reader that crashed could not name what it was reading.
        named = outcome.traceback or Path(str(data)).stem in outcome.reason
        return LoadedDataset(error=outcome.reason if named else f"dataset {data}: {outcome.reason}")
    found = outcome.result
    return LoadedDataset(
        found["fingerprint"],
        found["views"],
        found["labels_per_row"],
        found["notes"],
        dict(zip(splits, found["splits"], strict=True)),
        [] if outcome.folder is None else list(outcome.folder.glob("*.npz")),
    )


def _make_cell(spec: CellSpec, dataset: LoadedDataset, registry: Registry) -> Cell:
    plugin = registry.methods[spec.method]
    is_external = plugin.origin == external.ORIGIN
    return Cell(
        dataset=spec.data.label,
        fingerprint=dataset.fingerprint,
        protocol=spec.data.protocol,
        split=dataset.splits[spec.split],
        preprocessing=preprocessing.steps_by_view(spec.data.preprocess, dataset.views),
        method=spec.method,
        params=spec.params,
        parameters=spec.parameters,
        source=external.source(spec.codes) if is_external else source_hash(plugin),
        bits=spec.bits,
        seed=spec.seed,
    )


def make_task(cell: Cell, source: Source) -> CellTask:
    """Return a cell with the task that computes it."""
    folder = f"split-{cell.split}-{'-'.join(cell.preprocessing)}"
    prepare = Task(
        "hashbench.data.prepare:prepare_split",
        {
            "dataset": to_json(source.spec),
            "fingerprint": cell.fingerprint,
            "request": to_json(source.request),
            "steps": list(cell.preprocessing),
            "name": folder,
        },
        f"the data of {cell.dataset}",
        folder,
    )
    arguments: dict[str, Any] = {"cell": to_json(cell), "data": folder}
    module = "compute_cell"
    if external.is_external(cell):
        module, arguments["codes"] = "external", source.codes
    function = f"hashbench.execution.{module}:compute"
    task = Task(function, arguments, str(cell), needs=prepare, limited=True)
    return CellTask(cell, task)


def run_order(cells: Sequence[Cell], first: Collection[str] = ()) -> list[Cell]:
    """Return cells in the order in which they run: those that share prepared data together.

    Of these, cells of the methods named `first` begin: if a long one came last, the other
    processes would wait for it.
    """
    positions: dict[tuple[str, tuple[str, ...]], int] = {}
    for cell in cells:
        positions.setdefault((cell.split, cell.preprocessing), len(positions))
    return sorted(
        cells,
        key=lambda cell: (positions[cell.split, cell.preprocessing], cell.method not in first),
    )


def cells_to_run(
    cells: Sequence[Cell],
    stored: Mapping[str, Stored],
    retry: Iterable[str] = (),
    force: bool = False,
    timing: bool = False,
) -> list[Cell]:
    """Return the cells that have to run: those not stored, and those to be run again.

    Parameters
    ----------
    retry, force : statuses to run again, or all cells
    timing : run cells again that shared the machine with others
    """
    again = set(retry)

    def has_to_run(cell: Cell) -> bool:
        found = stored.get(cell.id)
        if found is None or force or found.status in again:
            return True
        return timing and found.status == "done" and not found.record.alone

    return [cell for cell in cells if has_to_run(cell)]


def wall_times(stored: Iterable[Stored]) -> list[tuple[Cell, float]]:
    """Return the cells that are done, with the seconds they took."""
    found = ((each, each.record.seconds.get("wall")) for each in stored if each.status == "done")
    return [(each.cell, float(wall)) for each, wall in found if wall is not None]
