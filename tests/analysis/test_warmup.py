"""Kernels that are compiled while cells run are those that their evaluation needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hashbench.analysis import warmup
from hashbench.measures import DEFAULT_MEASURES

COMPILE = """
import json, sys
from pathlib import Path
from hashbench.analysis.warmup import compile_all
compile_all(None, Path(), Path(), json.loads(sys.argv[1]))
"""

EVALUATE = """
import json, sys
import numpy as np
from numba.core.dispatcher import Dispatcher
from hashbench.measures import code_statistics, index_order, kernels, ties
from hashbench.measures.inner_product import ScoreRanking
from hashbench.measures.rankings import HammingRanking
from hashbench.analysis.warmup import compiling_task
from hashbench.execution.scoring import scored
from hashbench.execution.score_cache import all_names

asked = json.loads(sys.argv[1])
rng = np.random.default_rng(0)
labels = rng.integers(1, 8, (300, 1), dtype=np.uint64)
codes = rng.integers(0, 2**24, (300, 1), dtype=np.uint64)
vectors = rng.normal(size=(300, 5)).astype(np.float32)
vectors[:100] = vectors[100:200]
scored(HammingRanking(codes[:40], codes, 24, labels[:40], labels), all_names(asked))
scored(ScoreRanking(vectors[:40], vectors, labels[:40], labels), all_names(asked))
code_statistics(codes, 24, labels)
misses = [
    value.py_func.__name__
    for module in (index_order, kernels, ties)
    for value in vars(module).values()
    if isinstance(value, Dispatcher) and sum(value.stats.cache_misses.values())
]
print(json.dumps([misses, compiling_task(asked) is None]))
"""


def run(code, cache):
    environment = {**os.environ, "HASHBENCH_CACHE": str(cache), "NUMBA_NUM_THREADS": "1"}
    command = [sys.executable, "-c", code, json.dumps(DEFAULT_MEASURES)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout


@pytest.mark.slow
def test_an_evaluation_after_it_compiles_nothing(tmp_path):
    run(COMPILE, tmp_path)
    assert json.loads(run(EVALUATE, tmp_path)) == [[], True]


def test_what_was_never_compiled_is_a_task(tmp_path, monkeypatch):
    monkeypatch.setenv("HASHBENCH_CACHE", str(tmp_path))
    task = warmup.compiling_task(["AP"])
    assert task is not None
    assert task.function == "hashbench.analysis.warmup:compile_all"
    assert task.arguments == {"measures": ["AP"]}


def test_only_compiled_kernels_are_loaded_ahead(tmp_path, monkeypatch):
    monkeypatch.setenv("HASHBENCH_CACHE", str(tmp_path))
    (tmp_path / "kernels").mkdir()
    scored = []
    monkeypatch.setattr("hashbench.execution.scoring.scored", lambda *each: scored.append(each))
    monkeypatch.setattr("hashbench.measures.code_statistics", lambda *_: None)
    warmup.load_compiled(["AP"])
    assert scored == []  # it would compile for ten seconds before the first cell
    warmup.compile_all(None, Path(), Path(), ["AP"])
    assert warmup.compiling_task(["AP"]) is None
    scored.clear()
    warmup.load_compiled(["P@5"])  # other measures were not compiled
    assert scored == []
    warmup.load_compiled(["AP"])
    assert len(scored) == 2  # codes and vectors
