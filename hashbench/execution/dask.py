# mypy: disable-error-code="no-untyped-call"
"""The Dask executor: the same cells on the workers of a cluster, results into the same store.

Dask moves tasks and outcomes and notices dead workers, whose cells it runs elsewhere. It does not
run a method inside its own processes: see :mod:`hashbench.execution.dask_worker`.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import signal
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Generator, Sequence
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import hashbench
from hashbench.core.errors import HashbenchError
from hashbench.core.text import one_line
from hashbench.core.units import format_duration
from hashbench.execution.executor import Event, Limits, Outcome, Task
from hashbench.plugins.requirements import install_command

CONNECT_SECONDS = 10
LOOK_SECONDS = 2
DEATHS = 3  # of all workers that a cell may run on, before the cell is failed
WAIT_SECONDS = 600  # for a worker that can be used, before the run is given up

#: Evaluated on a worker that joins: only what is built in can be sent to one without hashbench.
PROBE = "__import__('hashbench').__version__"


class DaskExecutor:
    """Runs tasks on a Dask cluster.

    Parameters
    ----------
    scheduler : address such as tcp://10.0.0.1:8786; None starts a cluster on this machine
    jobs : workers of a cluster started here
    limits : what a task may use
    plugins : files and folders with plugins of the user's own, sent along with every task
    """

    def __init__(
        self, scheduler: str | None, jobs: int, limits: Limits, plugins: Sequence[Path]
    ) -> None:
        try:
            from distributed import Client, LocalCluster
        except ImportError as error:
            raise HashbenchError(
                f"executor 'dask' needs Dask: {install_command('distributed')}"
            ) from error
        # A lost connection is ours to report, in a line.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        self.limits = limits
        self.plugins = plugin_files(plugins)
        self.cluster: Any = None
        if scheduler is None:
            with _interrupts_kept():
                self.cluster = LocalCluster(
                    n_workers=jobs,
                    threads_per_worker=1,
                    dashboard_address=None,
                    memory_limit=0,
                    silence_logs=logging.CRITICAL,  # what fails is told once, by us
                )
        try:
            self.client = Client(self.cluster or scheduler, timeout=CONNECT_SECONDS)
        except (OSError, ValueError) as error:
            raise HashbenchError(f"no Dask scheduler answers at {scheduler!r}: {error}") from error
        self.accepted: dict[str, bool] = {}  # by the address of a worker
        #: why a worker could not read some data, as long as nobody else has
        self.unread: dict[Task, dict[str, str]] = {}
        self.lonely_since: float | None = None
        self._workers()

    def _workers(self) -> dict[str, int]:
        """Return the threads of the workers that can be used; probe and name those that join.

        Without any the run says so and waits: they may come, from the queue of a cluster.
        """
        threads = self.client.nthreads()
        for address in [each for each in threads if each not in self.accepted]:
            self.accepted[address] = True
            reason = self._probe(address)
            if reason:
                self._refuse(address, reason)
        usable = {each: count for each, count in threads.items() if self.accepted[each]}
        if usable:
            self.lonely_since = None
            return usable
        if self.lonely_since is None:
            self.lonely_since = time.monotonic()
            found = "no workers that can be used" if threads else "no workers yet"
            limit = format_duration(WAIT_SECONDS)
            print(
                f"the Dask scheduler has {found}; waiting {limit} for one",
                file=sys.stderr,
                flush=True,
            )
        elif time.monotonic() - self.lonely_since > WAIT_SECONDS:
            limit = format_duration(WAIT_SECONDS)
            raise ConnectionError(f"no Dask worker that can be used has come in {limit}")
        return {}

    def _refuse(self, address: str, reason: str) -> None:
        """Give a worker nothing more to do, and say why."""
        self.accepted[address] = False
        print(f"worker {address} refused: {reason}", file=sys.stderr, flush=True)

    def _try_elsewhere(self, task: Task, outcome: Outcome) -> bool:
        """Say whether a task is for another worker: this one could not read the data.

        Data that no worker can read are the study's fault. A worker that cannot read what another
        can is refused.
        """
        data = task.needs or task
        if not outcome.result.get("unread"):
            for address, reason in self.unread.pop(data, {}).items():
                self._refuse(address, reason)
            return False
        failed = self.unread.setdefault(data, {})
        failed[outcome.result["worker"]] = outcome.reason
        return any(address not in failed for address in self._workers())

    def wait_for_workers(self) -> dict[str, int]:
        """Return the threads of the workers that can be used, as soon as there are any."""
        while not (usable := self._workers()):
            time.sleep(LOOK_SECONDS)
        return usable

    def _probe(self, address: str) -> str:
        """Say why a worker cannot be used; nothing if it can."""
        try:
            found = self.client.run(eval, PROBE, workers=[address], on_error="return")[address]
        except Exception as error:
            return one_line(f"it does not answer ({type(error).__name__}: {error})")
        if isinstance(found, BaseException):
            return one_line(f"{type(found).__name__}: {found}")
        if found != hashbench.__version__:
            return f"found hashbench {one_line(found, 40)}; allowed: {hashbench.__version__}"
        return ""

    def run(self, tasks: Sequence[Task], folder: Path) -> Generator[Event, None, None]:
        """Run tasks in order; see :class:`hashbench.execution.executor.Executor`.

        Only as many are handed out as there are threads, because a task that Dask has queued
        behind a long one waits for it.
        """
        from distributed import wait

        from hashbench.execution.dask_worker import perform

        waiting = deque(tasks)
        running: dict[Any, Task] = {}
        allowed: dict[Any, list[str]] = {}  # the workers that a future may run on
        begun: set[Task] = set()
        lost: Counter[Task] = Counter()  # how often all of a task's workers have died
        try:
            while waiting or running:
                usable = self._workers()
                while waiting and len(running) < sum(usable.values()):
                    task = waiting.popleft()
                    submitted = (perform, task, self.limits, self.plugins)
                    failed = self.unread.get(task.needs or task, {})
                    where = [each for each in usable if each not in failed] or list(usable)
                    future = self.client.submit(*submitted, pure=False, workers=where)
                    running[future], allowed[future] = task, where
                    if task not in begun:
                        begun.add(task)
                        yield Event(task)
                if not running:
                    time.sleep(LOOK_SECONDS)
                    continue
                with contextlib.suppress(TimeoutError):  # time to look for new workers
                    wait(list(running), timeout=LOOK_SECONDS, return_when="FIRST_COMPLETED")
                for future in [future for future in running if future.done()]:
                    task, outcome = running.pop(future), self._outcome(future, folder)
                    if self._try_elsewhere(task, outcome):
                        waiting.appendleft(task)
                    else:
                        yield Event(task, outcome)
                # Dask waits for the very workers that a task is restricted to; a worker that was
                # started again has another address.
                present = self.client.nthreads()
                for future in [each for each in running if not present.keys() & set(allowed[each])]:
                    task = running.pop(future)
                    self.client.cancel([future])
                    lost[task] += 1
                    if lost[task] < DEATHS:
                        waiting.appendleft(task)
                    else:
                        yield Event(task, Outcome("failed", f"{DEATHS} workers died running it"))
        except (asyncio.CancelledError, concurrent.futures.CancelledError) as error:
            running.clear()
            raise ConnectionError("the connection to the Dask scheduler is lost") from error
        finally:
            if running:
                self.client.cancel(list(running))

    def _outcome(self, future: Any, folder: Path) -> Outcome:
        from distributed import KilledWorker

        try:
            found = future.result()
        except KilledWorker as error:
            reason = f"its worker died again and again, its log says why: {error}"
            return Outcome("failed", reason)
        except (OSError, concurrent.futures.CancelledError):
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {error}".partition("\n")[0]
            raise HashbenchError(
                f"a Dask worker cannot run hashbench: {reason}; every machine needs hashbench "
                f"{hashbench.__version__} and the same version of Dask"
            ) from error
        files = found.pop("files")
        folder.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(dir=folder, prefix="task-"))
        for name, content in files.items():
            (place / name).write_bytes(content)
        return Outcome(**{**found, "folder": place})

    def close(self) -> None:
        """Leave the cluster; end it if it was started here."""
        self.client.close()
        if self.cluster is not None:
            self.cluster.close()


@contextlib.contextmanager
def _interrupts_kept() -> Generator[None, None, None]:
    """Start processes that never hear of Ctrl-C, which is for us to handle.

    What this thread blocks, the threads and processes that it starts block for good.
    """
    resource_tracker.ensure_running()  # which would unblock it again when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def plugin_files(paths: Sequence[Path]) -> dict[str, bytes]:
    """Return the content of all plugin files, by the place they take on a worker."""
    files = {}
    for index, path in enumerate(paths):
        for file in sorted(path.glob("*.py")) if path.is_dir() else [path]:
            files[f"{index}/{file.name}"] = file.read_bytes()
    return files
