"""Damaged files: a line or accepted; never a traceback, a crash that is not contained, a hang."""

from __future__ import annotations

import importlib
import json
import pickle
import sys
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse

from hashbench.core import isolation
from hashbench.core.errors import HashbenchError
from hashbench.plugins.registry import KINDS
from tests.helpers import data_files, fuzz

RNG = np.random.default_rng(0)
IMAGE, TEXT = RNG.random((12, 6)), np.ones((12, 3))
LABELS = np.eye(12, 4) + np.eye(12, 4, -4) + np.eye(12, 4, -8)
GOOD = {"XAll": IMAGE, "YAll": TEXT, "LAll": LABELS}
SPARSE = {**GOOD, "YAll": scipy.sparse.csc_array(TEXT)}
CELLS = {"X": [IMAGE, TEXT], "y": np.arange(12.0)[:, None] % 4}
OWN = {"image": IMAGE, "text": TEXT, "labels": LABELS}
CODES = {
    "query_codes": IMAGE[:4] > 0.5, "database_codes": IMAGE > 0.4,
    "query_labels": LABELS[:4], "database_labels": LABELS,
}  # fmt: skip


def write_csv(path, table):
    pd.DataFrame(table, columns=[f"c{k}" for k in range(table.shape[1])]).to_csv(path, index=False)


def write_text(path, table):
    np.savetxt(path, table, delimiter="\t")


def write_words(path, table):
    path.write_text("label\n" + "".join(f"kind {k}\n" for k in table.argmax(axis=1)))


def write_pieces(path, table):
    pieces = np.empty(2, object)
    pieces[:] = [table[:5], table[5:]]
    np.save(path, pieces)


def write_numbers(path, table):
    pd.DataFrame(table).rename(columns=str).to_parquet(path)


def write_vectors(path, variables):
    pd.DataFrame({name: list(value) for name, value in variables.items()}).to_parquet(path)


def write_pickle(path, variables):
    path.write_bytes(pickle.dumps(variables))


def write_v4(path, variables):
    scipy.io.savemat(path, variables, format="4")


#: A file with everything: its name, who writes it, what is in it.
WHOLE = {
    "v4": ("f.mat", write_v4, GOOD),
    "v5": ("f.mat", data_files.write_v5, GOOD),
    "v5 sparse": ("f.mat", data_files.write_v5, SPARSE),
    "v5 cells": ("f.mat", data_files.write_v5, CELLS),
    "v7.3": ("f.mat", data_files.write_v73, GOOD),
    "v7.3 sparse": ("f.mat", data_files.write_v73, SPARSE),
    "v7.3 cells": ("f.mat", data_files.write_v73, CELLS),
    "h5": ("f.h5", data_files.write_plain_hdf5, GOOD),
    "npz": ("f.npz", data_files.write_npz, GOOD),
    "pickle": ("f.pkl", write_pickle, GOOD),
    "parquet": ("f.parquet", write_vectors, OWN),
    "codes": ("codes.npz", data_files.write_npz, CODES),
    "v5 codes": ("codes.mat", data_files.write_v5, CODES),
}
#: A file with one matrix, beside whole ones: its role, its name, who writes it.
ROLES = {
    "npy": ("image", "f.npy", np.save),
    "npy of pieces": ("image", "f.npy", write_pieces),
    "csv": ("image", "f.csv", write_csv),
    "tsv": ("text", "f.tsv", write_text),
    "words": ("labels", "f.txt", write_words),
    "parquet of numbers": ("text", "f.parquet", write_numbers),
}

CASES = [*WHOLE, *ROLES]
CODES_FILES = ("codes", "v5 codes")

#: Mutants a format, and of each file of results: 20,000 in all behind `slow`. The suite has the
#: last of a few of each format; its part for results is in tests/cli/test_verify.py.
FEW, MANY, MANY_CODES, MANY_KEPT = 2, 1150, 100, 25


def commands(tmp_path, case, count) -> list[list[str]]:
    """Write mutants; return how each is typed."""
    folder = tmp_path / case.replace(" ", "-")
    folder.mkdir()
    if case in WHOLE:
        name, write, content = WHOLE[case]
        typed = "{}"
    else:
        role, name, write = ROLES[case]
        content = OWN[role]
        typed = "f=" + ",".join(
            f"{each}:" + ("{}" if each == role else str(folder / f"{each}.npy")) for each in OWN
        )
        for each in OWN:
            np.save(folder / f"{each}.npy", OWN[each])
    write(folder / name, content)
    whole = (folder / name).read_bytes()
    words = ["evaluate"] if case in CODES_FILES else ["data", "describe"]
    found = [[*words, typed.format(folder / name)]]
    for k, mutant in enumerate(fuzz.mutants(whole, count, seed=len(case))):
        path = folder / f"{k}-{name}"
        path.write_bytes(mutant)
        found.append([*words, typed.format(path)])
    return found


def counted(function, items, together) -> Counter[str]:
    """Hand items to children, some to each; return how many came to what, all of it allowed.

    Here nothing is evaluated: a child of a process whose kernels have run could run none.
    """
    counts: Counter[str] = Counter()
    for start in range(0, len(items), together):
        part = items[start : start + together]
        try:
            said = isolation.run_in_subprocess(lambda part=part: function(part), "mutants", 300)
        except HashbenchError:
            if function is not fuzz.load:
                raise
            # A reader crashed, where commands have a child for it: these have to live.
            said = isolation.run_in_subprocess(lambda part=part: fuzz.read(part), "mutants", 300)
        pairs = zip(part, said, strict=True)
        wrong = {str(each): how for each, how in pairs if how not in fuzz.ALLOWED}
        assert not wrong, wrong
        counts.update(said)
    return counts


def have_imported(function) -> None:
    """Import here what a function needs, and find installed plugins, so that no child has to."""
    for kind in KINDS:
        fuzz.entry_points(group=f"hashbench.{kind}")
    for name in isolation.run_in_subprocess(
        lambda: (function(), sorted(sys.modules))[1], "a whole file"
    ):
        if name not in sys.modules and name.startswith(("hashbench.", "numba.", "matplotlib.")):
            importlib.import_module(name)


def test_damaged_files_are_lines_or_accepted(tmp_path):
    typed = [commands(tmp_path, case, FEW)[-1] for case in CASES if case not in CODES_FILES]
    assert counted(fuzz.load, typed, len(typed)).total() == len(typed)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_many_damaged_files(tmp_path, case):
    codes = case in CODES_FILES
    whole, *typed = commands(tmp_path, case, MANY_CODES if codes else MANY)
    have_imported(lambda: fuzz.read([whole]))
    counts = counted(fuzz.read if codes else fuzz.load, typed, 50)
    print(f"{case}: {dict(counts)}")
    assert counts.total() == len(typed)


#: One file of every kind in a folder of results.
KEPT = (
    "plan.json", "study.toml", "cells/*/cell.json", "cells/*/codes.npz",
    "cells/*/history.npz", "splits/{}.npz", ".evaluated/*.json", ".evaluated/*.npz",
    "trials/*.jsonl",
)  # fmt: skip


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A small study with a search, untouched."""
    out = tmp_path_factory.mktemp("fuzz") / "out"
    words = ["run", "-m", "cca,dch", "-d", "synthetic[rows=120,query=20]", "-b", "8", "-s", "1"]
    words += ["--tune", "2", "--quiet", "--no-report", "-o", str(out)]
    code, _, err = isolation.run_in_subprocess(lambda: fuzz.typed(words), "a run")
    assert code == 0, err
    return out


def damaged(results, tmp_path, pattern, count) -> Counter[str]:
    used = json.loads(sorted(results.glob("cells/*/cell.json"))[0].read_text())["cell"]["split"]
    place = sorted(results.glob(pattern.format(used)))[0]
    name = str(place.relative_to(results))
    contents = list(fuzz.mutants(place.read_bytes(), count, seed=len(pattern)))
    return counted(lambda part: fuzz.style(results, name, part, tmp_path), contents, 100)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", KEPT)
def test_many_damaged_results(results, tmp_path, pattern):
    have_imported(lambda: fuzz.numbers(results))
    counts = damaged(results, tmp_path, pattern, MANY_KEPT)
    print(f"{pattern}: {dict(counts)}")
    assert counts.total() == MANY_KEPT
