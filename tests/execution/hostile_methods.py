"""Methods that do everything a method must not do, each in its own way."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from hashbench import DeclinedError, LinearMethod


class Good(LinearMethod):
    """Behaves; the others change one thing about it."""

    name = "good"
    supervised = False

    def __init__(self, n_bits: int = 16, random_state: Any = None) -> None:
        self.n_bits = n_bits
        self.random_state = random_state

    def fit(self, views, labels=None):
        data = self.begin_fit(views, labels)
        views, rng = data.views, data.rng
        self.projections_ = [rng.standard_normal((X.shape[1], self.n_bits)) for X in views]
        return self


class Raises(Good):
    name = "raises"

    def fit(self, views, labels=None):
        raise ZeroDivisionError("the third eigenvalue is zero\nand more lines")


class HangsInC(Good):
    name = "hangs-in-c"

    def fit(self, views, labels=None):
        ctypes.PyDLL(None).pause()  # keeps the interpreter's lock: no Python code runs again


class Allocates(Good):
    name = "allocates"

    def fit(self, views, labels=None):
        kept = []
        while True:
            kept.append(np.ones(1 << 22))
            time.sleep(0.002)  # fast, but not before anybody can look


class AllocatesInChild(Good):
    name = "allocates-in-child"

    def fit(self, views, labels=None):
        code = "import time\nk = []\nwhile True: k.append(bytearray(1 << 25)); time.sleep(0.002)"
        subprocess.run([sys.executable, "-c", code], check=False)


class Exits(Good):
    name = "exits"

    def fit(self, views, labels=None):
        os._exit(0)


class ExitsLikeAFullDisk(Good):
    name = "exits-like-a-full-disk"

    def fit(self, views, labels=None):
        print("ValueError: no disk is meant", flush=True)
        os._exit(74)


class Crashes(Good):
    name = "crashes"

    def fit(self, views, labels=None):
        ctypes.string_at(0)


class Prints(Good):
    name = "prints"

    def fit(self, views, labels=None):
        for _ in range(64):
            print("x" * (1 << 16))
        print("the end of it", file=sys.stderr)
        return super().fit(views, labels)


class PrintsForever(Good):
    name = "prints-forever"

    def fit(self, views, labels=None):
        subprocess.run(["yes"], check=False)


class FewerBits(Good):
    name = "fewer-bits"

    def fit(self, views, labels=None):
        self.n_bits = 7
        return super().fit(views, labels)


class WrongShape(Good):
    name = "wrong-shape"

    def encode(self, X, view):
        return super().encode(X, view)[:, :-1]


class WrongLearned(Good):
    name = "wrong-learned"

    def fit(self, views, labels=None):
        super().fit(views, labels)
        self.codes_ = self.encode(views[0], 0)[:-1]
        return self


class NaNProjections(Good):
    name = "nan-projections"

    def fit(self, views, labels=None):
        super().fit(views, labels)
        self.projections_[1][3, 2] = np.nan
        return self


class NotBinary(Good):
    name = "not-binary"

    def encode(self, X, view):
        return self.project(X, view)


class ChangesInput(Good):
    name = "changes-input"

    def fit(self, views, labels=None):
        views[0] -= views[0].mean(axis=0)
        return super().fit(views, labels)


class Declines(Good):
    name = "declines"

    def fit(self, views, labels=None):
        raise DeclinedError("declines: found 2 views; allowed: 7 or more")


class LeavesProcesses(Good):
    """Starts a process that outlives it; its number is in the file that the environment names."""

    name = "leaves-processes"

    def fit(self, views, labels=None):
        left = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        with open(os.environ["HASHBENCH_TEST_PID"], "a") as stream:
            stream.write(f"{left.pid}\n")
        return super().fit(views, labels)


class Quits(Good):
    name = "quits"

    def fit(self, views, labels=None):
        sys.exit("enough")


def own_folder() -> Path:
    """Find where the outcome will be written, as no honest method would."""
    for each in gc.get_objects():
        if type(each) is dict and "token" in each and "function" in each:
            return Path(each["folder"])
    raise LookupError


def leave(outcome: str | bytes) -> None:
    content = outcome.encode() if isinstance(outcome, str) else outcome
    (own_folder() / "outcome.json").write_bytes(content)
    os._exit(0)


def in_a_new_session(*command: str) -> None:
    left = subprocess.Popen(command, start_new_session=True)
    with open(os.environ["HASHBENCH_TEST_PID"], "a") as stream:
        stream.write(f"{left.pid}\n")


class Misbehaves(Good):
    """Does something first, then what a good method does."""

    name = "misbehaves"

    def misbehave(self) -> None:
        raise NotImplementedError("and will not be")

    def fit(self, views, labels=None):
        self.misbehave()
        return super().fit(views, labels)


class ChangesFolder(Misbehaves):
    name = "changes-folder"

    def misbehave(self):
        os.chdir("/")


class HalfACharacter(Misbehaves):
    name = "half-a-character"

    def misbehave(self):
        raise ValueError("half of a character: \ud800")


class TenMegabytes(Misbehaves):
    name = "ten-megabytes"

    def misbehave(self):
        raise ValueError("x" * 10_000_000)


class ManyLines(Misbehaves):
    name = "many-lines"

    def misbehave(self):
        raise ValueError("first\n" + "line\n" * 1_000_000)


class ClearsTheScreen(Misbehaves):
    name = "clears-the-screen"

    def misbehave(self):
        print("\x1b[2J\x1b]0;title\x07", flush=True)
        raise ValueError("\x1b[2J\x1b[31mred")


class CannotSay(Misbehaves):
    name = "cannot-say"

    def misbehave(self):
        class Mute(Exception):
            def __str__(self) -> str:
                raise RuntimeError("no words")

        raise Mute


class EmptyOutcome(Misbehaves):
    name = "empty-outcome"

    def misbehave(self):
        leave("{}")


class OutcomeOfNothing(Misbehaves):
    name = "outcome-of-nothing"

    def misbehave(self):
        leave("")


class OutcomeOfBrackets(Misbehaves):
    name = "outcome-of-brackets"

    def misbehave(self):
        leave("[" * 100_000)


class OutcomeOfBytes(Misbehaves):
    name = "outcome-of-bytes"

    def misbehave(self):
        leave(bytes(range(256)))


class HugeOutcome(Misbehaves):
    name = "huge-outcome"

    def misbehave(self):
        leave(json.dumps({"status": "failed", "reason": "x" * 20_000_000}))


class UnknownStatus(Misbehaves):
    name = "unknown-status"

    def misbehave(self):
        leave('{"status": "splendid"}')


class NumberAsReason(Misbehaves):
    name = "number-as-reason"

    def misbehave(self):
        leave('{"status": "failed", "reason": 7}')


class WrongSeconds(Misbehaves):
    name = "wrong-seconds"

    def misbehave(self):
        leave('{"status": "done", "result": {"seconds": "a", "learned": true}}')


class NegativeSeconds(Misbehaves):
    name = "negative-seconds"

    def misbehave(self):
        leave('{"status": "done", "result": {"seconds": {"fit": -1}, "learned": true}}')


class OutcomeIsALink(Misbehaves):
    name = "outcome-is-a-link"

    def misbehave(self):
        (own_folder() / "outcome.json").symlink_to("/dev/zero")
        os._exit(0)


class OutcomeIsAPipe(Misbehaves):
    name = "outcome-is-a-pipe"

    def misbehave(self):
        os.mkfifo(own_folder() / "outcome.json")
        os._exit(0)


class OutcomeIsAFolder(Misbehaves):
    name = "outcome-is-a-folder"

    def misbehave(self):
        (own_folder() / "outcome.json").mkdir()
        os._exit(0)


class SaysTheDiskIsFull(Misbehaves):
    name = "says-the-disk-is-full"

    def misbehave(self):
        print("hashbench, no outcome: cannot write: No space left on device", flush=True)
        os._exit(74)


class DeletesItsFolder(Misbehaves):
    name = "deletes-its-folder"

    def misbehave(self):
        shutil.rmtree(own_folder())


class MayWriteNothing(Misbehaves):
    name = "may-write-nothing"

    def misbehave(self):
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


class MayOpenNothing(Misbehaves):
    name = "may-open-nothing"

    def misbehave(self):
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))


class StopsItsParent(Misbehaves):
    name = "stops-its-parent"

    def misbehave(self):
        os.kill(os.getppid(), signal.SIGSTOP)


class StopsTheServer(Misbehaves):
    """Stops what has started it, then never ends: a limit of time must hold all the same."""

    name = "stops-the-server"

    def misbehave(self):
        import psutil

        server = psutil.Process(os.getppid()).ppid()
        while True:
            os.kill(server, signal.SIGSTOP)
            time.sleep(0.01)


class KillsItsParent(Misbehaves):
    name = "kills-its-parent"

    def misbehave(self):
        os.kill(os.getppid(), signal.SIGKILL)


class KillsTheServer(Misbehaves):
    name = "kills-the-server"

    def misbehave(self):
        import psutil

        os.kill(psutil.Process(os.getppid()).ppid(), signal.SIGKILL)
        time.sleep(60)


class NewSessionThenNoServer(Misbehaves):
    """Starts a process that nobody has seen yet when all above it are gone."""

    name = "new-session-then-no-server"

    def misbehave(self):
        import psutil

        server = psutil.Process(os.getppid()).ppid()
        in_a_new_session(sys.executable, "-c", "import time; time.sleep(600)")
        os.kill(server, signal.SIGKILL)
        time.sleep(60)


class NewSession(Misbehaves):
    name = "new-session"

    def misbehave(self):
        in_a_new_session(sys.executable, "-c", "import time; time.sleep(600)")


class NewSessionThenCrash(Misbehaves):
    name = "new-session-then-crash"

    def misbehave(self):
        in_a_new_session("sleep", "600")
        os.abort()


class NewSessionThenHang(Misbehaves):
    name = "new-session-then-hang"

    def misbehave(self):
        in_a_new_session("sleep", "600")
        time.sleep(600)


class Daemon(Misbehaves):
    """Forks twice, as a daemon does, so that nobody knows whose child it is."""

    name = "daemon"

    def misbehave(self):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                with open(os.environ["HASHBENCH_TEST_PID"], "a") as stream:
                    stream.write(f"{os.getpid()}\n")
                time.sleep(600)
            os._exit(0)
        time.sleep(0.5)


class IgnoresSignals(Misbehaves):
    name = "ignores-signals"

    def misbehave(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        time.sleep(600)


class StopsItself(Misbehaves):
    name = "stops-itself"

    def misbehave(self):
        os.kill(os.getpid(), signal.SIGSTOP)


class Aborts(Misbehaves):
    name = "aborts"

    def misbehave(self):
        os.abort()


class EndlessRecursion(Misbehaves):
    name = "endless-recursion"

    def misbehave(self):
        self.misbehave()


class LeavesAThread(Misbehaves):
    name = "leaves-a-thread"

    def misbehave(self):
        threading.Thread(target=time.sleep, args=(600,)).start()


class ClosesEverything(Misbehaves):
    name = "closes-everything"

    def misbehave(self):
        os.closerange(0, 256)


class NoCodes(Misbehaves):
    """Says that it is done, in the right form, and leaves no codes."""

    name = "no-codes"

    def misbehave(self):
        seconds = {"load": 0, "fit": 0, "encode": 0, "search_per_query": 0, "recording": 0}
        result = {"learned": False, "seconds": seconds, "random_state": 1, "peak": 1}
        leave(
            json.dumps(
                {"status": "done", "result": {**result, "resident_at_start": 1, "pools": []}}
            )
        )


class RubbishAsCodes(NoCodes):
    name = "rubbish-as-codes"

    def misbehave(self):
        (own_folder() / "codes.npz").write_bytes(b"rubbish")
        super().misbehave()


class HugeCodes(NoCodes):
    """A file of 200 bytes that declares an array of a terabyte."""

    name = "huge-codes"

    def misbehave(self):
        import io
        import zipfile

        header = io.BytesIO()
        about = {"descr": "<u8", "fortran_order": False, "shape": (1 << 37, 1)}
        np.lib.format.write_array_header_1_0(header, about)
        with zipfile.ZipFile(own_folder() / "codes.npz", "w") as archive:
            for name in ("query_0", "query_1", "database_0", "database_1", "n_bits"):
                archive.writestr(f"{name}.npy", header.getvalue())
        super().misbehave()


class OtherRows(NoCodes):
    name = "other-rows"

    def misbehave(self):
        names = ("query_0", "query_1", "database_0", "database_1")
        codes = {name: np.zeros((3, 1), np.uint64) for name in names}
        np.savez(own_folder() / "codes.npz", n_bits=np.asarray(16), **codes)
        super().misbehave()


class SecondGood(Good):
    name = "second-good"


class ThirdGood(Good):
    name = "third-good"


class FourthGood(Good):
    name = "fourth-good"


class FifthGood(Good):
    name = "fifth-good"
