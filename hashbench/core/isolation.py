"""Functions that run in a forked process of their own, so that a crash there ends nothing here.

Libraries written in C crash on damaged files, and methods may crash, exit or use all memory. The
child sends one JSON record through a pipe: the value that the function returned, or the error that
it raised. Arrays are handed over as files.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import faulthandler
import json
import os
import resource
import select
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from hashbench.core.errors import DeclinedError, HashbenchError, StorageError
from hashbench.core.text import one_line, several_lines
from hashbench.core.units import format_duration

#: Limit of time for reading a file.
SECONDS = 600.0

#: Errors of the disk. None: numpy does not keep the number when it writes less than it should.
_DISK_ERRORS = (None, errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.ESTALE)

_PIECE = 1 << 16  # bytes read at once

#: From <linux/prctl.h>
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


@dataclass(eq=False)
class ForkedCall:
    """A function that runs in a child of this process.

    Attributes
    ----------
    pid : process and process group of the child
    pipe : descriptor from which the record is read
    received : the part of the record that has been read
    exit_code : of the child, negative for a signal; None while it runs
    """

    pid: int
    pipe: int
    received: bytes = b""
    exit_code: int | None = None

    def read(self) -> bool:
        """Read a part of the record; return False when there is no more."""
        piece = os.read(self.pipe, _PIECE)
        self.received += piece
        return bool(piece)

    def poll(self) -> int | None:
        """Return the exit code, or None while the child runs."""
        if self.exit_code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.exit_code = os.waitstatus_to_exitcode(status) if pid else None
        return self.exit_code

    def end(self) -> None:
        """Kill the child and its process group, and wait for the child."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        if self.exit_code is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)  # it may not have a group yet
            self.exit_code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def record(self) -> dict[str, Any] | None:
        """Return the record of the child, or None if it ended without one."""
        try:
            found = json.loads(self.received)
        except ValueError:
            return None
        return found if isinstance(found, dict) and "kind" in found else None


def run_in_subprocess(
    function: Callable[[], Any], what: str, doing: str = "reading", seconds: float = SECONDS
) -> Any:
    """Call a function in a child of this process and return its result, as JSON holds it.

    Parameters
    ----------
    function : without arguments; its :class:`HashbenchError` is raised here
    what, doing : the file and the action, for messages
    seconds : limit of time
    """
    from hashbench.core import memory  # imports psutil

    call = fork_call(function, memory=memory.available())
    deadline = time.monotonic() + seconds
    try:
        while True:
            ready, _, _ = select.select([call.pipe], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                limit = format_duration(seconds)
                raise HashbenchError(f"{what}: {doing} it took longer than {limit} and was ended")
            if not call.read():
                break
        while not call.received and call.poll() is None and time.monotonic() < deadline:
            time.sleep(0.001)  # the pipe closes just before the process ends
    finally:
        os.close(call.pipe)
        call.end()
    record = call.record()
    if record is None:
        raise HashbenchError(f"{what}: {doing} it failed: {describe_exit(call.exit_code or 0)}")
    if record["kind"] == "done":
        return record["result"]
    raise _error(record, what)


def _error(record: dict[str, Any], what: str) -> Exception:
    """Return the exception for the record of a child that failed."""
    kind, text = record["kind"], record["text"]
    if kind in ("refused", "declined"):
        return HashbenchError(text)
    if kind in ("disk", "storage"):
        return StorageError(text)
    if kind == "memory":
        return HashbenchError(f"{what}: takes more memory than there is")
    if kind == "system":
        return HashbenchError(f"{what}: {text}")
    error = RuntimeError(record["reason"])
    error.add_note(record["traceback"])
    return error


def fork_call(
    function: Callable[[], Any], memory: int | None = None, output: int | None = None
) -> ForkedCall:
    """Start a function in a child of this process, which dies with its parent.

    Parameters
    ----------
    function : without arguments; returns what JSON can hold
    memory : bytes that the child may allocate
    output : descriptor that takes the standard output and errors of the child
    """
    reader, writer = os.pipe()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    parent = os.getpid()
    with warnings.catch_warnings():
        # Python warns of locks that other threads may hold: the child does not use them.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if not pid:
        os.close(reader)
        _run_child(function, parent, writer, memory, output)
    os.close(writer)
    return ForkedCall(pid, reader)


def _run_child(
    function: Callable[[], Any], parent: int, writer: int, memory: int | None, output: int | None
) -> NoReturn:
    """Call the function and send the record; no exit handler of the parent runs here."""
    try:
        try:
            os.setsid()
            die_with_parent()
            adopt_orphans()
            if os.getppid() != parent:
                os._exit(1)
            faulthandler.disable()
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if output is not None:
                nothing = os.open(os.devnull, os.O_RDONLY)
                for descriptor, target in ((nothing, 0), (output, 1), (output, 2)):
                    os.dup2(descriptor, target)
            if memory is not None:
                limit_memory(memory)
            data = json.dumps({"kind": "done", "result": function()})
        except BaseException as error:
            data = json.dumps(_describe(error))
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        left = memoryview(data.encode())
        while left:
            left = left[os.write(writer, left) :]
    finally:
        os._exit(0)


def _describe(error: BaseException) -> dict[str, str]:
    """Return the record of an error, whose text may be long or raise an error itself."""
    kind = "failed"
    if isinstance(error, DeclinedError):
        kind = "declined"
    elif isinstance(error, HashbenchError):
        kind = "refused"
    elif isinstance(error, StorageError):
        kind = "disk" if getattr(error.__cause__, "errno", None) in _DISK_ERRORS else "storage"
    elif isinstance(error, MemoryError):
        kind = "memory"
    elif isinstance(error, OSError):
        kind = "system"
    name = type(error).__name__
    try:
        text = one_line(str(error).strip()[: 1 << 16].partition("\n")[0])
        trace = several_lines("".join(traceback.format_exception(error)))
    except BaseException:
        text, trace = "an error whose text cannot be read", ""
    own = isinstance(error, HashbenchError | StorageError)
    reason = text if own else one_line(f"{name}: {text}") if text else name
    return {"kind": kind, "text": text, "reason": reason, "traceback": trace}


def describe_exit(code: int) -> str:
    """Return how a process ended that sent no record."""
    if code >= 0:
        return f"the process ended early with exit code {code}"
    with contextlib.suppress(ValueError):
        return f"the process was killed by {signal.Signals(-code).name}"
    return f"the process was killed by signal {-code}"


def die_with_parent() -> None:
    """Have this process killed when its parent ends; Linux only."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Make this process the parent of descendants whose parents end; Linux only."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(option, value)


def limit_memory(size: int) -> None:
    """Let this process allocate so many more bytes; beyond them it gets a MemoryError.

    Memory maps of files do not count.
    """
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text().split()[5])
        limit = pages * resource.getpagesize() + size
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        if hard == resource.RLIM_INFINITY or limit < hard:
            resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
