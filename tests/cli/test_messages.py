"""Mistakes that cost newcomers an hour are reported in one line; one test per mistake."""

from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

import hashbench
from hashbench.cli import main
from hashbench.core.errors import HashbenchError

PLUGIN = """
from hashbench.methods.random import Random

class Mine(Random):
    name, title = "mine", "KSH2 (ours)"

    def fit(self, views, labels=None):
        print("epoch 1 of 1")
        return super().fit(views, labels)
"""

ROWS = 40


def view(*shape):
    return np.random.default_rng(0).random((ROWS, *shape))


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """Return a function that runs the command in an empty folder: exit code, output, errors."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(PLUGIN)

    def run(*arguments):
        with pytest.raises(SystemExit) as stop:
            main(list(arguments))
        said = capsys.readouterr()
        return stop.value.code or 0, said.out, said.err

    return run


def test_the_version_is_printed(command):
    assert hashbench.__version__ in command("-V")[1].split()


def test_an_unknown_method_may_be_in_a_file_of_ones_own(command):
    code, _, err = command("run", "-m", "ksh2", "-d", "synthetic")
    assert code == 2
    assert "'ksh2'" in err
    assert "--plugin" in err
    assert len(err.splitlines()) == 1


def test_views_with_three_dimensions_are_refused(command):
    np.savez("mine.npz", image=view(2, 3), text=view(4), labels=np.arange(ROWS) % 3)
    code, _, err = command("run", "-d", "mine.npz", "-m", "random", "-b", "8", "-s", "1")
    assert code == 2
    line = err.splitlines()[-1]
    assert all(fact in line for fact in ("mine.npz", "image", "40 x 2 x 3")), line


def test_views_with_three_dimensions_in_memory_are_refused():
    EDSH = hashbench.discover().methods["edsh"].cls
    labels = np.arange(ROWS) % 3
    with pytest.raises(HashbenchError, match=r"view 0.*\b3 dimensions"):
        EDSH(n_bits=8).fit([view(2, 3), view(4)], labels)
    with pytest.raises(HashbenchError, match=r"image.*40 x 2 x 3"):
        hashbench.score(EDSH(n_bits=8), hashbench.Data([view(2, 3), view(4)], labels))


@pytest.mark.parametrize("kind", ["class numbers", "strings", "columns"])
def test_labels_of_every_kind_everywhere(command, kind):
    numbers = np.arange(ROWS) % 3
    labels = {
        "class numbers": numbers,
        "strings": np.array(["cat", "dog", "emu"])[numbers],
        "columns": np.eye(3, dtype=int)[numbers],
    }[kind]
    EDSH = hashbench.discover().methods["edsh"].cls
    method = EDSH(n_bits=8, random_state=0).fit([view(5), view(4)], labels)
    columns = EDSH(n_bits=8, random_state=0).fit([view(5), view(4)], np.eye(3)[numbers])
    assert np.array_equal(method.encode(view(5), 0), columns.encode(view(5), 0))
    data = hashbench.Data([view(5), view(4)], labels)
    assert data.labels.shape == (ROWS, 3)
    np.savez("mine.npz", image=view(5), text=view(4), labels=labels)
    code, out, _ = command("data", "describe", "mine.npz")
    assert code == 0
    assert "3" in out


def test_titles_of_plugins_come_from_the_folder(command):
    run = ("run", "--plugin", "mine.py", "-m", "mine", "-d", "synthetic[rows=80]", "-b", "8")
    assert command(*run, "-s", "1", "-o", "out", "--no-report")[0] == 0
    report = ("report", "out", "map-table", "--format", "md")
    Path("mine.py").unlink()
    code, _, err = command(*report)
    assert code == 0
    assert "mine" in err
    assert "--plugin" in err
    assert "KSH2 (ours)" in next(Path("out/report").glob("map-table*.md")).read_text()


def test_output_of_a_method_does_not_mix_with_that_of_its_check(command):
    code, out, err = command("check", "mine.py")
    assert code == 0, out
    assert "epoch" not in out
    assert "mine: epoch 1 of 1" in err


def test_lines_of_the_log_start_with_their_time(command):
    flags = ("-m", "random", "-d", "synthetic[rows=80]", "-b", "8", "-s", "1", "-o", "out")
    code, _, err = command("run", *flags, "--no-report", "-v")
    assert code == 0
    lines = err.splitlines()
    said = [line.split(" ", 2)[2] for line in lines]
    (started,) = (line for line in said if line.startswith("started random"))
    assert all(fact in started for fact in ("8 bits", "synthetic[rows=80]", "seed 0")), started
    assert sum(line.startswith("scored random") for line in said) == 1
    for line in lines:
        datetime.fromisoformat(line[:23])
