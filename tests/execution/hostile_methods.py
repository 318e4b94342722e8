"""Methods that do everything a method must not do, each in its own way."""

import ctypes
import os
import subprocess
import sys
import time

import numpy as np

from hashbench import DeclinedError
from hashbench.methods.random import Random


class Good(Random):
    """Behaves; the others change one thing about it."""

    name = "good"


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


class Crashes(Good):
    name = "crashes"

    def fit(self, views, labels=None):
        ctypes.string_at(0)


class PrintsForever(Good):
    name = "prints-forever"

    def fit(self, views, labels=None):
        subprocess.run(["yes"], check=False)


class WrongShape(Good):
    name = "wrong-shape"

    def encode(self, X, view):
        return super().encode(X, view)[:, :-1]


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


class ChangesFolder(Good):
    name = "changes-folder"

    def fit(self, views, labels=None):
        os.chdir("/")
        return super().fit(views, labels)


class Daemon(Good):
    """Forks twice into a new session, as a daemon does; its parent does not know it."""

    name = "daemon"

    def fit(self, views, labels=None):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                with open(os.environ["HASHBENCH_TEST_PID"], "a") as stream:
                    stream.write(f"{os.getpid()}\n")
                time.sleep(600)
            os._exit(0)
        time.sleep(0.5)
        return super().fit(views, labels)


class SecondGood(Good):
    name = "second-good"
