"""The fork server: a process with all imports done, which forks one child a task.

A fork costs milliseconds, an interpreter with numpy, scipy and numba a second or more. The server
is a program of its own, not multiprocessing's: it may itself run inside a Dask worker (whose
processes must not have children of multiprocessing's kind), and when the run that owns the server
dies, the connection closes and every child is killed with it.

Between the server and each child stands a keeper, to which Linux gives every orphan among the
child's descendants, in whatever session they are: when the child has ended, the keeper ends what
is left of them, and then itself in the same way as the child. Above the server stands a guard,
which does the same for all of them when a method kills the server, and makes it go on when a method
stops it.

Messages are JSON lines. To the server: first {"plugins": [...], "threads": n}, then
{"task": {...}} with the descriptor of the child's output, or {"kill": pid}. From it: {"started":
pid} for each task, and {"ended": pid, "code": n}; processes are the keepers.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import gc
import importlib
import json
import os
import resource
import selectors
import signal
import socket
import sys
import traceback
from collections import deque
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import psutil

from hashbench.core.errors import StorageError
from hashbench.core.isolation import limit_memory
from hashbench.core.text import one_line, several_lines
from hashbench.execution.outcomes import CANNOT_WRITE, CANNOT_WRITE_SIGN, FILE

#: Imported before the first fork; what methods and the cell function use.
PRELOAD = (
    "numpy.linalg",
    "scipy.linalg",
    "scipy.sparse.linalg",
    "scipy.spatial",
    "sklearn.cluster",
    "hashbench.execution.compute_cell",
    "hashbench.linalg",
    "hashbench.data.prepare",
)

#: From <linux/prctl.h>
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def thread_variables(threads: int) -> dict[str, str]:
    """Return the environment of a process that computes with so many threads.

    Those of OpenBLAS wait for the next product on their cores, a fortieth of a second long; numpy
    and scipy have one set each and passes over the rows another, and each would wait where the
    other one works: the shortest wait allowed is 2^4 ticks.
    """
    names = ("OMP", "OPENBLAS", "MKL", "NUMBA")
    numbers = dict.fromkeys([f"{name}_NUM_THREADS" for name in names], str(threads))
    return {**numbers, "VECLIB_MAXIMUM_THREADS": str(threads), "OPENBLAS_THREAD_TIMEOUT": "4"}


class Server:
    """Forks children and tells when they end."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.children: set[int] = set()
        self.buffer = b""
        self.messages: deque[dict[str, Any]] = deque()
        self.outputs: deque[int] = deque()  # descriptors, one for each task to come
        self.compiled = 0  # tasks so far that need compiled loops

    def serve(self) -> None:
        """Answer until the connection closes; then kill what is left."""
        for module in PRELOAD:  # meanwhile the owner finds out which plugins there are
            importlib.import_module(module)
        from threadpoolctl import ThreadpoolController

        from hashbench.plugins.registry import ENVIRONMENT, discover
        from hashbench.plugins.source_hash import source_hash

        while not self.messages:
            if not self._receive():
                return
        configuration = self.messages.popleft()
        os.environ.pop(ENVIRONMENT, None)  # what it says of plugins is among the paths already
        self.registry = discover(configuration["plugins"])
        self.threads = int(configuration["threads"])
        for plugin in self.registry.methods.values():
            source_hash(plugin)  # of what has just been imported, even if files change later
        self.pools = ThreadpoolController()  # looking for libraries costs every child otherwise
        _control(PR_SET_CHILD_SUBREAPER, 1)  # orphans of a keeper that was killed are ours
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
            end_descendants()

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
            self._load_for(message["task"])
            pid = os.fork()
            if pid == 0:
                self._keep(message["task"], output)
            os.close(output)
            self.children.add(pid)
            self._send({"started": pid})

    def _load_for(self, task: Mapping[str, Any]) -> None:
        """Load what compiled loops need as soon as a second child would: a second for each."""
        cell = task["arguments"].get("cell", {})
        plugin = self.registry.methods.get(cell.get("method"))
        if plugin is None or not plugin.cls.compiled:
            return
        self.compiled += 1
        if self.compiled == 2:
            from hashbench.core.compilation import load

            load()

    def _reap(self) -> None:
        """Tell which keepers have ended; a method that stops its keeper sees it go on."""
        for pid in sorted(self.children):
            found, status = os.waitpid(pid, os.WNOHANG | os.WUNTRACED)
            if found == 0:
                continue
            if os.WIFSTOPPED(status):
                os.kill(pid, signal.SIGCONT)
                continue
            self.children.discard(pid)
            code = os.waitstatus_to_exitcode(status)
            if code < 0:  # perhaps before it could end what its child has started
                end_descendants(keep=self.children)
            self._send({"ended": pid, "code": code})

    def _keep(self, task: Mapping[str, Any], output: int) -> None:
        """Become the keeper of a child: never returns."""
        code = 1
        try:
            os.setsid()
            _control(PR_SET_PDEATHSIG, signal.SIGKILL)
            _control(PR_SET_CHILD_SUBREAPER, 1)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self.connection.close()
            child = os.fork()
            if child == 0:
                self._child(task, output)
            os.close(output)
            code = _ended(child)
            end_descendants()
        except BaseException:
            traceback.print_exc()
        finally:
            if code < 0:
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                with contextlib.suppress(OSError, ValueError):
                    signal.signal(-code, signal.SIG_DFL)
                os.kill(os.getpid(), -code)
            os._exit(code if code >= 0 else 1)

    def _child(self, task: Mapping[str, Any], output: int) -> None:
        """Become the child: never returns."""
        code = CANNOT_WRITE
        try:
            os.setsid()
            _control(PR_SET_PDEATHSIG, signal.SIGKILL)
            nothing = os.open(os.devnull, os.O_RDONLY)
            for descriptor, target in ((nothing, 0), (output, 1), (output, 2)):
                os.dup2(descriptor, target)
            if task["memory"] is not None:
                limit_memory(task["memory"])
            with self.pools.limit(limits=self.threads):
                work(self.registry, task)
            code = 0
        except StorageError as error:
            # numpy forgets why it could not write; then it is the disk
            number = getattr(error.__cause__, "errno", None) or errno.ENOSPC
            print(f"\n{CANNOT_WRITE_SIGN}{task['token']} {number} {error}", file=sys.stderr)
        except BaseException:
            traceback.print_exc()
        finally:
            with contextlib.suppress(Exception):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)


def work(registry: Any, task: Mapping[str, Any]) -> None:
    """Call a task's function and write how it ended into its folder."""
    from hashbench.core.errors import DeclinedError
    from hashbench.core.io import writing

    folder = Path(task["folder"])
    module, _, name = task["function"].partition(":")
    function = getattr(importlib.import_module(module), name)
    outcome: dict[str, Any] = {"status": "done"}
    try:
        outcome["result"] = function(registry, folder, Path(task["cache"]), **task["arguments"])
    except DeclinedError as error:
        outcome = {"status": "skipped", "reason": one_line(error)}
    except StorageError:
        raise
    except BaseException as error:
        status = "memory" if isinstance(error, MemoryError) else "failed"
        trace = several_lines(traceback.format_exc())
        outcome = {"status": status, "reason": describe_error(error), "traceback": trace}
    with writing(folder):
        temporary = folder / "outcome.tmp"
        temporary.write_text(json.dumps(outcome))
        temporary.rename(folder / FILE)


def describe_error(error: BaseException) -> str:
    """Say in one line what was raised; a text of the method's own may itself raise."""
    from hashbench.core.errors import HashbenchError

    kind = type(error).__name__
    try:
        text = str(error).strip()[: 1 << 16].partition("\n")[0]
    except BaseException:
        return one_line(f"{kind}, which cannot say why")
    reason = text if isinstance(error, HashbenchError) else f"{kind}: {text}" if text else kind
    if isinstance(error, ValueError) and "read-only" in text:
        reason += " (the data of a cell are read-only: a method must not change its input)"
    return one_line(reason)


def kill_tree(pid: int) -> None:
    """Kill a keeper and all that descends from it, by group and by parentage."""
    with contextlib.suppress(psutil.NoSuchProcess):
        for process in psutil.Process(pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


def end_descendants(keep: Collection[int] = ()) -> None:
    """Kill and wait for every process below this one, but for some children and what is theirs.

    Orphans become our children, so that even those that fork without end are caught up with.
    """
    while True:
        try:
            while not keep and os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return  # as after nearly every task: no need to look through all processes
        left = [each for each in psutil.Process().children() if each.pid not in keep]
        if not left:
            return
        for each in left:
            kill_tree(each.pid)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(each.pid, 0)


def _ended(child: int) -> int:
    """Wait for a child, and for orphans that end before it; return its exit code."""
    while True:
        pid, status = os.wait()
        if pid == child:
            return os.waitstatus_to_exitcode(status)


def _control(option: int, value: int) -> None:
    """Ask Linux for a property of this process; other systems do not know it."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(option, value)


def main(descriptor: int) -> None:
    """Become the guard of a server that answers on a socket; on SIGTERM the server is killed."""
    _control(PR_SET_CHILD_SUBREAPER, 1)
    server = os.fork()
    if server == 0:
        _control(PR_SET_PDEATHSIG, signal.SIGKILL)
        Server(socket.socket(fileno=descriptor)).serve()
        return
    os.close(descriptor)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(server, signal.SIGKILL))
    while True:
        pid, status = os.waitpid(-1, os.WUNTRACED)
        if pid == server and not os.WIFSTOPPED(status):
            break
        if pid == server:
            os.kill(server, signal.SIGCONT)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # there is nobody to kill any more
    end_descendants()


if __name__ == "__main__":
    main(int(sys.argv[1]))
