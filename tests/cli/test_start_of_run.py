"""The pool starts before what a run imports, and ends with the command."""

import psutil
import pytest
from click.testing import CliRunner

from hashbench.cli import cli
from hashbench.core.errors import HashbenchError
from hashbench.execution import local


@pytest.fixture
def pools(monkeypatch, real_pools):
    """Collect every pool that is started."""
    found = []

    class Collected(local.PoolProcess):
        def __init__(self, threads):
            super().__init__(threads)
            found.append(self)

    monkeypatch.setattr(local, "PoolProcess", Collected)
    return found


def test_one_pool_is_started_and_serves_the_run(pools, tmp_path):
    flags = ["-m", "random", "-d", "synthetic[rows=60]", "-b", "8", "--threads", "2", "--quiet"]
    ended = CliRunner().invoke(cli, ["run", *flags, "--no-report", "-o", str(tmp_path / "out")])
    assert ended.exit_code == 0, ended.output
    assert "1 done" in ended.output
    (pool,) = pools
    assert pool.threads == 2
    assert pool.process.returncode is not None


def test_what_cannot_run_leaves_no_pool(pools, tmp_path):
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    ended = CliRunner().invoke(cli, ["run", "-m", "nothing", "-o", str(tmp_path / "out")])
    assert isinstance(ended.exception, HashbenchError)
    assert pools[0].process.returncode is not None
    assert {process.pid for process in psutil.Process().children(recursive=True)} <= before


def test_other_executors_start_no_pool(pools, tmp_path):
    flags = ["-m", "nothing", "--scheduler", "tcp://127.0.0.1:1"]
    ended = CliRunner().invoke(cli, ["run", *flags, "-o", str(tmp_path / "out")])
    assert isinstance(ended.exception, HashbenchError)
    assert pools == []
