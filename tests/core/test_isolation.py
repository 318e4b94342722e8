"""A child process that crashes, hangs, raises or takes all memory gives one line of error."""

import ctypes
import os
import signal
import time

import psutil
import pytest

from hashbench.core import isolation
from hashbench.core.errors import HashbenchError, StorageError


def test_what_a_function_returns_comes_back():
    long = "x" * 1_000_000  # more than a pipe holds at once
    assert isolation.run_in_subprocess(lambda: {"a": [1, None], "b": long}, "it") == {
        "a": [1, None],
        "b": long,
    }


def test_it_runs_in_another_process_and_leaves_none():
    before = set(psutil.Process().children())
    assert isolation.run_in_subprocess(os.getpid, "it") != os.getpid()
    assert set(psutil.Process().children()) == before


def _declared():
    raise HashbenchError("f.mat: found nothing")


def _full():
    raise StorageError("cannot write: No space left on device")


def _large():
    return len(bytearray(psutil.virtual_memory().total))


@pytest.mark.parametrize(
    ("function", "kind", "facts"),
    [
        (_declared, HashbenchError, "^f.mat: found nothing$"),  # as it was raised
        (_full, StorageError, "No space"),  # as it was raised
        (_large, HashbenchError, "f.mat.*memory"),
        (lambda: ctypes.string_at(0), HashbenchError, "f.mat.*SIGSEGV"),
        (lambda: os._exit(3), HashbenchError, r"f.mat.*\b3\b"),
        (lambda: os.kill(os.getpid(), signal.SIGABRT), HashbenchError, "f.mat.*SIGABRT"),
        (lambda: {}["none"], RuntimeError, "^KeyError: 'none'"),
    ],
)
def test_the_error_says_how_the_child_ended(function, kind, facts):
    with pytest.raises(kind, match=facts):
        isolation.run_in_subprocess(function, "f.mat")


def test_a_child_that_hangs_is_ended():
    before = set(psutil.Process().children())
    with pytest.raises(HashbenchError, match=r"f.mat.*500 ms"):
        isolation.run_in_subprocess(lambda: time.sleep(600), "f.mat", seconds=0.5)
    assert set(psutil.Process().children()) == before
