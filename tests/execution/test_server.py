"""What the fork server does before it forks."""

import socket
from types import SimpleNamespace

import pytest

from hashbench.core import compilation
from hashbench.execution.server import Server


@pytest.fixture
def server():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        server = Server(theirs)
        methods = {
            "loops": SimpleNamespace(compiled=True),
            "plain": SimpleNamespace(compiled=False),
        }
        server.registry = SimpleNamespace(
            methods={name: SimpleNamespace(cls=cls) for name, cls in methods.items()}
        )
        yield server


def test_compiled_loops_are_loaded_once_and_for_the_second_cell_that_needs_them(
    server, monkeypatch
):
    loaded = []
    monkeypatch.setattr(compilation, "load", lambda: loaded.append(server.compiled))
    server._load_for({"arguments": {"dataset": "emoji"}})  # no cell: data are prepared
    for method in ("plain", "plain", "loops", "plain"):
        server._load_for({"arguments": {"cell": {"method": method}}})
    assert loaded == []
    for _ in range(3):
        server._load_for({"arguments": {"cell": {"method": "loops"}}})
    assert loaded == [2]
