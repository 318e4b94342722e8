"""A child that crashes, hangs, raises or takes all memory: one line, and nothing left behind."""

import ctypes
import os
import signal
import time

import psutil
import pytest

from hashbench.base import apart
from hashbench.base.errors import HashbenchError, StorageError


def test_what_a_function_returns_comes_back():
    long = "x" * 1_000_000  # more than a pipe holds at once
    assert apart.call(lambda: {"a": [1, None], "b": long}, "it") == {"a": [1, None], "b": long}


def test_it_runs_in_another_process_and_leaves_none():
    before = set(psutil.Process().children())
    assert apart.call(os.getpid, "it") != os.getpid()
    assert set(psutil.Process().children()) == before


def _declared():
    raise HashbenchError("f.mat: found nothing")


def _full():
    raise StorageError("cannot write: No space left on device")


def _large():
    return len(bytearray(psutil.virtual_memory().total))


@pytest.mark.parametrize(
    ("function", "kind", "text"),
    [
        (_declared, HashbenchError, "^f.mat: found nothing$"),
        (_full, StorageError, "No space"),
        (_large, HashbenchError, "^f.mat: takes more memory than there is$"),
        (
            lambda: ctypes.string_at(0),
            HashbenchError,
            r"^f.mat: .* process \(SIGSEGV\)",
        ),
        (lambda: os._exit(3), HashbenchError, r"exit code 3"),
        (lambda: os.kill(os.getpid(), signal.SIGABRT), HashbenchError, "SIGABRT"),
        (lambda: {}["none"], RuntimeError, "^KeyError: 'none'"),
    ],
)
def test_however_it_ends_there_is_a_line(function, kind, text):
    with pytest.raises(kind, match=text):
        apart.call(function, "f.mat")


def test_one_that_hangs_is_given_up():
    with pytest.raises(HashbenchError, match="longer than 500 ms"):
        apart.call(lambda: time.sleep(600), "f.mat", seconds=0.5)
    assert not psutil.Process().children()
