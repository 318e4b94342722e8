"""A file that makes the library that reads it crash: one line and exit code 2, in every command."""

import ctypes

import numpy as np
import pytest
import scipy.io

from hashbench.cli import main

COMMANDS = [
    ["data", "describe", "{file}"],
    ["data", "convert", "{file}", "{folder}/out.npz"],
    ["data", "export", "{file}[protocol=random]", "-o", "{folder}"],
    ["evaluate", "{file}"],
    ["run", "-d", "{file}", "-m", "random", "--plan", "-o", "{folder}/out"],
]
LOADING = ["run", "-d", "{file}[protocol=random]", "-m", "random", "-o", "{folder}/out"]


@pytest.fixture
def damaged(tmp_path):
    """A MATLAB v5 file with one byte changed, on which scipy's reader does whatever it happens to.

    A segmentation fault, a bus error, a division by zero: it reads memory that is not its own.
    """
    rng = np.random.default_rng(0)
    cells = np.empty((1, 2), object)
    cells[0, 0], cells[0, 1] = rng.random((12, 6)), np.ones((12, 3))
    path = tmp_path / "damaged.mat"
    scipy.io.savemat(path, {"X": cells, "y": np.arange(12.0)[:, None] % 4})
    content = bytearray(path.read_bytes())
    content[1201] = 252
    path.write_bytes(content)
    return path


def line_of(command, file, folder, capsys):
    """Return the only line that a command prints; its exit code is 2."""
    with pytest.raises(SystemExit) as ended:
        main([word.format(file=file, folder=folder) for word in command])
    assert ended.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    assert line.startswith("hashbench: ")
    assert "damaged" in line
    return line


@pytest.mark.parametrize("command", [*COMMANDS, LOADING], ids=lambda words: " ".join(words[:2]))
def test_what_a_reader_does_to_itself_is_a_line(command, damaged, tmp_path, capsys):
    line_of(command, damaged, tmp_path, capsys)
    assert not list((tmp_path / "out" / "cells").glob("*"))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: " ".join(words[:2]))
def test_a_crash_is_reported_in_one_line(command, damaged, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(scipy.io, "whosmat", lambda *_: ctypes.string_at(0))
    assert "SIGSEGV" in line_of(command, damaged, tmp_path, capsys)
