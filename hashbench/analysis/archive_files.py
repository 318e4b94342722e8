"""Write and read the files of the archive: the table of scores, and codes of datasets.

A file with codes is a folder of results, compressed: its plan, the cells of one dataset and their
splits. What is read back is a folder like any other, which reports, `compare` and `verify` take.
"""

from __future__ import annotations

import gzip
import io
import lzma
import tarfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from hashbench.analysis.archive import (
    ABOUT,
    COLUMNS,
    TABLE,
    ArchiveRecord,
    CodesFile,
    Gap,
    is_current,
)
from hashbench.analysis.csv_tables import Row, settings_text, to_csv
from hashbench.analysis.evidence import find_evidence
from hashbench.analysis.results import Results
from hashbench.core.errors import HashbenchError
from hashbench.core.io import checksum, new_folder, write_record
from hashbench.core.records import to_json
from hashbench.data.splits import pictures_name
from hashbench.execution.cell import PROTOCOL_VERSION, Cell
from hashbench.execution.plan import FILE, Plan
from hashbench.execution.store import Store, Stored
from hashbench.plugins.registry import Registry
from hashbench.plugins.stored_facts import FILE as PLUGINS
from hashbench.plugins.stored_facts import merge_plugins

#: Digits of scores and seconds: tables print three.
DIGITS = 6


def choose_cells(
    folders: Sequence[Results], registry: Registry, tell: Callable[[str], None]
) -> dict[Cell, Results]:
    """Return one cell per name with the results it is in; `tell` gets a line per conflict.

    Where folders disagree, the cell whose method is still the same is taken, or else the first.
    """
    chosen: dict[tuple[object, ...], tuple[Cell, Results]] = {}
    for results in folders:
        for cell in results.cells:
            known = chosen.setdefault(cell.key, (cell, results))
            if known[0].id == cell.id:
                if _is_done(results, cell) and not _is_done(known[1], known[0]):
                    chosen[cell.key] = cell, results
                continue
            new, old = (is_current(each.method, each.source, registry) for each in (cell, known[0]))
            if new and not old:
                chosen[cell.key] = cell, results
            where = chosen[cell.key][1].path
            tell(f"{cell}: several versions of it ({known[0].id}, {cell.id}); that of {where} kept")
    return dict(sorted(chosen.values(), key=lambda each: each[0].key))


def _is_done(results: Results, cell: Cell) -> bool:
    stored = results.stored.get(cell.id)
    return stored is not None and stored.status == "done"


def write_archive(
    chosen: Mapping[Cell, Results],
    folder: Path,
    edition: str,
    with_codes: Sequence[str] = (),
) -> ArchiveRecord:
    """Write the table of cells into a folder, and one file of codes for each of some datasets."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = table_rows(chosen)
    text = to_csv(rows, COLUMNS)
    (folder / TABLE).write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    codes = {}
    for dataset in with_codes:
        own = {cell: each for cell, each in chosen.items() if cell.dataset == dataset}
        path = folder / f"codes-{dataset}-{edition}.tar.gz"
        count = pack_codes(own, path)
        codes[dataset] = CodesFile(path.name, checksum(path), path.stat().st_size, count)
    gaps = [_gap(cell, each) for cell, each in chosen.items() if not _is_done(each, cell)]
    about = ArchiveRecord(
        edition, PROTOCOL_VERSION, len(rows), checksum(folder / TABLE), codes, gaps
    )
    write_record(folder / ABOUT, to_json(about))
    return about


def table_rows(chosen: Mapping[Cell, Results]) -> list[Row]:
    """Return the rows of the table: every number of every done cell."""
    rows: list[Row] = []
    for results in dict.fromkeys(chosen.values()):
        own = {cell.key: cell for cell, each in chosen.items() if each is results}
        if wrong := {cell.version for cell in own.values()} - {PROTOCOL_VERSION}:
            raise HashbenchError(
                f"{results.path}: found cells of protocol version {min(wrong)}; allowed: "
                f"{PROTOCOL_VERSION}"
            )
        overlaps = find_evidence(results).overlaps
        columns: dict[str, Row] = {}
        for row in results.rows():
            key = tuple(row[name] for name in ("dataset", "method", "params", "bits", "seed"))
            cell = own.get(key)
            if cell is None:
                continue
            if cell.id not in columns:
                columns[cell.id] = _cell_columns(results.stored[cell.id], overlaps[cell.dataset])
            rows.append({**row, **columns[cell.id]} | _numbers(row))
    order = ("dataset", "method", "params", "tuned", "bits", "seed")
    return sorted(rows, key=lambda row: [row[name] for name in order])  # stable


def _cell_columns(stored: Stored, overlap: float) -> Row:
    cell, record = stored.cell, stored.record
    environment = record.environment
    return {
        "protocol": str(cell.protocol),
        "method": cell.method,
        "tuned": cell.tuned,
        "settings": settings_text(cell.parameters) if cell.tuned else "",
        "hamming": bool(record.hamming),
        "item_bytes": record.item_bytes,
        "fit_seconds": round(record.seconds.get("fit", float("nan")), DIGITS),
        "preprocessing": ";".join(cell.preprocessing),
        "split": cell.split,
        "overlap": round(overlap, DIGITS),
        "source": cell.source,
        "fingerprint": cell.fingerprint,
        **{name: environment.get(name, "") for name in ("hashbench", "numpy", "cpu")},
        "cell": cell.id,
    }


def _numbers(row: Row) -> Row:
    """Return value and chance, rounded; None where there is none."""
    pairs = ((name, row[name]) for name in ("value", "chance"))
    return {name: None if v is None or v != v else round(v, DIGITS) for name, v in pairs}


def _gap(cell: Cell, results: Results) -> Gap:
    stored = results.stored.get(cell.id)
    reason = "not run" if stored is None else stored.record.reason or stored.status
    return Gap(cell.dataset, cell.name, cell.params, cell.bits, cell.seed, reason)


def pack_codes(chosen: Mapping[Cell, Results], path: Path) -> int:
    """Write cells with their splits as a compressed folder of results; return how many are done.

    The same cells give the same bytes.
    """
    done = {cell: each for cell, each in chosen.items() if _is_done(each, cell)}
    files: dict[str, Path] = {}
    for cell, results in done.items():
        stored = results.stored[cell.id]
        for name in ("cell.json", *stored.record.files):
            files[f"cells/{cell.id}/{name}"] = stored.folder / name
        for name in (cell.split, pictures_name(cell.fingerprint)):
            file = results.store.splits / f"{name}.npz"
            if file.exists():
                files[f"splits/{name}.npz"] = file
    plan = _merged_plan(done)
    texts = {
        FILE: plan.to_json(),
        PLUGINS: merge_plugins(dict.fromkeys(each.path for each in done.values())),
    }
    with (
        path.open("wb") as raw,
        gzip.GzipFile("", "wb", mtime=0, fileobj=raw) as stream,
        tarfile.open(fileobj=stream, mode="w") as archive,
    ):
        for name, text in texts.items():
            _add(archive, name, text.encode())
        for name, file in sorted(files.items()):
            _add(archive, name, file.read_bytes())
    return len(done)


def _merged_plan(done: Mapping[Cell, Results]) -> Plan:
    plans = [each.plan for each in dict.fromkeys(done.values())]
    measures, further = (
        tuple(dict.fromkeys(name for plan in plans for name in getattr(plan, kind)))
        for kind in ("measures", "further_measures")
    )
    return Plan(measures, list(done), further_measures=further)


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))


def unpack_codes(path: Path, out: Path) -> list[Stored]:
    """Write the folder of results in a file of codes; return its cells, all of them undamaged."""
    if out.exists():
        raise HashbenchError(f"{out}: found a folder; allowed: one that does not exist yet")
    with new_folder(out) as folder:
        try:
            with tarfile.open(path, "r:gz") as archive:
                archive.extractall(folder, filter="data")
        except (tarfile.TarError, OSError, EOFError) as error:
            raise HashbenchError(f"{path}: found no file of codes ({error})") from error
        plan = Plan.read(folder)
        found, damaged = Store(folder).read(plan.cells)
        if damaged or len(found) < len(plan.cells):
            reason = next(iter(damaged.values()), "a cell is missing")
            raise HashbenchError(f"{path}: {reason}")
        for name in {cell.split for cell in plan.cells}:
            Store(folder).split(name)
        folder.chmod(0o755)
    return [replace(each, cells=out / "cells") for each in found.values()]
