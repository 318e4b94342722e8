"""Work on several cores: in order, nothing lost, and nobody left behind."""

import os
import subprocess
import sys
import time

import psutil
import pytest

from hashbench.core import parallel
from hashbench.core.parallel import parallel_map_processes, run_in_background


@pytest.fixture
def two_cores(monkeypatch):
    monkeypatch.setattr(parallel, "usable_cores", lambda: 2)


def test_items_keep_their_order_and_are_made_elsewhere(two_cores):
    def made(item):
        time.sleep(0.05 * (item == 0))
        return item, os.getpid()

    found = list(parallel_map_processes(made, range(5)))
    assert [item for item, _ in found] == [0, 1, 2, 3, 4]
    assert os.getpid() not in {pid for _, pid in found}


def test_one_core_or_one_item_needs_no_other_process(monkeypatch, two_cores):
    assert list(parallel_map_processes(lambda _: os.getpid(), [1])) == [os.getpid()]
    monkeypatch.setattr(parallel, "usable_cores", lambda: 1)
    assert list(parallel_map_processes(lambda _: os.getpid(), [1, 2])) == [os.getpid()] * 2


def test_an_error_is_raised_here(two_cores):
    def made(item):
        raise LookupError(f"item {item}")

    with pytest.raises(LookupError, match="item 0"):
        list(parallel_map_processes(made, range(3)))


def test_a_function_runs_in_another_process_and_only_once(monkeypatch, two_cores, tmp_path):
    def called():
        with (tmp_path / "calls").open("a") as stream:
            stream.write("x")
        return os.getpid()

    outcome = run_in_background(called)
    assert outcome() == outcome() != os.getpid()
    monkeypatch.setattr(parallel, "usable_cores", lambda: 1)
    outcome = run_in_background(called)
    assert (tmp_path / "calls").read_text() == "x"  # not before it is waited for
    assert outcome() == outcome() == os.getpid()
    assert (tmp_path / "calls").read_text() == "xx"


def test_an_error_in_the_background_is_raised_where_it_is_waited_for(two_cores):
    def made():
        raise LookupError("error")

    outcome = run_in_background(made)
    with pytest.raises(LookupError, match="error"):
        outcome()


def test_processes_end_with_the_one_that_started_them():
    script = (
        "import time; from hashbench.core import parallel;"
        "parallel.usable_cores = lambda: 2;"
        "wait = lambda _: (print('on', flush=True), time.sleep(60));"
        "list(parallel.parallel_map_processes(wait, [1, 2]))"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as started:
        started.stdout.readline()
        children = psutil.Process(started.pid).children()
        assert children
        started.kill()
        assert psutil.wait_procs(children, timeout=10)[1] == []
