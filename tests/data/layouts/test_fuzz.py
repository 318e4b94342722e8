"""Damaged files: a line or accepted; never a traceback, a crash that is not contained, a hang."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import fuzz
import numpy as np
import pytest
import scipy.sparse

from hashbench.executors import Limits, Task
from hashbench.executors.local import LocalExecutor

RNG = np.random.default_rng(0)
IMAGE, TEXT = RNG.random((12, 6)), np.ones((12, 3))
LABELS = np.eye(12, 4) + np.eye(12, 4, -4) + np.eye(12, 4, -8)
GOOD = {"XAll": IMAGE, "YAll": TEXT, "LAll": LABELS}
SPARSE = {**GOOD, "YAll": scipy.sparse.csc_array(TEXT)}
CELLS = {"X": [IMAGE, TEXT], "y": np.arange(12.0)[:, None] % 4}

SEEDS = {
    "v5": ("v5", "f.mat", GOOD),
    "v5 sparse": ("v5", "f.mat", SPARSE),
    "v5 cells": ("v5", "f.mat", CELLS),
    "v7.3": ("v7.3", "f.mat", GOOD),
    "v7.3 sparse": ("v7.3", "f.mat", SPARSE),
    "v7.3 cells": ("v7.3", "f.mat", CELLS),
    "h5": ("h5", "f.h5", GOOD),
    "npz": ("npz", "f.npz", GOOD),
}

#: Mutants a format: a small part in the suite, 20,000 over all formats behind `slow`.
FEW, MANY = 25, 2500
TOGETHER = 25  # read by one child, one after the other


def fuzzed(write, tmp_path, case: str, count: int) -> Counter[str]:
    version, name, variables = SEEDS[case]
    content = write(name, version, variables).read_bytes()
    folder = tmp_path / "mutants"
    folder.mkdir()
    paths = []
    for k, mutant in enumerate(fuzz.mutants(content, count, seed=len(case))):
        paths.append(folder / f"{k}-{name}")
        paths[-1].write_bytes(mutant)
    executor = LocalExecutor(1, Limits(), [], tmp_path / "cache")
    counts: Counter[str] = Counter()
    left = list(map(str, paths))
    try:
        while left:
            part = left[:TOGETHER]
            limits = Limits(timeout=60, memory=1 << 30)
            task = Task("fuzz:read", {"paths": part}, case, limits=limits)
            *_, event = executor.run([task], tmp_path / "work")
            outcome = event.outcome
            if outcome.status == "done":
                said = list(outcome.result["said"].values())
                assert not [each for each in said if each not in ("accepted", "line")]
                counts.update(said)
                left = left[TOGETHER:]
                continue
            # A crash of the reader stays in its child; what was read before it is read again.
            assert outcome.status == "failed", outcome
            assert "was killed by" in outcome.reason, outcome
            culprit = (outcome.folder / "at").read_text()
            counts["contained"] += 1
            left.remove(culprit)
    finally:
        executor.close()
    return counts


@pytest.fixture(autouse=True)
def findable(monkeypatch):
    """The server imports the driver by its name."""
    paths = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))


@pytest.mark.parametrize("case", SEEDS)
def test_a_damaged_file_is_a_line_or_accepted(write, tmp_path, case):
    assert fuzzed(write, tmp_path, case, FEW).total() == FEW


@pytest.mark.slow
@pytest.mark.parametrize("case", SEEDS)
def test_twenty_thousand_damaged_files(write, tmp_path, case):
    counts = fuzzed(write, tmp_path, case, MANY)
    print(f"{case}: {dict(counts)}")
    assert counts.total() == MANY
