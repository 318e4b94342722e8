"""A long fit can be watched: its log while it runs, and `status -f` until it ends."""

import os
import subprocess
import sys

SLOW = """
import time
from hashbench import LinearMethod

class Slow(LinearMethod):
    name, supervised = "slow", False

    def __init__(self, n_bits=16, iterations=5, random_state=None):
        self.n_bits, self.iterations, self.random_state = n_bits, iterations, random_state

    def fit(self, views, labels=None):
        views, _, rng = self.begin_fit(views, labels)
        self.projections_ = [rng.standard_normal((X.shape[1], self.n_bits)) for X in views]
        print("here we go", flush=True)
        for step in range(self.iterations):
            time.sleep(1.1)
            self.record(float, 1 / (step + 1))
        return self
"""


def test_status_follows_a_fit_to_its_end(hashbench, tmp_path):
    (tmp_path / "slow.py").write_text(SLOW)
    out = tmp_path / "out"
    flags = ["--plugin", tmp_path / "slow.py", "-m", "slow", "-d", "synthetic[rows=200]", "-b", "8"]
    command = [sys.executable, "-m", "hashbench", "run", *map(str, flags), "-o", str(out)]
    run = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        while run.poll() is None and not (out / "plan.json").exists():
            os.sched_yield()
        watched = hashbench("status", out, "-f")
    finally:
        run.wait(timeout=120)
    assert run.returncode == 0
    assert watched.returncode == 0, watched.stderr
    lines = watched.stdout.splitlines()
    name = "slow at 8 bits on synthetic[rows=200], seed 0: "
    assert f"{name}here we go" in lines
    told = [line for line in lines if line.startswith(f"{name}iteration")]
    assert len(told) >= 3
    assert all(" of 5, about " in line and "left: objective " in line for line in told)
    assert lines[-1] == "1 cell: 1 done"
    assert not list((out / ".work").glob("*")), "a log goes with its cell"


def test_following_what_does_not_run_ends_at_once(hashbench, tmp_path):
    out = tmp_path / "out"
    done = hashbench("run", "-m", "random", "-d", "synthetic[rows=200]", "-b", "8", "-o", out)
    assert done.returncode == 0, done.stderr
    (out / ".lock").write_text(f"process 999999999 on {os.uname().nodename}")  # killed
    assert hashbench("status", out, "-f").stdout == "1 cell: 1 done\n"
