"""Methods that do everything a method must not do, each in its own way."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import time
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
        views, _, rng = self.begin_fit(views, labels)
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
        with open(os.environ["HASHBENCH_TEST_PID"], "w") as stream:
            stream.write(str(left.pid))
        return super().fit(views, labels)


class Quits(Good):
    name = "quits"

    def fit(self, views, labels=None):
        sys.exit("enough")
