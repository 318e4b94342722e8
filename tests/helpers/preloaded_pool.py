"""Pools for tests, forked from one process per test worker that has imported everything.

A pool of its own imports scikit-learn, numba and all methods in three seconds; the tests start some
two hundred. Tests that run the command in a process of its own use the real start.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from unittest import mock

from hashbench.core.threads import thread_variables
from hashbench.execution import local

CONTEXT = multiprocessing.get_context("forkserver")


def serve(connection: Connection, environment: dict[str, str]) -> None:
    """Run a pool in this process, with the environment of the one that started it."""
    from hashbench.execution import pool

    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    pool.main(connection)


class Process:
    """A process of multiprocessing with the methods of `subprocess.Popen` that are used."""

    def __init__(self, process: multiprocessing.Process) -> None:
        self.process, self.pid, self.kill = process, process.pid, process.kill

    def poll(self) -> int | None:
        return self.process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self.process.join(timeout)
        if self.process.exitcode is None:
            raise subprocess.TimeoutExpired("pool", timeout or 0)
        return self.process.exitcode


class PreloadedPool(local.PoolProcess):
    """A pool that starts with a fork; one thread per task."""

    def __init__(self, threads: int) -> None:
        if threads != 1:
            super().__init__(threads)
            return
        self.connection, theirs = Pipe()
        self.threads, self.busy, self.tasks = threads, False, set()
        environment = {**os.environ, **thread_variables(1)}
        with mock.patch.dict(os.environ, environment):  # as the fork server starts
            CONTEXT.set_forkserver_preload(["tests.helpers.preloaded_modules"])
            process = CONTEXT.Process(target=serve, args=(theirs, environment))
            process.start()
        self.process = Process(process)
        theirs.close()
