"""The server of cells starts before what a run imports, and ends with the command."""

import psutil
import pytest
from click.testing import CliRunner

from hashbench.cli import cli
from hashbench.core.errors import HashbenchError
from hashbench.execution import local, server_connection


@pytest.fixture
def servers(monkeypatch):
    """Note every server that is started."""
    found = []

    class Noted(server_connection.ServerConnection):
        def __init__(self, threads):
            super().__init__(threads)
            found.append(self)

    for module in (server_connection, local):
        monkeypatch.setattr(module, "ServerConnection", Noted)
    return found


def test_one_server_is_started_and_serves_the_run(servers, tmp_path):
    flags = ["-m", "random", "-d", "synthetic[rows=60]", "-b", "8", "--threads", "2", "--quiet"]
    ended = CliRunner().invoke(cli, ["run", *flags, "--no-report", "-o", str(tmp_path / "out")])
    assert ended.exit_code == 0, ended.output
    assert "1 done" in ended.output
    (server,) = servers
    assert server.threads == 2
    assert server.process.returncode is not None


def test_what_cannot_run_leaves_no_server(servers, tmp_path):
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    ended = CliRunner().invoke(cli, ["run", "-m", "nothing", "-o", str(tmp_path / "out")])
    assert isinstance(ended.exception, HashbenchError)
    assert servers[0].process.returncode is not None
    assert {process.pid for process in psutil.Process().children(recursive=True)} <= before


def test_other_executors_start_no_server(servers, tmp_path):
    flags = ["-m", "nothing", "--scheduler", "tcp://127.0.0.1:1"]
    ended = CliRunner().invoke(cli, ["run", *flags, "-o", str(tmp_path / "out")])
    assert isinstance(ended.exception, HashbenchError)
    assert servers == []
