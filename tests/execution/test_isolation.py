"""Methods that misbehave cost their own cell and nothing else; kills and hangs really happen."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

HOSTILE = Path(__file__).parent / "hostile_methods.py"

#: status and what the reason names, by method; a method's own words come through whole
EXPECTED = {
    "good": ("done", ""),
    "raises": ("failed", "ZeroDivisionError: the third eigenvalue is zero"),
    "hangs-in-c": ("timeout", ".0 s"),
    "allocates": ("memory", "600.0 MB"),
    "allocates-in-child": ("memory", "600.0 MB"),
    "exits": ("failed", "exit code 0"),
    "exits-like-a-full-disk": ("failed", "exit code 74"),
    "crashes": ("failed", "SIGSEGV"),
    "prints": ("done", ""),
    "prints-forever": ("timeout", ".0 s"),
    "fewer-bits": ("failed", "(50, 7)"),
    "wrong-shape": ("failed", "(50, 15)"),
    "wrong-learned": ("failed", "(149, 16)"),
    "nan-projections": ("failed", "projections_[1]"),
    "not-binary": ("failed", "0/1, -1/+1"),
    "changes-input": ("failed", "input"),
    "declines": ("skipped", "declines: found 2 views; allowed: 7 or more"),
    "leaves-processes": ("done", ""),
    "quits": ("failed", "SystemExit: enough"),
    "misbehaves": ("failed", "NotImplementedError: and will not be"),
    "changes-folder": ("done", ""),
    "half-a-character": ("failed", r"ValueError: half of a character: \ud800"),
    "ten-megabytes": ("failed", "xxx ... xxx"),
    "many-lines": ("failed", "ValueError: first"),
    "clears-the-screen": ("failed", r"ValueError: \x1b[2J\x1b[31mred"),
    "cannot-say": ("failed", "Mute"),
    "empty-outcome": ("failed", "'{}'"),
    "outcome-of-nothing": ("failed", "outcome"),
    "outcome-of-brackets": ("failed", "outcome"),
    "outcome-of-bytes": ("failed", "outcome"),
    "huge-outcome": ("failed", "small file"),
    "unknown-status": ("failed", "splendid"),
    "number-as-reason": ("failed", "'7'"),
    "wrong-seconds": ("failed", "seconds: "),
    "negative-seconds": ("failed", "{'fit': -1}"),
    "outcome-is-a-link": ("failed", "outcome"),
    "outcome-is-a-pipe": ("failed", "outcome"),
    "outcome-is-a-folder": ("failed", "outcome"),
    "says-the-disk-is-full": ("failed", "exit code 74"),
    "deletes-its-folder": ("failed", "exit code 74"),
    "may-write-nothing": ("failed", "exit code 74"),
    "may-open-nothing": ("failed", ""),
    "stops-its-parent": ("done", ""),
    "stops-the-server": ("timeout", ".0 s"),
    "kills-its-parent": ("failed", "SIGKILL"),
    "kills-the-server": ("failed", "process that starts cells"),
    "new-session-then-no-server": ("failed", "process that starts cells"),
    "new-session": ("done", ""),
    "new-session-then-crash": ("failed", "SIGABRT"),
    "new-session-then-hang": ("timeout", ".0 s"),
    "daemon": ("done", ""),
    "ignores-signals": ("timeout", ".0 s"),
    "stops-itself": ("timeout", ".0 s"),
    "aborts": ("failed", "SIGABRT"),
    "endless-recursion": ("failed", "RecursionError"),
    "leaves-a-thread": ("done", ""),
    "closes-everything": ("done", ""),
    "no-codes": ("failed", "codes.npz"),
    "rubbish-as-codes": ("failed", "codes.npz"),
    "huge-codes": ("failed", "codes.npz"),
    "other-rows": ("failed", "codes.npz"),
    "second-good": ("done", ""),
    "third-good": ("done", ""),
    "fourth-good": ("done", ""),
    "fifth-good": ("done", ""),
}

#: The promises of docs/guide/guarantees.md, one method each; the others are tried with `-m slow`.
PROMISED = ("good", "raises", "hangs-in-c", "allocates", "exits", "crashes", "prints-forever",
            "wrong-shape", "declines", "leaves-processes", "second-good")  # fmt: skip


@dataclass(frozen=True)
class Ended:
    """How a run with misbehaving methods ended: its folder, rows of runs.csv, processes left."""

    done: subprocess.CompletedProcess[str]
    out: Path
    rows: dict[str, dict[str, str]]
    left: list[int]


def run_methods(folder: Path, methods: Sequence[str], timeout: str) -> Ended:
    done = subprocess.run(
        [sys.executable, "-m", "hashbench", "run", "--plugin", HOSTILE, "-m", ",".join(methods),
         "-d", "synthetic[rows=200]", "-b", "16", "-s", "1", "-j", "2", "--timeout", timeout,
         "--memory", "600M", "-o", "out"],
        cwd=folder,  # OUT is relative: a method that changes its folder must not lose it
        capture_output=True, text=True, timeout=1200,
        env={**os.environ, "HASHBENCH_TEST_PID": str(folder / "pid")},
    )  # fmt: skip
    with (folder / "out" / "runs.csv").open() as stream:
        rows = {row["method"]: row for row in csv.DictReader(stream)}
    return Ended(done, folder / "out", rows, list(map(int, (folder / "pid").read_text().split())))


@pytest.fixture(scope="module")
def promised(tmp_path_factory):
    return run_methods(tmp_path_factory.mktemp("promised"), PROMISED, "4s")


def check_rows(ended: Ended, methods: Sequence[str]) -> None:
    """Compare every row with what is expected: statuses, reasons of one line, no other harm."""
    assert ended.done.returncode == 1
    assert "Traceback" not in ended.done.stderr
    found = {name: ended.rows[name]["status"] for name in methods}
    assert found == {name: EXPECTED[name][0] for name in methods}
    for name in methods:
        assert EXPECTED[name][1] in ended.rows[name]["reason"], name
        assert "\n" not in ended.rows[name]["reason"]
        record = ended.out / "cells" / ended.rows[name]["id"] / "cell.json"
        assert record.stat().st_size < 64_000, name
    assert len(ended.done.stderr) < 64_000
    assert "\x1b" not in ended.done.stderr + ended.done.stdout
    with (ended.out / "results.csv").open() as stream:
        scored = {row["method"] for row in csv.DictReader(stream)}
    assert scored == {name for name in methods if EXPECTED[name][0] == "done"}


def check_nothing_is_left_running(ended: Ended) -> None:
    deadline = time.monotonic() + 10
    while any(map(alive, ended.left)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert ended.left
    assert not [pid for pid in ended.left if alive(pid)]


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_method_that_misbehaves_costs_its_own_cell(promised):
    check_rows(promised, PROMISED)


def test_processes_that_a_method_leaves_are_ended(promised):
    check_nothing_is_left_running(promised)


def test_tracebacks_and_the_end_of_the_output_are_kept(promised):
    place = promised.out / "cells" / promised.rows["raises"]["id"] / "cell.json"
    failed = json.loads(place.read_text())["run"]
    assert "in fit" in failed["traceback"]
    assert "ZeroDivisionError" in failed["traceback"]
    place = promised.out / "cells" / promised.rows["prints-forever"]["id"] / "cell.json"
    assert 1000 < len(json.loads(place.read_text())["run"]["output"]) < 10_000


def test_what_failed_runs_again_only_when_asked(hashbench, promised):
    flags = ["--plugin", HOSTILE, "-m", "good,raises", "-d", "synthetic[rows=200]"]
    flags += ["-b", "16", "-s", "1", "-o", promised.out]

    def ended_at() -> dict[str, int]:
        with (promised.out / "runs.csv").open() as stream:
            names = {row["method"]: row["id"] for row in csv.DictReader(stream)}
        records = {name: promised.out / "cells" / key / "cell.json" for name, key in names.items()}
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


@pytest.mark.slow
def test_every_other_misbehaviour_costs_its_own_cell_too(tmp_path):
    ended = run_methods(tmp_path, list(EXPECTED), "8s")
    check_rows(ended, list(EXPECTED))
    check_nothing_is_left_running(ended)
