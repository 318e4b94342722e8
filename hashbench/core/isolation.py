"""A function in a process of its own: what a library does to a damaged file ends no other.

Parsers written in C end by a segmentation fault on bytes that nobody foresaw, ask for all the
memory there is, or never return. The process that a person waits for outlives all of it and says
so in one line. What the function returns is what JSON can hold; arrays go by files.
"""

from __future__ import annotations

import contextlib
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
from pathlib import Path
from typing import Any, NoReturn

from hashbench.core.errors import HashbenchError, StorageError
from hashbench.core.text import one_line
from hashbench.core.units import format_duration

#: Reading a file takes no longer than this, or is given up.
SECONDS = 600.0

_PIECE = 1 << 16  # bytes read at once


def call(
    function: Callable[[], Any], what: str, doing: str = "reading", seconds: float = SECONDS
) -> Any:
    """Call a function in a child of this process and return what it returns, as JSON holds it.

    Parameters
    ----------
    function : without arguments; its :class:`HashbenchError` is raised here
    what, doing : what it works on and what it does with that, for messages
    seconds : how long it may take
    """
    reader, writer = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        # Python warns of locks that other threads may hold: the child computes nothing with them.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if not pid:
        os.close(reader)
        _child(function, what, writer)
    os.close(writer)
    try:
        told = _listen(reader, time.monotonic() + seconds)
        if told is None:
            limit = format_duration(seconds)
            raise HashbenchError(f"{what}: {doing} it took longer than {limit} and was ended")
    finally:
        os.close(reader)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)  # it has said all it had to say, or never will
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if not told:
        raise HashbenchError(f"{what}: {doing} it {_ended(code)}")
    record = json.loads(told)
    if "error" in record:
        raise HashbenchError(record["error"])
    if "storage" in record:
        raise StorageError(record["storage"])
    if "defect" in record:
        defect = RuntimeError(record["defect"])
        defect.add_note(record["traceback"])
        raise defect
    return record["result"]


def _child(function: Callable[[], Any], what: str, writer: int) -> NoReturn:
    """Do the work and tell how it ended; nothing that the parent has begun is finished here."""
    try:
        from hashbench.core import memory  # imports psutil

        faulthandler.disable()  # a crash here is one line there
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        limit_memory(memory.available())
        record = {"result": function()}
    except HashbenchError as error:
        record = {"error": str(error)}
    except StorageError as error:
        record = {"storage": str(error)}
    except MemoryError:
        record = {"error": f"{what}: takes more memory than there is"}
    except OSError as error:
        record = {"error": f"{what}: {one_line(error)}"}
    except BaseException as error:
        defect = f"{type(error).__name__}: {one_line(error)}"
        record = {"defect": defect, "traceback": traceback.format_exc()}
    try:
        data = memoryview(json.dumps(record).encode())
        while data:
            data = data[os.write(writer, data) :]
        os.close(writer)
        while True:  # the parent ends us: until then no exit handler and no buffer gets a turn
            signal.pause()
    finally:
        os._exit(1)


def _listen(reader: int, until: float) -> bytes | None:
    """Return all that is said before the other end is closed, or None if that takes too long."""
    said = b""
    while True:
        ready, _, _ = select.select([reader], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            return None
        piece = os.read(reader, _PIECE)
        if not piece:
            return said
        said += piece


def _ended(code: int) -> str:
    if code >= 0:
        return f"ended the process (exit code {code})"
    with contextlib.suppress(ValueError):
        return f"crashed the process ({signal.Signals(-code).name})"
    return f"crashed the process (signal {-code})"


def limit_memory(size: int) -> None:
    """Let this process allocate so much more: what asks for too much gets a MemoryError.

    Files that are mapped do not count.
    """
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text().split()[5])
        limit = pages * resource.getpagesize() + size
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        if hard == resource.RLIM_INFINITY or limit < hard:
            resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
