"""The fork server: a process with all imports done, which forks one child a task.

A fork costs milliseconds, an interpreter with numpy, scipy and numba a second or more. The server
is a program of its own, not multiprocessing's: a child leads a process group that can be killed
whole, it may itself run inside a Dask worker (whose processes must not have children of
multiprocessing's kind), and when the run that owns the server dies, the connection closes and
every child is killed with it.

Messages are JSON lines. To the server: first {"plugins": [...], "threads": n}, then
{"task": {...}} with the descriptor of the child's output, or {"kill": pid}. From it: {"started":
pid} for each task, and {"ended": pid, "code": n}.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
import traceback
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hashbench.base.errors import StorageError

#: Imported before the first fork; what methods and the cell function use.
PRELOAD = (
    "numpy.linalg",
    "scipy.linalg",
    "scipy.sparse.linalg",
    "scipy.spatial",
    "hashbench.studies.cell",
    "hashbench.linalg",
    "hashbench.data.prepare",
)

#: The exit code of a child that could not write its outcome, and how the last line of its output
#: begins: a method that ends its process with this very code does not say why in these words.
CANNOT_WRITE = 74
CANNOT_WRITE_SIGN = "hashbench, no outcome: "

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)


class Server:
    """Forks children and tells when they end."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.children: set[int] = set()
        self.buffer = b""
        self.messages: deque[dict[str, Any]] = deque()
        self.outputs: deque[int] = deque()  # descriptors, one for each task to come

    def serve(self) -> None:
        """Answer until the connection closes; then kill what is left."""
        while not self.messages:
            if not self._receive():
                return
        configuration = self.messages.popleft()
        for module in PRELOAD:
            importlib.import_module(module)
        from threadpoolctl import ThreadpoolController

        from hashbench.plugins.provenance import source_hash
        from hashbench.plugins.registry import discover

        self.registry = discover(configuration["plugins"])
        self.threads = int(configuration["threads"])
        for plugin in self.registry.methods.values():
            source_hash(plugin)  # of what has just been imported, even if files change later
        self.pools = ThreadpoolController()  # looking for libraries costs every child otherwise
        gc.freeze()  # children need not look through, and so copy, what they share
        wake, woken = os.pipe()
        for descriptor in (wake, woken):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(woken)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        selector = selectors.DefaultSelector()
        selector.register(self.connection, selectors.EVENT_READ)
        selector.register(wake, selectors.EVENT_READ)
        try:
            self._answer()
            while True:
                ready = {key.fd for key, _ in selector.select()}
                if wake in ready:
                    os.read(wake, 4096)
                    self._reap()
                if self.connection.fileno() in ready:
                    if not self._receive():
                        return
                    self._answer()
        finally:
            for pid in self.children:
                kill_tree(pid)

    def _receive(self) -> bool:
        """Read what has come; return False when the connection is closed."""
        try:
            data, received, _, _ = socket.recv_fds(self.connection, 1 << 16, 8)
        except ConnectionError:
            return False
        self.outputs.extend(received)
        *lines, self.buffer = (self.buffer + data).split(b"\n")
        self.messages.extend(json.loads(line) for line in lines)
        return bool(data)

    def _send(self, message: Mapping[str, Any]) -> None:
        with contextlib.suppress(OSError):  # the owner is gone; the next read says so
            self.connection.sendall(json.dumps(message).encode() + b"\n")

    def _answer(self) -> None:
        while self.messages:
            message = self.messages.popleft()
            if "kill" in message:
                if message["kill"] in self.children:
                    kill_tree(message["kill"])
                continue
            output = self.outputs.popleft()
            pid = os.fork()
            if pid == 0:
                self._child(message["task"], output)
            os.close(output)
            self.children.add(pid)
            self._send({"started": pid})

    def _reap(self) -> None:
        for pid in sorted(self.children):
            found, status = os.waitpid(pid, os.WNOHANG)
            if found == 0:
                continue
            self.children.discard(pid)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)  # whatever the child has left behind
            self._send({"ended": pid, "code": os.waitstatus_to_exitcode(status)})

    def _child(self, task: Mapping[str, Any], output: int) -> None:
        """Become the child: never returns."""
        code = CANNOT_WRITE
        try:
            os.setsid()
            _die_with_parent()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self.connection.close()
            nothing = os.open(os.devnull, os.O_RDONLY)
            for descriptor, target in ((nothing, 0), (output, 1), (output, 2)):
                os.dup2(descriptor, target)
            with self.pools.limit(limits=self.threads):
                work(self.registry, task)
            code = 0
        except StorageError as error:
            print(f"{CANNOT_WRITE_SIGN}{error}", file=sys.stderr)
        except BaseException:
            traceback.print_exc()
        finally:
            with contextlib.suppress(Exception):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)


def work(registry: Any, task: Mapping[str, Any]) -> None:
    """Call a task's function and write how it ended to outcome.json."""
    from hashbench.base.errors import DeclinedError, HashbenchError
    from hashbench.base.files import writing

    folder = Path(task["folder"])
    module, _, name = task["function"].partition(":")
    function = getattr(importlib.import_module(module), name)
    outcome: dict[str, Any] = {"status": "done"}
    try:
        outcome["result"] = function(registry, folder, Path(task["cache"]), **task["arguments"])
    except DeclinedError as error:
        outcome = {"status": "skipped", "reason": str(error)}
    except StorageError:
        raise
    except BaseException as error:
        status = "memory" if isinstance(error, MemoryError) else "failed"
        text = str(error).strip().partition("\n")[0]
        kind = type(error).__name__
        reason = text if isinstance(error, HashbenchError) else f"{kind}: {text}" if text else kind
        if isinstance(error, ValueError) and "read-only" in text:
            reason += " (the data of a cell are read-only: a method must not change its input)"
        outcome = {"status": status, "reason": reason, "traceback": traceback.format_exc()}
    with writing(folder):
        temporary = folder / "outcome.tmp"
        temporary.write_text(json.dumps(outcome))
        temporary.rename(folder / "outcome.json")


def kill_tree(pid: int) -> None:
    """Kill a child and all that descends from it, by group and by parentage."""
    import psutil

    with contextlib.suppress(psutil.NoSuchProcess):
        for process in psutil.Process(pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


def _die_with_parent() -> None:
    """Ask Linux to kill this process when the server dies, however it dies."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # 1: PR_SET_PDEATHSIG


if __name__ == "__main__":
    Server(socket.socket(fileno=int(sys.argv[1]))).serve()
