"""A folder of results is data: commands run no code that it names, and change nothing unasked."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import hashbench as package

MINE = """
from hashbench import Paper
from hashbench.methods.random import Random


class Mine(Random):
    name, title = "mine", "My Method"
    paper = Paper("A. Author", "A title", "A journal", 2020)
"""


@pytest.fixture(scope="module")
def finished(hashbench, tmp_path_factory):
    """Return the folder of a study with a method of the user's own, and the method's file."""
    folder = tmp_path_factory.mktemp("study")
    plugin = folder / "mine.py"
    plugin.write_text(MINE)
    grid = ["-m", "mine,random", "-d", "synthetic[rows=120]", "-b", "8", "-s", "1"]
    done = hashbench("run", "--plugin", plugin, *grid, "-o", folder / "out", "--quiet")
    assert done.returncode == 0, done.stderr
    return folder / "out", plugin


@pytest.fixture
def trapped(finished, tmp_path):
    """Return a copy of the folder whose study names code that leaves a file when it is run."""
    out = tmp_path / "out"
    shutil.copytree(finished[0], out)
    trace = tmp_path / "trace"
    (out / "evil.py").write_text(f"open({str(trace)!r}, 'w').close()\n")
    text = (out / "study.toml").read_text()
    before, _, after = text.partition("plugins = [")
    named = 'plugins = ["evil.py"]' + after.partition("]")[2]
    (out / "study.toml").write_text(before + named)
    return out, trace


@pytest.mark.parametrize(
    "command", [["report", "map-table"], ["verify"], ["verify", "--rerun", "2"], ["status"]]
)
def test_no_command_runs_what_a_folder_names(hashbench, trapped, command):
    out, trace = trapped
    done = hashbench(command[0], out, *command[1:])
    assert done.returncode == 0, done.stderr
    assert not trace.exists()
    if command[0] != "status":
        assert "mine" in done.stderr  # which rows lack their plugin


def test_opening_a_folder_runs_nothing_and_titles_come_from_it(trapped):
    out, trace = trapped
    results = package.open(out)
    assert "My Method" in results.table().to_html()
    assert not trace.exists()


def test_titles_survive_a_merge(hashbench, finished, tmp_path):
    assert hashbench("merge", finished[0], "-o", tmp_path / "all").returncode == 0
    assert "My Method" in package.open(tmp_path / "all").table().to_html()


def test_a_method_is_fitted_again_only_if_the_user_names_its_plugin(hashbench, finished, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(finished[0], out)
    without = hashbench("verify", out, "--rerun", 2, "--quiet")
    assert without.returncode == 0
    assert "fitted again 1 cell: 1 with the same codes" in without.stdout
    named = hashbench("verify", out, "--rerun", 2, "--quiet", "--plugin", finished[1])
    assert named.returncode == 0, named.stderr
    assert "fitted again 2 cells: 2 with the same codes" in named.stdout


def test_a_rerun_that_compares_nothing_is_no_success(hashbench, finished, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(finished[0], out)
    only_mine = (out / "study.toml").read_text().replace('"random",', "")
    (out / "study.toml").write_text(only_mine)
    assert hashbench("verify", out, "--rerun", 2, "--quiet").returncode == 1


def test_a_folder_of_an_older_format_is_refused_and_left_untouched(hashbench, finished, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(finished[0], out)
    for path in (out / "plan.json", *out.glob("cells/*/*.json")):
        record = json.loads(path.read_text())
        if "schema" in record:
            path.write_text(json.dumps({**record, "schema": 1}))
    before = contents(out)
    commands = [
        ["verify", out],
        ["report", out],
        ["status", out],
        ["merge", finished[0], "-o", out],
        ["run", "-m", "random", "-d", "synthetic[rows=120]", "-b", "8", "-o", out],
    ]
    for command in commands:
        done = hashbench(*command)
        assert done.returncode == 2, command
        assert done.stderr.count("\n") <= 2  # the refusal, and what is not loaded
        assert "schema 1" in done.stderr
        assert contents(out) == before, command


def test_a_read_only_folder_can_be_verified(hashbench, finished, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(finished[0], out)
    with read_only(out):
        right = hashbench("verify", out, "--rerun", 1, "--quiet")
        assert right.returncode == 0, right.stderr
    codes = next(out.glob("cells/*/codes.npz"))
    codes.write_bytes(b"damaged")
    before = contents(out)
    with read_only(out):
        wrong = hashbench("verify", out, "--quiet")
    assert wrong.returncode == 1
    assert codes.parent.name in wrong.stderr
    assert contents(out) == before


def test_other_kernels_of_the_linear_algebra_are_named_and_set_nothing_aside(hashbench, tmp_path):
    info = subprocess.run(["cat", "/proc/cpuinfo"], capture_output=True, text=True, check=False)
    if "avx2" not in info.stdout:
        pytest.skip("this processor runs one kind of OpenBLAS kernels only")
    out, data = tmp_path / "out", tmp_path / "data.npz"
    rng = np.random.default_rng(0)
    labels = np.eye(4, dtype=np.uint8)[rng.integers(0, 4, 200)]
    views = {name: rng.standard_normal((200, 40)) for name in ("image", "text")}
    np.savez(data, labels=labels, **views)
    study = ["-d", data, "-m", "cca-itq", "-b", "16", "-s", "1", "-o", out, "--quiet"]
    done = hashbench("run", *study)
    assert done.returncode == 0, done.stderr
    record = json.loads(next(out.glob("cells/*/cell.json")).read_text())["run"]
    kernels = record["environment"]["blas"]
    assert "Nehalem" not in kernels
    again = hashbench("verify", out, "--rerun", 1, "--quiet", OPENBLAS_CORETYPE="Nehalem")
    assert again.returncode == 0, again.stderr
    assert not (out / "set-aside").exists()
    if "1 with the same codes" not in again.stdout:
        assert kernels in again.stderr
        assert "Nehalem" in again.stderr


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder."""
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class read_only:
    """A folder that nobody can write to: a read-only mount for root, permissions for others."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> None:
        if os.geteuid() == 0:
            place = str(self.folder)
            bound = subprocess.run(["mount", "--bind", place, place], capture_output=True)
            if bound.returncode:
                pytest.skip("root cannot mount here, and no permission stops root")
            subprocess.run(["mount", "-o", "remount,ro,bind", place], check=True)
        else:
            self._permit(0o555)

    def __exit__(self, *_: object) -> None:
        if os.geteuid() == 0:
            subprocess.run(["umount", str(self.folder)], check=True)
        else:
            self._permit(0o755)

    def _permit(self, mode: int) -> None:
        for path in (self.folder, *self.folder.rglob("*")):
            if path.is_dir():
                path.chmod(mode)
