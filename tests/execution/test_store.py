"""The store: every cell complete or not there, and checked when it is read."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from hashbench.core.errors import DamagedError, HashbenchError
from hashbench.core.io import add_checksum, read_record
from hashbench.execution.cell import Cell
from hashbench.execution.cell_codes import CellCodes
from hashbench.execution.plan import cells_to_run
from hashbench.execution.run_record import RunRecord
from hashbench.execution.store import CELL_FILE, SCHEMA, Store, Stored, read_cell

WORDS = np.arange(4, dtype=np.uint64).reshape(4, 1)
CODES = CellCodes((WORDS, WORDS + 1), (WORDS + 2, WORDS + 3), n_bits=8)


def put(store: Store, cell: Cell, status: str = "done", codes=CODES) -> None:
    folder = store.work / "task"
    folder.mkdir(parents=True, exist_ok=True)
    if status == "done":
        codes.save(folder / "codes.npz")
    store.put(cell, RunRecord(status), folder)


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "out") as opened:
        yield opened


def test_a_cell_comes_back_as_it_went_in(store, make_cell):
    cell = make_cell()
    put(store, cell)
    found = store.get(cell.id)
    assert found.cell == cell
    assert found.cell.id == cell.id
    assert found.status == "done"
    assert found.codes().equals(CODES)
    assert found.record == RunRecord("done", files=found.record.files)
    assert found.history() == {}
    assert store.get(make_cell(seed=1).id) is None


def test_the_id_depends_on_everything_that_determines_the_outcome(make_cell):
    changes = [
        {},
        {"dataset": "other"},
        {"fingerprint": "g"},
        {"protocol": "given"},
        {"split": "t"},
        {"preprocessing": ("l2", "none")},
        {"method": "cca"},
        {"params": "gamma=2", "parameters": {"gamma": 2.0, "kind": None}},
        {"source": "i"},
        {"bits": 16},
        {"seed": 1},
        {"version": 0},
    ]
    assert len({make_cell(**each).id for each in changes}) == len(changes)


def test_the_id_does_not_depend_on_the_order_of_parameters(make_cell):
    turned = make_cell(parameters={"kind": None, "gamma": 1.0})
    assert turned.id == make_cell().id


def test_putting_again_replaces(store, make_cell):
    cell = make_cell()
    put(store, cell, "failed")
    assert store.get(cell.id).status == "failed"
    put(store, cell)
    assert store.get(cell.id).status == "done"
    assert len(list(store.cells.iterdir())) == 1


def break_codes(folder):
    data = bytearray((folder / "codes.npz").read_bytes())
    data[len(data) // 2] ^= 1
    (folder / "codes.npz").write_bytes(data)


def edit(change, right=True):
    """Change the record of a cell, with a checksum that is right or as it was."""

    def apply(folder):
        record = read_record(folder / CELL_FILE)
        known = json.loads((folder / CELL_FILE).read_text())["checksum"]
        change(record)
        record = add_checksum(record) if right else {**record, "checksum": known}
        (folder / CELL_FILE).write_text(json.dumps(record))

    return apply


#: How a cell is damaged, and what the reason names.
DAMAGES = {
    "a changed bit": (break_codes, "codes.npz"),
    "a missing file": (lambda f: (f / "codes.npz").unlink(), "codes.npz"),
    "no record": (lambda f: (f / CELL_FILE).unlink(), "cell.json"),
    "half a record": (lambda f: (f / CELL_FILE).write_text('{"schema"'), "line 1 column 10"),
    "another cell": (edit(lambda r: r["cell"].update(seed=9)), "the cell "),
    "another schema": (edit(lambda r: r.update(schema=99)), "schema 99"),
    "another status": (edit(lambda r: r["run"].update(status="fine")), "'fine'"),
    "done without codes": (edit(lambda r: r["run"].update(files={})), "no codes"),
    "a changed time": (
        edit(lambda r: r["run"]["seconds"].update(fit=1e-6), right=False),
        "changed",
    ),
    "no environment": (edit(lambda r: r["run"].update(environment=None)), "environment"),
    "a word for seconds": (edit(lambda r: r["run"].update(seconds="a")), "seconds"),
    "brackets": (lambda f: (f / CELL_FILE).write_text("[" * 100_000), "recursion"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_cells_are_set_aside_and_named_never_deleted(store, damage, make_cell):
    whole, cell = make_cell(seed=1), make_cell()
    put(store, whole)
    put(store, cell)
    change, reason = DAMAGES[damage]
    change(store.cells / cell.id)
    before = sorted(path.name for path in (store.cells / cell.id).iterdir())
    with pytest.raises(DamagedError, match=reason):
        store.get(cell.id)
    found, damaged = store.read([cell, whole])
    assert (set(found), set(damaged)) == ({whole.id}, {cell.id})
    found, (line,) = store.audit()
    assert set(found) == {whole.id}
    assert cell.id in line
    assert reason in line
    assert not (store.cells / cell.id).exists()
    (kept,) = store.aside.glob(f"*/{cell.id}")
    assert sorted(path.name for path in kept.iterdir()) == before
    assert store.get(whole.id) is not None


def test_foreign_folders_and_files_are_set_aside(store):
    (store.cells / "holiday").mkdir()
    (store.cells / "holiday" / "beach.jpg").write_bytes(b"sand")
    (store.cells / "notes.txt").write_text("mine")
    assert len(store.audit()[1]) == 2
    assert list(store.cells.iterdir()) == []
    assert {path.name for path in store.aside.rglob("*")} >= {"beach.jpg", "notes.txt"}


def test_setting_aside_twice_keeps_both(store, make_cell):
    for _ in range(2):
        put(store, make_cell())
        break_codes(store.cells / make_cell().id)
        store.audit()
    assert len(list(store.aside.glob(f"*/{make_cell().id}"))) == 2


def test_arrays_of_objects_are_not_read(store, make_cell):
    cell = make_cell()
    put(store, cell, codes=replace(CODES, query=(np.array([{"a": 1}], dtype=object),)))
    with pytest.raises(ValueError, match=r"query_0.*objects"):
        store.get(cell.id).codes()


def test_a_replacement_cut_in_the_middle_is_undone(tmp_path, make_cell):
    cell = make_cell()
    with Store(tmp_path / "out") as store:
        put(store, cell)
    # As a kill between the two renames leaves it.
    (tmp_path / "out" / ".work").mkdir()
    os.rename(tmp_path / "out" / "cells" / cell.id, tmp_path / "out" / ".work" / f"old-{cell.id}")
    with Store(tmp_path / "out") as store:
        assert store.get(cell.id).status == "done"
        assert not store.work.exists()


def test_the_lock_is_held_by_one_process_and_freed_by_its_death(tmp_path):
    out = tmp_path / "out"
    code = (
        "import sys, time; from pathlib import Path; from hashbench.execution.store import Store\n"
        "with Store(Path(sys.argv[1])): print('locked', flush=True); time.sleep(60)"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", code, str(out)], stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout.readline() == "locked\n"
    with pytest.raises(HashbenchError, match=f"process {owner.pid} "), Store(out):
        pass
    owner.kill()
    owner.wait()
    with Store(out):
        pass


def test_a_file_is_no_folder_of_results(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(HashbenchError, match="file/cells: Not a directory"):
        Store(tmp_path / "file").__enter__()


def test_text_files_are_replaced_whole(store, monkeypatch):
    store.write_text("results.csv", "old\n")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        store.write_text("results.csv", "new\n")
    assert (store.path / "results.csv").read_text() == "old\n"
    assert not list(store.path.glob(".results*"))


def test_a_cell_moves_between_stores(store, tmp_path, make_cell):
    put(store, make_cell())
    with Store(tmp_path / "other") as other:
        other.copy(store.get(make_cell().id))
        shutil.rmtree(store.cells)
        assert read_cell(other.cells / make_cell().id).status == "done"


def test_the_schema_is_written(store, make_cell):
    put(store, make_cell())
    assert read_record(store.cells / make_cell().id / CELL_FILE)["schema"] == SCHEMA


def test_codes_that_changed_since_the_cell_was_read_are_an_error(store, make_cell):
    put(store, make_cell())
    found = store.get(make_cell().id)
    break_codes(found.folder)
    with pytest.raises(HashbenchError, match=rf"{make_cell().id}/codes\.npz"):
        found.codes()


def test_timing_runs_again_what_did_not_run_alone(make_cell, tmp_path):
    cells = {name: make_cell(method=name) for name in ("alone", "beside")}
    stored = {
        cell.id: Stored(cell, RunRecord("done", alone=name == "alone"), tmp_path)
        for name, cell in cells.items()
    }
    again = cells_to_run(list(cells.values()), stored, timing=True)
    assert [cell.method for cell in again] == ["beside"]
    assert cells_to_run(list(cells.values()), stored) == []
