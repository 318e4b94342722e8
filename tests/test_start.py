"""A folder left behind by an early version is reported, instead of an AttributeError."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import hashbench
import hashbench_start


def test_a_whole_package_is_no_problem():
    assert hashbench_start.problem() is None


def test_a_folder_without_init_is_named(tmp_path):
    stale = tmp_path / "hashbench"
    (stale / "measures" / "__pycache__").mkdir(parents=True)
    (stale / "measures" / "__pycache__" / "kernels.nbi").touch()
    code = "import importlib.util as i; print(i.find_spec('hashbench').origin)"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    found = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, cwd=tmp_path.parent
    )
    if found.stdout.strip() != b"None":
        pytest.skip(f"installed at {hashbench.__file__}: found before such a folder")
    done = subprocess.run(
        [sys.executable, "-c", "import hashbench_start; hashbench_start.main()"],
        env=environment,
        capture_output=True,
        text=True,
        cwd=tmp_path.parent,
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"{stale} " in done.stderr


def test_the_command_runs_from_its_start():
    done = subprocess.run(
        [sys.executable, "-c", "import sys, hashbench_start as s; sys.argv[1:] = ['--version'];"
         "s.main()"],
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert hashbench.__version__ in done.stdout.split()
