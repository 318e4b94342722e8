"""The Dask executor against a scheduler and two workers that were really started."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from hashbench import __version__
from hashbench.core.errors import HashbenchError
from hashbench.execution.dask import DaskExecutor
from hashbench.execution.executor import Limits, Task

distributed = pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
pytestmark = pytest.mark.cluster

#: Seconds after which something is taken to hang; only on a busy machine are many of them spent.
PATIENCE = 300

HOSTILE = Path(__file__).parent / "hostile_methods.py"

STUDY = [
    "-m", "random,cca,edsh", "-d", "synthetic[rows=100]", "-b", "8,16", "-s", "5",
]  # fmt: skip


class Cluster:
    """A scheduler and workers as a user starts them by hand."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workers: list[subprocess.Popen[bytes]] = []
        self.started = 0
        connection = folder / "scheduler.json"
        self.scheduler = self._start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", connection
        )
        wait_until(connection.exists)
        self.address = json.loads(connection.read_text())["address"]

    def _start(self, kind: str, *arguments: object, **environment: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "distributed.cli.dask_" + kind, *map(str, arguments)]
        with (self.folder / f"{kind}.log").open("ab") as log:
            return subprocess.Popen(
                [*command, "--no-dashboard"], stdout=log, stderr=log, cwd=self.folder,
                env={**os.environ, **environment},
            )  # fmt: skip

    def add_worker(self, **environment: str) -> None:
        self.started += 1
        name = f"w{self.started}"
        worker = self._start(
            "worker", self.address, "--no-nanny", "--nthreads", "1", "--name", name,
            "--local-directory", self.folder / name, **environment,
        )  # fmt: skip
        self.workers.append(worker)

    def have(self, count: int) -> None:
        """Have so many workers, the oldest of those that are there among them."""
        self.workers = [each for each in self.workers if each.poll() is None]
        while len(self.workers) > count:
            end(self.workers.pop())
        while len(self.workers) < count:
            self.add_worker()
        with distributed.Client(self.address) as client:
            wait_until(lambda: len(client.nthreads()) == count)

    def stop(self) -> None:
        for process in (*self.workers, self.scheduler):
            end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def wait_until(condition) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    started = Cluster(tmp_path_factory.mktemp("cluster"))
    yield started
    started.stop()


@pytest.fixture
def cluster(scheduler):
    """Return a cluster with two workers, who may have run cells of earlier tests."""
    scheduler.have(2)
    return scheduler


def test_a_cluster_that_loses_a_worker_gives_the_same_bytes(hashbench, cluster, tmp_path):
    local = hashbench("run", *STUDY, "-j", "2", "-o", tmp_path / "local")
    assert local.returncode == 0, local.stderr
    out = tmp_path / "dask"
    victim = cluster.workers[1]
    orphans: list[psutil.Process] = []

    def kill_half_way() -> None:
        while len(list((out / "cells").glob("*"))) < 8:
            time.sleep(0.02)
        orphans.extend(psutil.Process(victim.pid).children(recursive=True))
        victim.kill()

    killer = threading.Thread(target=kill_half_way, daemon=True)
    killer.start()
    remote = hashbench("run", *STUDY, "--scheduler", cluster.address, "-o", out)
    assert remote.returncode == 0, remote.stderr
    killer.join(timeout=PATIENCE)
    assert victim.wait(timeout=PATIENCE) < 0, "no worker was killed"
    assert (out / "results.csv").read_bytes() == (tmp_path / "local" / "results.csv").read_bytes()
    assert orphans, "the worker had no pool"
    _, alive = psutil.wait_procs(orphans, timeout=PATIENCE)
    assert not [process for process in alive if process.status() != "zombie"]


def test_limits_hold_and_plugins_travel(hashbench, cluster, tmp_path):
    def statuses(methods: str, timeout: str) -> dict[str, str]:
        out = tmp_path / f"within-{timeout}"
        done = hashbench(
            "run", "--plugin", HOSTILE, "-m", methods, "-d", "synthetic[rows=100]", "-b", "8",
            "-s", "1", "--timeout", timeout, "--memory", "600M", "--no-report",
            "--scheduler", cluster.address, "-o", out,
        )  # fmt: skip
        assert done.returncode == 1, done.stderr
        with (out / "runs.csv").open() as stream:
            return {row["method"]: row["status"] for row in csv.DictReader(stream)}

    # only what hangs is to meet its limit of time: on a busy machine anything may take seconds
    assert statuses("hangs-in-c", "4s") == {"hangs-in-c": "timeout"}
    assert statuses("good,allocates,exits,declines", "120s") == {
        "good": "done",
        "allocates": "memory",
        "exits": "failed",
        "declines": "skipped",
    }


def test_interrupting_ends_what_runs_on_the_workers_and_not_the_workers(cluster, tmp_path):
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-m", "hashbench", "run", "--plugin", str(HOSTILE), "-m",
         "good,hangs-in-c", "-d", "synthetic[rows=100]", "-b", "8", "-s", "2", "--scheduler",
         cluster.address, "-o", str(out)],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    workers = [psutil.Process(worker.pid) for worker in cluster.workers]

    def children(parents: list[psutil.Process]) -> list[psutil.Process]:
        found = []
        for parent in parents:
            with suppress(psutil.NoSuchProcess):  # it may end between two looks
                found += parent.children()
        return found

    def computing() -> list[psutil.Process]:
        return children(children(workers))  # of the pools

    wait_until(lambda: len(list((out / "cells").glob("*"))) == 2 and len(computing()) == 2)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "2 cells" in said
    assert " hashbench run " in said  # how to resume
    wait_until(lambda: not computing())
    assert all(worker.is_running() for worker in workers)


def test_ctrl_c_reaches_no_worker_of_a_cluster_started_here(tmp_path):
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-m", "hashbench", "run", "--plugin", str(HOSTILE), "-m",
         "good,hangs-in-c", "-d", "synthetic[rows=100]", "-b", "8", "-s", "2", "--executor",
         "dask", "-j", "1", "-o", str(out)],
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + PATIENCE
    while not list((out / "cells").glob("*")):
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert str(out) in said
    assert "Traceback" not in said


WAITS_ONCE = """
import pathlib, time
import psutil
from hashbench.methods.random import Random

began = pathlib.Path("{folder}/began")


class Waits(Random):
    name = "waits"

    def fit(self, views, labels=None):
        if not began.exists():
            began.with_name("half").write_text(str(psutil.Process().parents()[1].pid))
            began.with_name("half").rename(began)
            time.sleep(600)
        return super().fit(views, labels)
"""


@pytest.mark.parametrize("started", ["by the run", "by hand"])
def test_a_cell_whose_only_worker_is_gone_runs_on_the_next_one(started, scheduler, tmp_path):
    (tmp_path / "waits.py").write_text(WAITS_ONCE.replace("{folder}", str(tmp_path)))
    grid = ["-m", "waits,random", "-d", "synthetic[rows=100]", "-b", "8", "-s", "2", "-j", "1"]
    by_hand = started == "by hand"
    if by_hand:
        scheduler.have(1)
    where = ["--scheduler", scheduler.address] if by_hand else ["--executor", "dask"]
    run = subprocess.Popen(
        [sys.executable, "-m", "hashbench", "run", "--plugin", "waits.py", *grid, *where,
         "-o", "out"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        wait_until((tmp_path / "began").exists)
        if by_hand:
            scheduler.workers[0].terminate()
            scheduler.workers[0].wait(timeout=PATIENCE)
            scheduler.add_worker()
        else:
            os.kill(int((tmp_path / "began").read_text()), signal.SIGKILL)
        _, err = run.communicate(timeout=PATIENCE)
    finally:
        run.kill()
    assert run.returncode == 0, err
    with (tmp_path / "out" / "runs.csv").open() as stream:
        assert [row["status"] for row in csv.DictReader(stream)] == ["done"] * 4


def test_workers_may_come_later(scheduler, tmp_path):
    scheduler.have(0)
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-m", "hashbench", "run", "-m", "random", "-d", "synthetic",
         "--scheduler", scheduler.address, "-o", str(out)],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert "10 min" in process.stderr.readline()  # how long it waits for one
    scheduler.add_worker()
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0


def test_an_error_of_a_worker_of_another_version_is_one_line(tmp_path):
    class Future:
        def result(self):
            raise TypeError("Task.__init__() got an unexpected\nkeyword argument 'new'")

    with pytest.raises(HashbenchError) as error:
        DaskExecutor.__new__(DaskExecutor)._outcome(Future(), tmp_path)
    assert "TypeError: Task.__init__() got an unexpected" in str(error.value)
    assert __version__ in str(error.value)
    assert "\n" not in str(error.value)


def test_a_scheduler_without_workers_is_an_error_in_the_end(scheduler, monkeypatch):
    scheduler.have(0)
    monkeypatch.setattr("hashbench.execution.dask.WAIT_SECONDS", 0.1)
    monkeypatch.setattr("hashbench.execution.dask.POLL_SECONDS", 0.2)
    executor = DaskExecutor(scheduler.address, 1, Limits(), [])
    try:
        with pytest.raises(ConnectionError, match=r"no Dask worker .*100 ms"):
            list(executor.run([Task("time:sleep", {}, "a task")], scheduler.folder))
    finally:
        executor.close()


def test_a_worker_without_hashbench_is_named_and_refused(cluster, monkeypatch, capsys):
    monkeypatch.setattr("hashbench.execution.dask.PROBE", "__import__('no_hashbench_here')")
    executor = DaskExecutor(cluster.address, 1, Limits(), [])
    executor.close()
    said = capsys.readouterr().err
    assert said.count("ModuleNotFoundError: No module named 'no_hashbench_here'") == 2
    assert "10 min" in said  # how long a run waits for another


def test_a_worker_of_another_version_is_named_and_refused(cluster, monkeypatch, capsys):
    monkeypatch.setattr("hashbench.execution.dask.PROBE", "'0.0.1'")
    DaskExecutor(cluster.address, 1, Limits(), []).close()
    assert capsys.readouterr().err.count("hashbench 0.0.1") == 2


#: Data that are on one machine and not on another.
SOMEWHERE = '''
import os
import numpy as np
from hashbench.core.errors import HashbenchError
from hashbench.plugins.dataset import Data, Dataset


class Somewhere(Dataset):
    """Here or elsewhere."""

    name = "somewhere"
    title = "Somewhere"

    def load(self):
        if "HAS_DATA" not in os.environ:
            raise HashbenchError("somewhere: no file here")
        rng = np.random.default_rng(0)
        return Data([rng.random((80, 5)), rng.random((80, 4))], np.eye(4)[rng.integers(4, size=80)])
'''


def test_a_worker_without_the_data_is_named_and_its_cells_run_elsewhere(
    hashbench, cluster, tmp_path
):
    (tmp_path / "somewhere.py").write_text(SOMEWHERE)
    flags = ["--plugin", tmp_path / "somewhere.py", "-m", "random,cca", "-d", "somewhere", "-b"]
    flags += ["8", "-s", "2", "--scheduler", cluster.address, "--no-report", "-o", tmp_path / "out"]
    nobody = hashbench("run", *flags)
    assert nobody.returncode == 2
    assert "somewhere: no file here" in nobody.stderr
    cluster.add_worker(HAS_DATA="yes")
    with distributed.Client(cluster.address) as client:
        client.wait_for_workers(3, timeout=PATIENCE)
    done = hashbench("run", *flags)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "out" / "runs.csv").open() as stream:
        assert [row["status"] for row in csv.DictReader(stream)] == ["done"] * 4
    assert "somewhere: no file here" in done.stderr


def test_a_missing_scheduler_is_reported_in_one_line(hashbench, tmp_path, monkeypatch):
    monkeypatch.setattr("hashbench.execution.dask.CONNECT_SECONDS", 0.5)
    done = hashbench("run", *STUDY, "--scheduler", "tcp://127.0.0.1:9", "-o", tmp_path / "out")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "'tcp://127.0.0.1:9'" in line
