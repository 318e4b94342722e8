"""A method that takes all memory of a container ends as `memory`, so that it can be retried so."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

GROUPS = Path("/sys/fs/cgroup")

GREEDY = """
import ctypes
from hashbench import LinearMethod


class Greedy(LinearMethod):
    name, supervised = "greedy", False

    def __init__(self, n_bits=16, random_state=None):
        self.n_bits, self.random_state = n_bits, random_state

    def fit(self, views, labels=None):
        at_once = 4 << 30  # faster than anybody can watch
        ctypes.memset(ctypes.create_string_buffer(at_once), 1, at_once)
        return self
"""


@pytest.fixture
def small_group(tmp_path):
    """Return the file that takes a process into a control group of 600 MB."""
    first = (GROUPS / "memory").is_dir()
    folder = (GROUPS / "memory" if first else GROUPS) / f"hashbench-test-{os.getpid()}"
    limit = "memory.limit_in_bytes" if first else "memory.max"
    try:
        folder.mkdir()
        (folder / limit).write_text(str(600 << 20))
    except OSError:
        pytest.skip("control groups cannot be made here")
    yield folder / "cgroup.procs"
    folder.rmdir()


def test_a_cell_that_the_kernel_kills_for_memory_is_said_to(small_group, tmp_path):
    (tmp_path / "greedy.py").write_text(GREEDY)
    flags = ["-m", "greedy,random", "-d", "synthetic[rows=80]", "-b", "8", "-s", "1", "-j", "1"]
    done = subprocess.run(
        [
            "bash", "-c", f'echo $$ > {small_group}; exec "$@"', "run", sys.executable, "-m",
            "hashbench", "run", "--plugin", "greedy.py", *flags, "-o", "out",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    with (tmp_path / "out" / "runs.csv").open() as stream:
        statuses = {row["method"]: row["status"] for row in csv.DictReader(stream)}
    assert statuses == {"greedy": "memory", "random": "done"}
