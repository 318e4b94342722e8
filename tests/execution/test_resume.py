"""Runs that are killed, interrupted, doubled or out of space lose nothing that was finished."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from hashbench.cli import main

SLOW = """
import time
from hashbench.methods.random import Random


class Slow(Random):
    name = "slow"

    def fit(self, views, labels=None):
        time.sleep(SECONDS)
        return super().fit(views, labels)
"""


CELLS = 18


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """18 cells, with a method that takes a moment so that signals find something running."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "slow.py").write_text(SLOW.replace("SECONDS", "0.1"))
    return [
        "run", "--plugin", str(folder / "slow.py"), "-m", "random,slow,cca", "-d",
        "synthetic[rows=100]", "-b", "8,16", "-s", "3", "-j", "2",
    ]  # fmt: skip


@pytest.fixture(scope="module")
def whole(hashbench, study, tmp_path_factory):
    """The folder of the uninterrupted run."""
    out = tmp_path_factory.mktemp("whole") / "out"
    done = hashbench(*study, "-o", out)
    assert done.returncode == 0, done.stderr
    return out


def start(study: list[str], out: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "hashbench", *study, "-o", str(out)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ.copy(),
    )


def finished(out: Path) -> int:
    return len(list((out / "cells").glob("*")))


def wait_for(condition, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.005)


def kill_everything(process: psutil.Process) -> None:
    for each in (*process.children(recursive=True), process):
        with contextlib.suppress(psutil.NoSuchProcess):
            each.kill()


def run_until(at: int, study: list[str], out: Path) -> int:
    """Run in a fork of this process, which everything has been imported in; return how it ended.

    The fork and all its children are killed before a given change of a file's name, counted from
    1: everything that a run stores takes its place by one.
    """
    if pid := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    try:
        calls = itertools.count(1)

        def counted(change):
            def call(*arguments, **options):
                if next(calls) == at:
                    kill_everything(psutil.Process())
                return change(*arguments, **options)

            return call

        os.rename, os.replace = counted(os.rename), counted(os.replace)
        main([*study, "-o", str(out)])
    finally:
        os._exit(0)


def check_resumed(hashbench, study, whole, out):
    """Resume, and compare all bytes with those of the uninterrupted run."""
    assert finished(out) < CELLS
    last = hashbench(*study, "-o", out)
    assert last.returncode == 0, last.stderr
    assert not (out / "set-aside").exists()
    assert (out / "results.csv").read_bytes() == (whole / "results.csv").read_bytes()
    assert not (out / ".work").exists()


def test_kills_between_any_two_steps_change_nothing(
    hashbench, study, whole, tmp_path, real_pools, capfd
):
    for at in (2, 9, 14, 12):
        assert run_until(at, study, tmp_path / "out") == -signal.SIGKILL
    check_resumed(hashbench, study, whole, tmp_path / "out")


@pytest.mark.slow
@pytest.mark.parametrize("at", range(1, 25))
def test_a_kill_at_any_step_changes_nothing(
    hashbench, study, whole, tmp_path, at, real_pools, capfd
):
    assert run_until(at, study, tmp_path / "out") == -signal.SIGKILL
    check_resumed(hashbench, study, whole, tmp_path / "out")


@pytest.mark.slow
def test_kills_of_everything_at_six_random_moments_change_nothing(
    hashbench, study, whole, tmp_path
):
    out, killed = tmp_path / "out", 0
    while killed < 6:
        process = start(study, out)
        wait_for((out / ".owner").exists)  # from the start of the run until its end
        time.sleep(random.uniform(0, 1))
        kill_everything(psutil.Process(process.pid))
        process.communicate()
        killed += process.returncode == -signal.SIGKILL
        if finished(out) >= CELLS - 3:
            shutil.rmtree(out)  # begin again: a run with nothing to do tests nothing
    check_resumed(hashbench, study, whole, out)


def test_one_job_and_two_give_the_same_bytes(hashbench, study, whole, tmp_path):
    out = tmp_path / "out"
    one = hashbench(*study[:-1], "1", "-o", out)
    assert one.returncode == 0, one.stderr
    assert (out / "results.csv").read_bytes() == (whole / "results.csv").read_bytes()


def test_interrupting_saves_finished_cells_and_prints_how_to_resume(hashbench, study, tmp_path):
    out = tmp_path / "out"
    process = start(study, out)
    wait_for(lambda: finished(out) >= 3)
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert str(out) in said
    again = ["run", *said.rpartition(" hashbench run ")[2].split()]
    assert not [child for child in children if child.is_running() and child.status() != "zombie"]
    count = finished(out)
    resumed = hashbench(*again)
    assert resumed.returncode == 0, resumed.stderr
    assert f"{count} of {CELLS} cells" in resumed.stderr


def test_a_second_run_into_the_same_folder_is_refused(hashbench, study, whole, tmp_path):
    out = tmp_path / "out"
    first = start(study, out)
    wait_for(lambda: finished(out) >= 1)
    second = hashbench(*study, "-o", out)
    assert second.returncode == 2
    assert str(out) in second.stderr
    assert f"process {first.pid} " in second.stderr
    assert second.stderr.count("\n") == 1
    first.communicate(timeout=120)
    assert first.returncode == 0
    assert (out / "results.csv").read_bytes() == (whole / "results.csv").read_bytes()


def test_a_full_disk_is_a_clear_error_and_finished_cells_stay(
    hashbench, study, whole, small_disk, tmp_path
):
    out = small_disk(250) / "out"
    full = hashbench(*study, "-o", out)
    assert full.returncode == 1
    assert "No space" in full.stderr
    assert "Traceback" not in full.stderr
    records = [json.loads(each.read_text())["run"] for each in out.glob("cells/*/cell.json")]
    assert {each["status"] for each in records} == {"done"}  # no cell is blamed
    count = finished(out)
    assert 0 < count < CELLS
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(out, elsewhere)
    resumed = hashbench(*study, "-o", elsewhere)
    assert resumed.returncode == 0, resumed.stderr
    assert f"{count} of {CELLS} cells" in resumed.stderr
    assert not (elsewhere / "set-aside").exists()
    assert (elsewhere / "results.csv").read_bytes() == (whole / "results.csv").read_bytes()
