"""Codes from elsewhere as a row of a study: accepted only with a proof of whose rows they are."""

import csv
from pathlib import Path

import numpy as np
import pytest
import scipy.io

from hashbench import evaluate
from hashbench.cli import main
from hashbench.execution.cell import random_state
from hashbench.plugins.registry import discover

DATA = "synthetic[rows=120]"


def run(*arguments):
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    return stop.value.code


@pytest.fixture
def split(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("data", "export", DATA, "-s", "0", "-o", "split") == 0
    with np.load("split/synthetic-0.npz") as arrays:
        return dict(arrays)


def codes_of(split, bits=8):
    """Train outside: numpy arrays in, numpy arrays out."""
    rows, views = split["train"], ("image", "text")
    method = discover().methods["edsh"].cls(n_bits=bits, random_state=random_state(0))
    method.fit([split[view][rows] for view in views], split["labels"][rows])
    return {
        f"{part}_{view}": np.where(method.encode(split[view][split[part]], number), 1, -1)
        for part in ("query", "database")
        for number, view in enumerate(views)
    }


def values(out):
    with open(f"{out}/results.csv") as stream:
        rows = [row for row in csv.DictReader(stream) if row["codes"] == "encoded"]
    keys = ("task", "database", "measure", "value")
    return {m: [[r[k] for k in keys] for r in rows if r["method"] == m] for m in ("edsh", "mine")}


def study(out="out"):
    return ("run", "-m", "edsh,mine={dataset}-{bits}-{seed}.npz", "-d", DATA, "-b", "8", "-s", "1",
            "--no-report", "--quiet", "-o", out)  # fmt: skip


def test_the_row_equals_the_same_method_run_inside(split, capsys):
    np.savez("synthetic-8-0.npz", split=split["split"], fit_seconds=1.5, **codes_of(split))
    assert run(*study()) == 0
    assert "mine[external]" in capsys.readouterr().out
    found = values("out")
    assert found["mine"]
    assert found["mine"] == found["edsh"]
    with open("out/runs.csv") as stream:
        times = {row["method"]: row["fit_seconds"] for row in csv.DictReader(stream)}
    assert times["mine"] == "1.5"
    assert run("run", "out/study.toml", "-o", "again", "--no-report", "--quiet") == 0
    assert values("again") == found


def proofs(split):
    labels = {"q_l": split["labels"][split["query"]], "r_l": split["labels"][split["database"]]}
    return {
        "row numbers": {"query": split["query"], "database": split["database"]},
        "row numbers from 1": {
            "query": split["query"] + 1, "database": split["database"] + 1, "first_row": 1,
        },
        "labels": labels,
    }  # fmt: skip


@pytest.mark.parametrize("proof", ["row numbers", "row numbers from 1", "labels"])
def test_other_proofs(split, proof):
    np.savez("synthetic-8-0.npz", **proofs(split)[proof], **codes_of(split))
    assert run(*study()) == 0
    assert_whole_database_is_scored(split)


def assert_whole_database_is_scored(split):
    """Check the scores of codes whose training rows are not known."""
    found = values("out")["mine"]
    assert {database for _, database, *_ in found} == {"all"}
    codes = codes_of(split)
    labels = [split["labels"][split[part]] for part in ("query", "database")]
    for task, _, measure, value in found:
        query, database = task.split("->")
        pair = codes[f"query_{query}"] > 0, codes[f"database_{database}"] > 0
        assert float(value) == pytest.approx(evaluate(*pair, *labels, measure)[measure])


def test_result_files_of_papers_on_clip_features(split):
    codes = codes_of(split)
    names = {"q_img": "query_image", "q_txt": "query_text", "r_img": "database_image",
             "r_txt": "database_text"}  # fmt: skip
    values_ = {short: codes[long] for short, long in names.items()}
    scipy.io.savemat("synthetic-8-0.mat", {**values_, **proofs(split)["labels"]})
    arguments = [each.replace(".npz", ".mat") for each in study()]
    assert run(*arguments) == 0
    assert_whole_database_is_scored(split)
    assert run("evaluate", "synthetic-8-0.mat") == 0


def spoiled(split, case):
    codes, name = codes_of(split), {"split": split["split"]}
    if case == "another split":
        name = {"split": np.asarray("0123456789abcdef")}
    elif case == "no proof":
        name = {}
    elif case == "other rows":
        name = {"query": split["query"][::-1], "database": split["database"]}
    elif case == "other labels":
        name = proofs(split)["labels"] | {"q_l": split["labels"][split["train"]][:30]}
    elif case == "few rows":
        codes["query_image"] = codes["query_image"][1:]
    elif case == "few bits":
        codes["query_image"] = codes["query_image"][:, :5]
    elif case == "one view":
        del codes["query_text"]
    elif case == "real":
        codes["query_image"] = codes["query_image"] * 0.3
    return {**name, **codes}


@pytest.mark.parametrize(
    ("case", "facts"),
    [
        ("another split", ["0123456789abcdef"]),
        ("no proof", ["split", "row numbers", "labels"]),
        ("other rows", ["query rows"]),
        ("other labels", ["other labels"]),
        ("few rows", ["query", "(29, 8)", "(30, 8)"]),
        ("few bits", ["query", "5 columns", "8 bits"]),
        ("one view", ["query_text"]),
        ("real", ["query", "0.3"]),
        ("missing", ["mine"]),
    ],
)
def test_wrong_codes_fail_with_a_reason(split, case, facts):
    if case != "missing":
        np.savez("synthetic-8-0.npz", **spoiled(split, case))
    assert run(*study()) == 1
    with Path("out/runs.csv").open() as stream:
        (reason,) = [row["reason"] for row in csv.DictReader(stream) if row["status"] == "failed"]
    assert all(fact in reason for fact in ("synthetic-8-0.npz", *facts)), reason
    assert not values("out")["mine"]


def test_a_pattern_with_an_unknown_field_is_refused(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("run", "-m", "mine=x/{nbits}.npz", "-d", DATA) == 2
    err = capsys.readouterr().err
    assert "'nbits'" in err
    assert "{dataset}, {bits}, {seed}" in err


def test_evaluate_reads_the_codes_of_a_cell_and_those_of_an_exported_split(split, capsys):
    np.savez("synthetic-8-0.npz", split=split["split"], **codes_of(split))
    assert run(*study()) == 0

    capsys.readouterr()
    for place in Path("out/cells").glob("*/codes.npz"):
        assert run("evaluate", str(place), "--measures", "AP") == 0
        inside = capsys.readouterr().out
        assert all(fact in inside for fact in ("image->text", "30 queries", "90 items", "8 bits"))
    assert run("evaluate", "synthetic-8-0.npz", "--measures", "AP") == 2
    capsys.readouterr()
    arguments = ("--split", "split/synthetic-0.npz", "--measures", "AP")
    assert run("evaluate", "synthetic-8-0.npz", *arguments) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("AP "))
    codes = codes_of(split)
    labels = [split["labels"][split[part]] for part in ("query", "database")]
    first = evaluate(codes["query_image"] > 0, codes["database_text"] > 0, *labels, "AP")["AP"]
    assert f"{first:.4f}" in line.split()


@pytest.mark.parametrize("ending", ["npz", "mat"])
def test_export_and_convert_are_read_back(split, ending, capsys):
    from hashbench.data.formats import load_file

    assert run("data", "convert", f"split/synthetic-0.{ending}", "again.npz") == 0
    first, again = load_file(f"split/synthetic-0.{ending}"), load_file("again.npz")
    assert first.fingerprint == again.fingerprint
    for part in ("train", "query", "database"):
        np.testing.assert_array_equal(again.given[part], split[part])
    assert run("data", "convert", "again.npz", "again.txt") == 2
    assert ".npz, .mat" in capsys.readouterr().err
