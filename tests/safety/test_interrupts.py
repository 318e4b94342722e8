"""An interrupted command ends with exit code 130, whenever the signal comes."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

#: Runs the command line and sends itself a signal when a module is imported.
SCRIPT = """
import os, signal, sys


class Sender:
    def find_spec(self, name, path, target=None):
        if name == "{module}":
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.{signal})
        return None


sys.meta_path.insert(0, Sender())
from hashbench.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("signal", "module"),
    [
        ("SIGINT", "click"),  # the command line is being imported
        ("SIGINT", "hashbench.cli.run"),  # before the run handles signals
        ("SIGTERM", "hashbench.cli.run_study"),  # the fork server is starting
        ("SIGHUP", "hashbench.execution.run_cells"),
        ("SIGINT", "hashbench.site.exhibits"),  # results are stored, the page is being written
    ],
)
def test_an_interrupt_at_any_moment_ends_a_run_with_130(signal, module, tmp_path):
    flags = ["-m", "random", "-d", "synthetic[rows=80]", "-b", "8", "-s", "1", "--report"]
    script = SCRIPT.format(signal=signal, module=module)
    done = subprocess.run(
        [sys.executable, "-c", script, "run", *flags, "-o", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "HASHBENCH_TEST_RUN": str(tmp_path)},
    )
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr
    assert "interrupted" in done.stderr
    left = [each for each in psutil.process_iter() if belongs_to(each, tmp_path)]
    _, alive = psutil.wait_procs(left, timeout=10)
    assert not alive


def belongs_to(process: psutil.Process, run: Path) -> bool:
    with contextlib.suppress(psutil.Error):
        return process.environ().get("HASHBENCH_TEST_RUN") == str(run)
    return False
