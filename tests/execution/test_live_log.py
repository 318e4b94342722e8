"""A long fit can be watched: its log while it runs, and `status -f` until it ends."""

import os
import subprocess
import sys

SLOW = """
import time
from pathlib import Path
from hashbench.methods.random import Random

class Slow(Random):
    name = "slow"

    def __init__(self, n_bits=16, iterations=1000, random_state=None):
        self.n_bits, self.iterations, self.random_state = n_bits, iterations, random_state

    def fit(self, views, labels=None):
        super().fit(views, labels)
        print("here we go", flush=True)
        for step in range(self.iterations):
            if Path("STOP").exists():
                break
            time.sleep(0.3)
            self.record_objective(1 / (step + 1))
        return self
"""


def test_status_follows_a_fit_to_its_end(tmp_path):
    stop, out = tmp_path / "stop", tmp_path / "out"
    (tmp_path / "slow.py").write_text(SLOW.replace("STOP", str(stop)))
    command = [sys.executable, "-m", "hashbench"]
    flags = ["--plugin", tmp_path / "slow.py", "-m", "slow", "-d", "synthetic[rows=200]", "-b", "8"]
    run = subprocess.Popen(
        [*command, "run", *map(str, flags), "-o", str(out)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while run.poll() is None and not (out / "plan.json").exists():
        os.sched_yield()
    watch = subprocess.Popen(
        [*command, "status", str(out), "-f"], stdout=subprocess.PIPE, text=True
    )
    lines = []
    try:
        for line in watch.stdout:
            lines.append(line.rstrip())
            if sum(" of 1000" in each for each in lines) == 3:
                stop.touch()  # seen enough: let the fit end
    finally:
        stop.touch()
        run.wait(timeout=120)
        watch.wait(timeout=120)
    assert (run.returncode, watch.returncode) == (0, 0)
    (printed,) = [line for line in lines if line.endswith(": here we go")]
    assert all(fact in printed for fact in ("slow", "8 bits", "synthetic[rows=200]", "seed 0"))
    iterations = [line for line in lines if " of 1000" in line]
    assert len(iterations) >= 3
    name = printed.removesuffix("here we go")
    assert all(line.startswith(name) and "objective" in line for line in iterations)
    assert "1 done" in lines[-1]
    assert not list((out / ".work").glob("*")), "a log goes with its cell"


def test_following_a_study_that_does_not_run_ends_at_once(hashbench, tmp_path):
    out = tmp_path / "out"
    done = hashbench("run", "-m", "random", "-d", "synthetic[rows=200]", "-b", "8", "-o", out)
    assert done.returncode == 0, done.stderr
    (out / ".lock").write_text(f"process 999999999 on {os.uname().nodename}")  # killed
    (line,) = hashbench("status", out, "-f").stdout.splitlines()
    assert "1 done" in line
