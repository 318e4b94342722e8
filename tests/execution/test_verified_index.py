"""Cells that were checked before are not read again, unless somebody has touched them."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pytest

from hashbench.core.errors import HashbenchError
from hashbench.execution import store, verified_index
from hashbench.execution.cell_codes import CellCodes
from hashbench.execution.run_record import RunRecord
from hashbench.execution.store import Store

WORDS = np.arange(4, dtype=np.uint64).reshape(4, 1)
CODES = CellCodes((WORDS, WORDS + 1), (WORDS + 2, WORDS + 3), n_bits=8)


@pytest.fixture
def out(tmp_path, make_cell):
    """A folder with two cells, one of which has failed."""
    with Store(tmp_path / "out") as opened:
        folder = opened.work / "task"
        folder.mkdir(parents=True)
        CODES.save(folder / "codes.npz")
        record = RunRecord("done", seconds={"fit": 1.5}, pools=("openblas: 1",))
        opened.put(make_cell(), record, folder)
        opened.put(make_cell(seed=1), RunRecord("failed", reason="no"), None)
    return tmp_path / "out"


@pytest.fixture
def read(monkeypatch):
    """The names of the cells whose files were read."""
    names = []

    def reading(folder, really=store.read_cell):
        names.append(folder.name)
        return really(folder)

    monkeypatch.setattr(store, "read_cell", reading)
    return names


@pytest.fixture
def cells(make_cell):
    return sorted([make_cell(), make_cell(seed=1)], key=lambda cell: cell.id)


def ids(cells):
    return [cell.id for cell in cells]


def test_what_a_run_has_written_is_not_read_again(out, cells, read, make_cell):
    found, damaged = Store(out).read(cells)
    assert not read
    assert not damaged
    done = found[make_cell().id]
    assert (done.cell, done.status) == (make_cell(), "done")
    assert done.record == store.read_cell(done.folder).record
    assert done.codes().equals(CODES)


def changed(path):
    """Change a byte and give the file back its time of change, as who wants to hide it would."""
    seen = path.stat()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    with path.open("r+b") as stream:
        stream.write(data)
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))


@pytest.mark.parametrize("name", ["cell.json", "status.json", "codes.npz"])
def test_a_file_that_was_touched_is_read(out, cells, read, make_cell, name):
    changed(out / "cells" / make_cell().id / name)
    found, damaged = Store(out).read(cells)
    assert read == [make_cell().id]
    assert list(damaged) == [make_cell().id]
    assert list(found) == [make_cell(seed=1).id]


def test_a_copy_of_the_folder_is_read_once(out, cells, read, tmp_path, monkeypatch):
    shutil.copytree(out, tmp_path / "copy")
    monkeypatch.setattr(verified_index, "TICK", 0)
    first, _ = Store(tmp_path / "copy").read(cells)
    assert read == ids(cells)
    second, _ = Store(tmp_path / "copy").read(cells)
    assert len(read) == 2
    assert first == second


def test_what_changed_a_moment_ago_is_read_again(out, cells, read, tmp_path):
    shutil.copytree(out, tmp_path / "copy")
    for _ in range(2):
        Store(tmp_path / "copy").read(cells)
    assert read == ids(cells) * 2


@pytest.mark.parametrize("damage", ["flipped", "cut", "noise", "gone", "a folder"])
def test_a_damaged_line_is_as_if_it_were_not_there(out, cells, read, damage):
    path = out / verified_index.FILE
    content = bytearray(path.read_bytes())
    expected, _ = Store(out).read(cells)
    if damage == "flipped":
        content[len(content) // 2] ^= 1
    elif damage == "cut":
        del content[-20:]
    elif damage == "noise":
        content[:] = np.random.default_rng(0).bytes(3000)
    path.unlink()
    if damage == "a folder":
        path.mkdir()
    elif damage != "gone":
        path.write_bytes(content)
    found, damaged = Store(out).read(cells)
    assert read
    assert (found, damaged) == (expected, {})


def test_lines_of_cells_that_ran_again_do_not_pile_up(out, cells, make_cell):
    with Store(out) as opened:
        for _ in range(5):
            opened.put(make_cell(), RunRecord("failed"), None)
    lines = (out / verified_index.FILE).read_bytes().count(b"\n")
    Store(out).read(cells)
    kept = (out / verified_index.FILE).read_bytes().count(b"\n")
    assert (lines, kept) == (7, 2)
    found, _ = Store(out).read(cells)
    assert [found[name].status for name in ids(cells)] == ["failed", "failed"]


def test_codes_that_changed_on_disk_are_found_when_they_are_read(out, cells, make_cell):
    """The description of the folder does not show such a change; the checksum does."""
    found, _ = Store(out).read(cells)
    changed(out / "cells" / make_cell().id / "codes.npz")
    with pytest.raises(HashbenchError, match=rf"{make_cell().id}/codes\.npz"):
        found[make_cell().id].codes()


def test_a_folder_that_cannot_be_written_to_is_read_all_the_same(out, cells, read, monkeypatch):
    (out / verified_index.FILE).unlink()

    def refused(*_):
        raise PermissionError("read-only")

    monkeypatch.setattr(os, "open", refused)
    found, _ = Store(out).read(cells)
    assert len(found) == 2
