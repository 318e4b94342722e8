"""Methods that misbehave cost their own cell and nothing else; kills and hangs really happen."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

#: One run serves all tests of this file.

HOSTILE = Path(__file__).parent / "hostile_methods.py"

#: status and a piece of the reason, by method
EXPECTED = {
    "good": ("done", ""),
    "raises": ("failed", "ZeroDivisionError: the third eigenvalue is zero"),
    "hangs-in-c": ("timeout", "ran longer than 8.0 s"),
    "allocates": ("memory", "allowed: 600.0 MB"),
    "allocates-in-child": ("memory", "allowed: 600.0 MB"),
    "exits": ("failed", "exit code 0 before the cell was done"),
    "exits-like-a-full-disk": ("failed", "exit code 74 before the cell was done"),
    "crashes": ("failed", "killed by SIGSEGV"),
    "prints": ("done", ""),
    "prints-forever": ("timeout", "ran longer than 8.0 s"),
    "fewer-bits": ("failed", "codes of query, view 0: found shape (50, 7); allowed: (50, 16)"),
    "wrong-shape": ("failed", "codes of query, view 0: found shape (50, 15); allowed: (50, 16)"),
    "wrong-learned": ("failed", "codes_: found shape (149, 16); allowed: (150, 16)"),
    "nan-projections": ("failed", "projections_[1]: found 1 entries of"),
    "not-binary": ("failed", "allowed: 0/1, -1/+1 or bool"),
    "changes-input": ("failed", "a method must not change its input"),
    "declines": ("skipped", "declines: found 2 views; allowed: 7 or more"),
    "leaves-processes": ("done", ""),
    "quits": ("failed", "SystemExit: enough"),
    "misbehaves": ("failed", "NotImplementedError: and will not be"),
    "changes-folder": ("done", ""),
    "half-a-character": ("failed", r"ValueError: half of a character: \ud800"),
    "ten-megabytes": ("failed", "xxx ... xxx"),
    "many-lines": ("failed", "ValueError: first"),
    "clears-the-screen": ("failed", r"ValueError: \x1b[2J\x1b[31mred"),
    "cannot-say": ("failed", "Mute, which cannot say why"),
    "empty-outcome": ("failed", "left an outcome that cannot be believed: found '{}'"),
    "outcome-of-nothing": ("failed", "left an outcome that cannot be believed"),
    "outcome-of-brackets": ("failed", "left an outcome that cannot be believed"),
    "outcome-of-bytes": ("failed", "left an outcome that cannot be believed"),
    "huge-outcome": ("failed", "something else than a small file"),
    "unknown-status": ("failed", "splendid"),
    "number-as-reason": ("failed", "reason: found '7'; allowed: a text"),
    "wrong-seconds": ("failed", "seconds: found 'a'"),
    "negative-seconds": ("failed", "seconds: found {'fit': -1}"),
    "outcome-is-a-link": ("failed", "left an outcome that cannot be believed"),
    "outcome-is-a-pipe": ("failed", "left an outcome that cannot be believed"),
    "outcome-is-a-folder": ("failed", "left an outcome that cannot be believed"),
    "says-the-disk-is-full": ("failed", "exit code 74 before the cell was done"),
    "deletes-its-folder": ("failed", "exit code 74 before the cell was done"),
    "may-write-nothing": ("failed", "exit code 74 before the cell was done"),
    "may-open-nothing": ("failed", ""),
    "stops-its-parent": ("done", ""),
    "stops-the-server": ("timeout", "ran longer than 8.0 s"),
    "kills-its-parent": ("failed", "killed by SIGKILL"),
    "kills-the-server": ("failed", "the process that starts cells was stopped or killed"),
    "new-session-then-no-server": ("failed", "the process that starts cells was stopped or killed"),
    "new-session": ("done", ""),
    "new-session-then-crash": ("failed", "killed by SIGABRT"),
    "new-session-then-hang": ("timeout", "ran longer than 8.0 s"),
    "daemon": ("done", ""),
    "ignores-signals": ("timeout", "ran longer than 8.0 s"),
    "stops-itself": ("timeout", "ran longer than 8.0 s"),
    "aborts": ("failed", "killed by SIGABRT"),
    "endless-recursion": ("failed", "RecursionError"),
    "leaves-a-thread": ("done", ""),
    "closes-everything": ("done", ""),
    "no-codes": ("failed", "codes.npz: the cell left no codes"),
    "rubbish-as-codes": ("failed", "codes.npz"),
    "huge-codes": ("failed", "codes.npz"),
    "other-rows": ("failed", "codes.npz"),
    "second-good": ("done", ""),
    "third-good": ("done", ""),
    "fourth-good": ("done", ""),
    "fifth-good": ("done", ""),
}

#: Done although they misbehave: what they do harms nobody.
HARMLESS = {"prints", "leaves-processes", "changes-folder", "stops-its-parent", "new-session",
            "daemon", "leaves-a-thread", "closes-everything"}  # fmt: skip
GOOD = {"good", "second-good", "third-good", "fourth-good", "fifth-good"}


@pytest.fixture(scope="module")
def hostile(hashbench, tmp_path_factory):
    """The result of the command, its rows of runs.csv, the folder, and a process left behind."""
    folder = tmp_path_factory.mktemp("hostile")
    done = subprocess.run(
        [sys.executable, "-m", "hashbench", "run", "--plugin", HOSTILE, "-m", ",".join(EXPECTED),
         "-d", "synthetic[rows=200]", "-b", "16", "-s", "1", "-j", "2", "--timeout", "8s",
         "--memory", "600M", "-o", "out"],
        cwd=folder,  # OUT is relative: a method that changes its folder must not lose it
        capture_output=True, text=True, timeout=1200,  # only if it hangs: some machines are busy
        env={**os.environ, "HASHBENCH_TEST_PID": str(folder / "pid")},
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    with (folder / "out" / "runs.csv").open() as stream:
        rows = {row["method"]: row for row in csv.DictReader(stream)}
    left = [int(line) for line in (folder / "pid").read_text().split()]
    return done, rows, folder / "out", left


def test_forty_hostile_methods_stand_among_five_good_ones():
    assert len(EXPECTED.keys() - GOOD) >= 40
    assert all(EXPECTED[name][0] == "done" for name in GOOD | HARMLESS)
    assert {name for name, (status, _) in EXPECTED.items() if status == "done"} == GOOD | HARMLESS


def test_the_exit_code_says_that_some_cells_failed(hostile):
    done, *_ = hostile
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("method", EXPECTED)
def test_each_gives_its_own_row_with_a_readable_reason(hostile, method):
    _, rows, _, _ = hostile
    status, reason = EXPECTED[method]
    assert rows[method]["status"] == status
    assert reason in rows[method]["reason"]
    assert "\n" not in rows[method]["reason"]


def test_only_done_cells_have_results(hostile):
    _, _, out, _ = hostile
    with (out / "results.csv").open() as stream:
        methods = {row["method"] for row in csv.DictReader(stream)}
    assert methods == {name for name, (status, _) in EXPECTED.items() if status == "done"}


def test_tracebacks_and_the_end_of_the_output_are_kept(hostile):
    _, rows, out, _ = hostile
    failed = json.loads((out / "cells" / rows["raises"]["id"] / "status.json").read_text())
    assert "in fit" in failed["traceback"]
    assert "ZeroDivisionError" in failed["traceback"]
    printed = json.loads((out / "cells" / rows["prints"]["id"] / "status.json").read_text())
    assert printed["output"].endswith("the end of it\n")
    assert len(printed["output"]) < 10_000


def test_nothing_is_left_running(hostile):
    *_, left = hostile
    assert len(left) >= 5
    deadline = time.monotonic() + 10
    while any(map(alive, left)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not [pid for pid in left if alive(pid)]


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_messages_are_bounded_wherever_they_are_kept(hostile):
    done, rows, out, _ = hostile
    for name, row in rows.items():
        assert (out / "cells" / row["id"] / "status.json").stat().st_size < 64_000, name
    assert len(done.stderr) < 64_000
    assert "\x1b" not in done.stderr + done.stdout


def test_what_failed_runs_again_only_when_asked(hashbench, hostile):
    _, _, out, _ = hostile
    flags = ["--plugin", HOSTILE, "-m", "good,raises", "-d", "synthetic[rows=200]"]
    flags += ["-b", "16", "-s", "1", "-o", out]
    again = hashbench("run", *flags)
    assert "2 of 2 cells are in the store already" in again.stderr
    assert again.returncode == 1
    retried = hashbench("run", *flags, "--retry", "failed")
    assert "[1/1] failed  raises at 16 bits" in retried.stderr
    forced = hashbench("run", *flags, "--force")
    assert "[2/2]" in forced.stderr
