"""The connection to a fork server, by whoever owns it: messages, and what to do about silence.

A method runs as the same user as everything else here, so it can stop or kill the server. The
owner stands outside: a stopped guard is made to go on, as the guard does with its server; one that
is gone or does not answer is given up, with every process below it, and another takes its place.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil

from hashbench.execution.server import thread_variables

#: How long a server may take to answer. It starts by importing everything, plugins included.
ANSWER_SECONDS = 300
LOOK_SECONDS = 0.1
#: How long a guard may take to end a server and all that is below it.
END_SECONDS = 10


class ServerLostError(ConnectionError):
    """The fork server has ended or does not answer; its tasks are lost, not the study."""


class ServerConnection:
    """A fork server that was started here; it begins to import at once.

    Parameters
    ----------
    threads : threads of each task
    """

    def __init__(self, threads: int) -> None:
        ours, theirs = socket.socketpair()
        self.threads = threads
        self.process = subprocess.Popen(
            # -P: the installed package, not a source tree that happens to be the current folder
            [sys.executable, "-P", "-m", "hashbench.execution.server", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env={**os.environ, **thread_variables(threads)},
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for us to handle
        )
        theirs.close()
        ours.settimeout(LOOK_SECONDS)
        self.socket = ours
        self.received = b""
        self.messages: deque[dict[str, Any]] = deque()

    def configure(self, plugins: Sequence[Path]) -> None:
        """Name the files and folders with plugins of the user's own: then it can take tasks."""
        self.send({"plugins": [str(path) for path in plugins], "threads": self.threads})

    def send(self, message: dict[str, Any], *descriptors: int) -> None:
        """Send a message, with descriptors of files."""
        data = json.dumps(message).encode() + b"\n"
        deadline = time.monotonic() + ANSWER_SECONDS
        while True:
            try:
                if descriptors:
                    data = data[socket.send_fds(self.socket, [data], descriptors) :]
                    descriptors = ()
                while data:
                    data = data[self.socket.send(data) :]
                return
            except TimeoutError:  # it is stopped, or has not read what came before
                self.style(deadline)
            except OSError as error:
                raise ServerLostError(f"the fork server is gone: {error}") from error

    def receive(self) -> None:
        """Take in what has come, if something has."""
        try:
            data = self.socket.recv(1 << 16)
        except TimeoutError:
            return
        except OSError as error:
            raise ServerLostError(f"the fork server is gone: {error}") from error
        if not data:
            raise ServerLostError("the fork server has ended")
        *lines, self.received = (self.received + data).split(b"\n")
        self.messages.extend(json.loads(line) for line in lines)

    def expect(self, key: str) -> dict[str, Any]:
        """Return the next message of a kind; others wait their turn."""
        deadline = time.monotonic() + ANSWER_SECONDS
        while True:
            for message in self.messages:
                if key in message:
                    self.messages.remove(message)
                    return message
            self.receive()
            self.style(deadline)

    def take(self, key: str) -> list[dict[str, Any]]:
        """Return all messages of a kind that have come."""
        found = [message for message in self.messages if key in message]
        for message in found:
            self.messages.remove(message)
        return found

    def style(self, deadline: float = float("inf")) -> None:
        """Make a stopped guard go on; give up a server that has been silent for too long."""
        with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError):
            if psutil.Process(self.process.pid).status() == psutil.STATUS_STOPPED:
                os.kill(self.process.pid, signal.SIGCONT)
        if time.monotonic() > deadline:
            raise ServerLostError("the fork server does not answer")

    def close(self, patience: float = 5) -> None:
        """End the server and with it every child."""
        self.socket.close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGCONT)
        for insist, seconds in (
            (bool, patience),
            (self.process.terminate, END_SECONDS),
            (self.process.kill, None),
        ):
            insist()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=seconds)
                return
