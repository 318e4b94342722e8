"""Methods that misbehave cost their own cell and nothing else; kills and hangs really happen."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

HOSTILE = Path(__file__).parent / "hostile_methods.py"

#: status and a part of the reason, by method
EXPECTED = {
    "good": ("done", ""),
    "raises": ("failed", "ZeroDivisionError: the third eigenvalue is zero"),
    "hangs-in-c": ("timeout", ".0 s"),
    "allocates": ("memory", "600.0 MB"),
    "allocates-in-child": ("memory", "600.0 MB"),
    "exits": ("failed", "exit code 0"),
    "quits": ("failed", "SystemExit: enough"),
    "crashes": ("failed", "SIGSEGV"),
    "prints-forever": ("timeout", ".0 s"),
    "wrong-shape": ("failed", "(50, 15)"),
    "changes-input": ("failed", "input"),
    "declines": ("skipped", "declines: found 2 views; allowed: 7 or more"),
    "leaves-processes": ("done", ""),
    "daemon": ("done", ""),
    "changes-folder": ("done", ""),
    "second-good": ("done", ""),
}


@dataclass(frozen=True)
class Ended:
    """How a run with misbehaving methods ended: its folder, rows of runs.csv, processes left."""

    done: subprocess.CompletedProcess[str]
    out: Path
    rows: dict[str, dict[str, str]]
    left: list[int]


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    done = subprocess.run(
        [sys.executable, "-m", "hashbench", "run", "--plugin", HOSTILE, "-m", ",".join(EXPECTED),
         "-d", "synthetic[rows=200]", "-b", "16", "-s", "1", "-j", "2", "--timeout", "6s",
         "--memory", "600M", "-o", "out"],
        cwd=folder,  # OUT is relative: a method that changes its folder must not lose it
        capture_output=True, text=True, timeout=1200,
        env={**os.environ, "HASHBENCH_TEST_PID": str(folder / "pid")},
    )  # fmt: skip
    with (folder / "out" / "runs.csv").open() as stream:
        rows = {row["method"]: row for row in csv.DictReader(stream)}
    return Ended(done, folder / "out", rows, list(map(int, (folder / "pid").read_text().split())))


def test_a_method_that_misbehaves_costs_its_own_cell(ended):
    assert ended.done.returncode == 1
    assert "Traceback" not in ended.done.stderr
    assert {name: row["status"] for name, row in ended.rows.items()} == {
        name: status for name, (status, _) in EXPECTED.items()
    }
    for name, (_, reason) in EXPECTED.items():
        assert reason in ended.rows[name]["reason"], name
        assert "\n" not in ended.rows[name]["reason"]
        record = ended.out / "cells" / ended.rows[name]["id"] / "cell.json"
        assert record.stat().st_size < 64_000, name
    assert len(ended.done.stderr) < 64_000
    with (ended.out / "results.csv").open() as stream:
        scored = {row["method"] for row in csv.DictReader(stream)}
    assert scored == {name for name, (status, _) in EXPECTED.items() if status == "done"}


def test_processes_that_a_method_leaves_are_ended(ended):
    assert len(ended.left) == 2
    assert not [pid for pid in ended.left if alive(pid)]


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_tracebacks_and_the_end_of_the_output_are_kept(ended):
    place = ended.out / "cells" / ended.rows["raises"]["id"] / "cell.json"
    failed = json.loads(place.read_text())["run"]
    assert "in fit" in failed["traceback"]
    assert "ZeroDivisionError" in failed["traceback"]
    place = ended.out / "cells" / ended.rows["prints-forever"]["id"] / "cell.json"
    assert 1000 < len(json.loads(place.read_text())["run"]["output"]) < 10_000


def test_what_failed_runs_again_only_when_asked(hashbench, ended):
    flags = ["--plugin", HOSTILE, "-m", "good,raises", "-d", "synthetic[rows=200]"]
    flags += ["-b", "16", "-s", "1", "-o", ended.out, "--replace"]

    def ended_at() -> dict[str, int]:
        with (ended.out / "runs.csv").open() as stream:
            names = {row["method"]: row["id"] for row in csv.DictReader(stream)}
        records = {name: ended.out / "cells" / key / "cell.json" for name, key in names.items()}
        return {name: path.stat().st_mtime_ns for name, path in records.items()}

    assert hashbench("run", *flags).returncode == 1
    first = ended_at()
    assert hashbench("run", *flags).returncode == 1
    assert ended_at() == first
    hashbench("run", *flags, "--retry", "failed")
    retried = ended_at()
    assert retried["good"] == first["good"]
    assert retried["raises"] > first["raises"]
    hashbench("run", *flags, "--force")
    assert ended_at()["good"] > first["good"]
