"""Checks of submitted results: splits, leaks of labels, duplicates."""

import dataclasses
import shutil

import numpy as np
import pandas as pd
import pytest

import hashbench as package
from hashbench.analysis.submission import badge, leaks, review
from hashbench.execution.cell_codes import CellCodes

DATA = "emoji"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    out = tmp_path_factory.mktemp("submitted") / "out"
    methods = ["ridge-labels", "random", "constant"]
    return package.run(methods, DATA, 8, 2, out=out, measures="AP", quiet=True)


@pytest.fixture
def table(study):
    """Return the splits of the archive."""
    cells = [(cell.dataset, cell.seed, cell.split) for cell in study.cells]
    return pd.DataFrame(cells, columns=["dataset", "seed", "split"])


def test_honest_results_pass(study, table):
    assert review(study, table, []) == []


def test_another_split_is_found(study, table):
    changed = table.assign(split=table["split"].where(table["seed"] == 0, "other"))
    found = review(study, changed, [])
    assert {each.kind for each in found} == {"split"}
    assert len(found) == 3


def test_codes_made_from_labels_are_found(study):
    (stored, *_) = [each for each in study.done() if each.cell.method == "random"]
    split, codes = study.split(stored.cell.split), stored.codes()
    assert list(leaks(codes, split)) == []
    cheat = np.unique(split.query_labels, axis=0, return_inverse=True)[1].astype(np.uint64)
    queries = dataclasses.replace(codes, query=(cheat.reshape(-1, 1), codes.query[1]))
    assert [line.split(",")[0] for line in leaks(queries, split)] == ["the codes of queries"]
    database = split.database_labels
    assert len(list(leaks(CellCodes(codes.query, (database, database), (), 8), split))) == 2


def test_codes_of_another_method_are_found(study, table, tmp_path):
    copy = shutil.copytree(study.path, tmp_path / "copy")
    found = review(study.select(methods="random"), table, [package.open(copy)])
    assert [each.kind for each in found] == ["duplicate"] * 2


def test_badges():
    assert badge("external:12ab") == "codes only"
    assert badge("12ab") == "retrained here"


def test_the_command(study, hashbench, tmp_path):
    archive = tmp_path / "archive"
    hashbench("archive", "pack", study.path, "-o", archive, "--edition", "x", "--no-codes")
    assert hashbench("archive", "review", study.path, "--archive", archive).returncode == 0
    words = ("--archive", archive, "--against", study.path)
    done = hashbench("archive", "review", study.path, *words)
    assert done.returncode == 1
    assert done.stderr.count("duplicate") == 6
    assert set(package.archive(archive)["badge"]) == {"retrained here"}
