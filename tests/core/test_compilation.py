"""What is compiled once is loaded by every later process, and nothing is written elsewhere."""

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
from hashbench.measures import evaluate, index_order, kernels, ties

codes = np.arange(64).reshape(16, 4) % 3 == 0
labels = np.arange(16) % 3
evaluate(codes[:3], codes, labels[:3], labels, "AP")
hits = misses = 0
for module in (index_order, kernels, ties):
    for value in vars(module).values():
        if isinstance(value, Dispatcher):
            hits += sum(value.stats.cache_hits.values())
            misses += sum(value.stats.cache_misses.values())
print(json.dumps([hits, misses, kernels.__file__]))
"""


def counts(cache, package):
    """Return how many kernels a process loads and how many it compiles."""
    environment = {**os.environ, "HASHBENCH_CACHE": str(cache), "NUMBA_NUM_THREADS": "1"}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(package)}
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
        cwd="/",
    )
    *found, place = json.loads(done.stdout)
    assert Path(place).is_relative_to(package)
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


def test_kernels_are_compiled_once_and_kept_in_the_cache_alone(tmp_path, installed):
    before = files(installed)
    hits, misses = counts(tmp_path / "cache", installed)
    assert hits == 0
    assert misses > 0
    hits, misses = counts(tmp_path / "cache", installed)
    assert hits > 0
    assert misses == 0
    assert files(installed) == before
    assert files(tmp_path / "cache")


@pytest.mark.slow
def test_without_a_place_to_keep_kernels_each_process_compiles(tmp_path, installed):
    (tmp_path / "file").touch()
    before = files(installed)
    for _ in range(2):
        hits, misses = counts(tmp_path / "file" / "cache", installed)
        assert hits == 0
        assert misses > 0
    assert files(installed) == before
