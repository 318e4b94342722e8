"""Interrupts wait for the end of a step, and the processes of a run are never nobody's."""

from __future__ import annotations

import os
import signal

import psutil
import pytest

from hashbench.core import signals
from hashbench.execution.executor import Limits, Task
from hashbench.execution.local import LocalExecutor
from hashbench.execution.server_connection import ServerConnection


@pytest.fixture(autouse=True)
def listening():
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signals.install_handlers()
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_step_is_finished_first(number):
    done = []
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012, SIM117
        with signals.uninterrupted():
            with signals.uninterrupted():
                os.kill(os.getpid(), number)
                done.append("inner")
            done.append("outer")
    assert done == ["inner", "outer"]
    with signals.uninterrupted():
        pass  # nothing is left over
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), number)


def test_a_task_that_is_just_being_started_is_ended_too(tmp_path, monkeypatch):
    executor = LocalExecutor(1, Limits(), [], tmp_path / "cache")
    expect = ServerConnection.expect

    def interrupted(self, key):
        os.kill(os.getpid(), signal.SIGINT)
        return expect(self, key)

    monkeypatch.setattr(ServerConnection, "expect", interrupted)
    task = Task("time:sleep", {}, "a task")  # fails at once; that it is started matters
    with pytest.raises(KeyboardInterrupt):
        list(executor.run([task], tmp_path / "work"))
    assert not executor.running
    (server,) = psutil.Process(executor.server.process.pid).children()
    assert server.children() == []
    executor.close()
