"""What is compiled once is loaded by every later process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hashbench

CODE = """
import json
import numpy as np
from numba.core.dispatcher import Dispatcher
from hashbench.measures import evaluate, kernels, order_kernels, tie_kernels

codes = np.arange(64).reshape(16, 4) % 3 == 0
labels = np.arange(16) % 3
evaluate(codes[:3], codes, labels[:3], labels, "AP")
hits = misses = 0
for module in (kernels, order_kernels, tie_kernels):
    for value in vars(module).values():
        if isinstance(value, Dispatcher):
            hits += sum(value.stats.cache_hits.values())
            misses += sum(value.stats.cache_misses.values())
print(json.dumps([hits, misses, kernels.__file__]))
"""


def counts(cache, package=None):
    environment = {**os.environ, "HASHBENCH_CACHE": str(cache), "NUMBA_NUM_THREADS": "1"}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    if package is not None:
        environment["PYTHONPATH"] = str(package)
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
        cwd="/",
    )
    *found, place = json.loads(done.stdout)
    assert package is None or Path(place).is_relative_to(package)
    return found


@pytest.fixture
def installed(tmp_path):
    """Return a folder with the package laid out as a regular install has it."""
    harness = Path(hashbench.__file__).parent
    skipped = shutil.ignore_patterns("__pycache__")
    shutil.copytree(harness, tmp_path / "site" / "hashbench", ignore=skipped)
    for folder in ("methods", "datasets", "reports"):
        if (harness.parent / folder).is_dir():  # of an editable install
            target = tmp_path / "site" / "hashbench" / folder
            shutil.copytree(harness.parent / folder, target, ignore=skipped)
    return tmp_path / "site"


def files(folder):
    return {path for path in folder.rglob("*") if path.is_file()}


def test_a_second_process_compiles_nothing(tmp_path):
    first_hits, first_misses = counts(tmp_path)
    assert first_hits == 0
    assert first_misses > 0
    hits, misses = counts(tmp_path)
    assert hits > 0
    assert misses == 0


def test_nothing_is_written_into_a_regular_install(tmp_path, installed):
    before = files(installed)
    assert counts(tmp_path / "cache", installed)[1] > 0
    assert counts(tmp_path / "cache", installed)[1] == 0
    assert files(installed) == before
    assert files(tmp_path / "cache")


def test_a_package_that_cannot_be_written_to_compiles_once_too(tmp_path, installed):
    mount = ["mount", "--bind", "-o", "ro", str(installed), str(installed)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("mounting a folder read-only needs rights that this user has not")
    try:
        with pytest.raises(OSError, match="Read-only"):
            (installed / "new").touch()
        assert counts(tmp_path / "cache", installed)[1] > 0
        assert counts(tmp_path / "cache", installed)[1] == 0
    finally:
        subprocess.run(["umount", str(installed)], check=True)


def test_without_a_place_to_keep_kernels_each_process_compiles(tmp_path, installed):
    (tmp_path / "file").touch()
    before = files(installed)
    for _ in range(2):
        hits, misses = counts(tmp_path / "file" / "cache", installed)
        assert hits == 0
        assert misses > 0
    assert files(installed) == before


THREADS = """
import threading
import numpy as np
from hashbench.base.codes import pack
from hashbench.measures import code_statistics, evaluate

codes = np.random.default_rng(0).random((3000, 6)) < 0.5
labels = np.arange(3000) % 40
words, masks = pack(codes), pack(np.eye(40, dtype=bool)[labels])

def work():
    for _ in range(20):
        code_statistics(words, 6, masks)
        evaluate(codes[:30], codes, labels[:30], labels, "AP")

work()
threads = [threading.Thread(target=work) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""


def test_threads_take_turns():
    # numba's own pool, which is all it has on some machines, aborts the process otherwise
    layer = {"NUMBA_THREADING_LAYER": "workqueue", "NUMBA_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", THREADS], env={**os.environ, **layer}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
