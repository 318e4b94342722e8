"""What tests of the running command share."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import signal
import subprocess
import sys

# Two workers on two cores: more threads would only wait for each other.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # read when numpy is imported

import pytest  # noqa: E402

from hashbench.cli import main  # noqa: E402
from hashbench.execution.cell import Cell  # noqa: E402
from hashbench.plugins.protocol import Protocol  # noqa: E402
from tests.helpers.preloaded_pool import PreloadedPool  # noqa: E402

#: Fixtures that tests of several packages share.
pytest_plugins = ["tests.helpers.hand_made", "tests.helpers.plain_measures"]

# Runs of tests write no page, but for those that are about it.
os.environ["HASHBENCH_REPORT"] = "0"


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Give each worker one half of the suite: what tests of a module share is then made once."""
    if getattr(config.option, "numprocesses", None) and config.option.dist == "no":
        config.option.dist = "worksteal"


@pytest.fixture(scope="session", autouse=True)
def preloaded_pools():
    """Fork the pools of runs in this process from one that has imported everything."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hashbench.execution.local.PoolProcess", PreloadedPool)
        yield


@pytest.fixture
def real_pools(monkeypatch):
    """Start pools as a run of the user does."""
    monkeypatch.setattr("hashbench.execution.local.PoolProcess", PreloadedPool.__base__)


@pytest.fixture(scope="session")
def hashbench():
    """Return a function that runs the command and returns how it ended.

    In this process, as one of its own would spend two seconds on imports; in one of its own if
    it is given variables of the environment, which may be read when modules are imported.
    """

    def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        words = list(map(str, arguments))
        if environment.keys() <= {"HASHBENCH_CACHE", "HASHBENCH_DATA"}:  # read when needed
            return _in_process(words, environment)
        return _in_subprocess(words, environment)

    return run


def _in_subprocess(
    words: list[str], environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hashbench", *words],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **environment},
    )


def _in_process(words: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the command line here, and leave signals and environment as they were."""
    code: object = 0
    handlers = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    before = dict(os.environ)
    os.environ.update(environment)
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main(words)
    except SystemExit as ended:
        code = ended.code
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        os.environ.clear()
        os.environ.update(before)
    assert isinstance(code, int)
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="session")
def make_cell():
    """Return a function that makes a cell of a method and dataset that need not exist."""

    def make(**changes: object) -> Cell:
        fields: dict[str, object] = {
            "dataset": "toy",
            "fingerprint": "f",
            "protocol": "random",
            "split": "s",
            "preprocessing": ("none", "none"),
            "method": "edsh",
            "params": "gamma=1",
            "parameters": {"gamma": 1.0, "kind": None},
            "source": "h",
            "bits": 8,
            "seed": 0,
        }
        values = {**fields, **changes}
        return Cell(**{**values, "protocol": Protocol.parse(values["protocol"])})

    return make


@pytest.fixture
def small_disk(tmp_path):
    """Return a function that mounts a file system of so many kB and returns its folder."""
    mounted = []

    def mount(kilobytes: int):
        place = tmp_path / f"disk-{kilobytes}"
        place.mkdir()
        options = ["-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(place)]
        done = shutil.which("mount") and subprocess.run(["mount", *options], capture_output=True)
        if not done or done.returncode != 0:
            pytest.skip("mounting a small tmpfs needs rights that this user has not")
        mounted.append(place)
        return place

    yield mount
    for place in mounted:
        subprocess.run(["umount", "-l", str(place)], check=True)  # even if a test left a file open
