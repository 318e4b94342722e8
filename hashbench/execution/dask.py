# mypy: disable-error-code="no-untyped-call"
"""The Dask executor: cells run on the workers of a cluster, and results go to the same store.

Dask transports tasks and outcomes and reports dead workers, whose cells run elsewhere. Methods do
not run in Dask's own processes: each worker has a local executor.
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
POLL_SECONDS = 2
DEATHS = 3  # how often all workers that a cell may run on may end before the cell is failed
WAIT_SECONDS = 600  # for a usable worker, before the run ends with an error

#: Evaluated on each worker that joins; only builtins can be sent to one without hashbench.
PROBE = "__import__('hashbench').__version__"


class DaskExecutor:
    """Runs tasks on a Dask cluster.

    Parameters
    ----------
    scheduler : address such as tcp://10.0.0.1:8786; None starts a cluster on this machine
    jobs : workers of a cluster started here
    limits : limits of a task
    plugins : the user's files and folders with plugins, sent along with every task
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
        # hashbench reports a lost connection itself, in one line.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        self.limits = limits
        self.plugins = plugin_files(plugins)
        self.cluster: Any = None
        if scheduler is None:
            with _interrupts_blocked():
                self.cluster = LocalCluster(
                    n_workers=jobs,
                    threads_per_worker=1,
                    dashboard_address=None,
                    memory_limit=0,
                    silence_logs=logging.CRITICAL,  # hashbench reports failures
                )
        try:
            self.client = Client(self.cluster or scheduler, timeout=CONNECT_SECONDS)
        except (OSError, ValueError) as error:
            raise HashbenchError(f"no Dask scheduler answers at {scheduler!r}: {error}") from error
        self.accepted: dict[str, bool] = {}  # by the address of a worker
        #: for data that no worker has read yet: reasons by the addresses of the workers that tried
        self.unread: dict[Task, dict[str, str]] = {}
        self.no_workers_since: float | None = None
        self._workers()

    def _workers(self) -> dict[str, int]:
        """Return the number of threads of every usable worker; check those that have joined.

        If there are none, print a line and wait: a cluster may still be queueing them.
        """
        threads = self.client.nthreads()
        for address in [each for each in threads if each not in self.accepted]:
            self.accepted[address] = True
            reason = self._probe(address)
            if reason:
                self._refuse(address, reason)
        usable = {each: count for each, count in threads.items() if self.accepted[each]}
        if usable:
            self.no_workers_since = None
            return usable
        if self.no_workers_since is None:
            self.no_workers_since = time.monotonic()
            found = "no workers that can be used" if threads else "no workers yet"
            limit = format_duration(WAIT_SECONDS)
            print(
                f"the Dask scheduler has {found}; waiting {limit} for one",
                file=sys.stderr,
                flush=True,
            )
        elif time.monotonic() - self.no_workers_since > WAIT_SECONDS:
            limit = format_duration(WAIT_SECONDS)
            raise ConnectionError(f"no Dask worker that can be used has come in {limit}")
        return {}

    def _refuse(self, address: str, reason: str) -> None:
        """Send no more tasks to a worker, and print why."""
        self.accepted[address] = False
        print(f"worker {address} refused: {reason}", file=sys.stderr, flush=True)

    def _try_elsewhere(self, task: Task, outcome: Outcome) -> bool:
        """Return whether another worker should run a task because this one lacks the data.

        A worker that cannot read what another can is refused. If no worker can read the data, the
        task has failed.
        """
        data = task.needs or task
        if not outcome.result.get("unread"):
            for address, reason in self.unread.pop(data, {}).items():
                self._refuse(address, reason)
            return False
        failed = self.unread.setdefault(data, {})
        failed[outcome.result["worker"]] = outcome.reason
        return any(address not in failed for address in self._workers())

    def _probe(self, address: str) -> str:
        """Return why a worker cannot be used, or an empty text if it can."""
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

        No more are submitted than there are threads, because a task that Dask queues on a busy
        worker waits for that worker.
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
                    time.sleep(POLL_SECONDS)
                    continue
                with contextlib.suppress(TimeoutError):  # time to look for new workers
                    wait(list(running), timeout=POLL_SECONDS, return_when="FIRST_COMPLETED")
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
            reason = f"its worker died repeatedly; see its log: {error}"
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
        own = Path(tempfile.mkdtemp(dir=folder, prefix="task-"))
        for name, content in files.items():
            (own / name).write_bytes(content)
        return Outcome(**{**found, "folder": own})

    def close(self) -> None:
        """Leave the cluster; end it if it was started here."""
        self.client.close()
        if self.cluster is not None:
            self.cluster.close()


@contextlib.contextmanager
def _interrupts_blocked() -> Generator[None, None, None]:
    """Block SIGINT in the processes that are started meanwhile: only this one handles Ctrl-C."""
    resource_tracker.ensure_running()  # starting later, it would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def plugin_files(paths: Sequence[Path]) -> dict[str, bytes]:
    """Return the content of all plugin files, by their path on a worker."""
    files = {}
    for index, path in enumerate(paths):
        for file in sorted(path.glob("*.py")) if path.is_dir() else [path]:
            files[f"{index}/{file.name}"] = file.read_bytes()
    return files
