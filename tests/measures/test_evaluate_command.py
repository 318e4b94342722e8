"""``hashbench evaluate``, on files as other people write them."""

from __future__ import annotations

import csv
import json

import h5py
import numpy as np
import pytest
import scipy.io
from click.testing import CliRunner

from hashbench.commands import cli
from hashbench.errors import HashbenchError
from hashbench.measures import evaluate

NAMES = "AP,edsh,P@5,lookup(radius=1)"


@pytest.fixture
def case(make_case):
    return make_case(3, n_queries=6, n_database=50, bits=12)


def run(*arguments):
    return (
        CliRunner().invoke(cli, ["evaluate", *map(str, arguments)], catch_exceptions=False).output
    )


def values(output):
    return {name: entry["value"] for name, entry in json.loads(output)["measures"].items()}


def test_an_npz_under_our_names(tmp_path, case):
    file = tmp_path / "codes.npz"
    roles = ("query_codes", "database_codes", "query_labels", "database_labels")
    np.savez(file, **dict(zip(roles, case, strict=True)))
    expected = evaluate(*case, NAMES, bounds=True, chance=True)
    assert values(run(file, "--measures", NAMES, "--json")) == dict(expected)

    table = run(file, "--measures", NAMES)
    assert "6 queries, 50 items, 12 bits" in table
    score = expected.scores["AP"]
    row = next(line for line in table.splitlines() if line.startswith("AP "))
    assert row.split()[1:] == [f"{x:.4f}" for x in (score.value, *score.bounds, score.chance)]
    row = next(line for line in table.splitlines() if line.startswith("lookup"))
    assert row.split()[2:] == ["-", "-", "-"]
    assert "pairs collide" in table


def test_defaults_with_curves(tmp_path, case):
    file = tmp_path / "codes.npz"
    np.savez(file, qB=case[0], rB=case[1], qL=case[2], rL=case[3])
    record = json.loads(run(file, "--json"))
    expected = evaluate(*case)
    assert list(record["measures"]) == list(expected)
    assert list(record["curves"]) == list(expected.curves)
    assert record["curves"]["PR"]["precision"] == expected.curves["PR"].precision.tolist()
    assert record["curves"]["PR(by=radius)"]["radius"] == list(range(13))
    assert "curves, with --json: PR, PR(by=radius)" in run(file)


@pytest.mark.parametrize("version", ["v5", "v7.3"])
def test_matlab_files_with_signs_and_other_names(tmp_path, case, version):
    file = tmp_path / "codes.mat"
    signs = [np.where(codes, 1.0, -1.0) for codes in case[:2]]
    arrays = {
        "qBX": signs[0],
        "rBY": signs[1],
        "testL": case[2].astype(float),
        "trainL": case[3].astype(float),
    }
    if version == "v5":
        scipy.io.savemat(file, arrays)
    else:
        with h5py.File(file, "w", userblock_size=512) as stream:
            for name, array in arrays.items():
                stream[name] = array.T  # MATLAB stores columns first
                stream[name].attrs["MATLAB_class"] = np.bytes_("double")
    options = ["--query-codes", "qBX", "--database-codes", "rBY"]
    options += ["--query-labels", "testL", "--database-labels", "trainL"]
    output = run(file, *options, "--measures", NAMES, "--json")
    assert values(output) == dict(evaluate(*case, NAMES))


def test_packed_bytes_and_class_numbers(tmp_path, case):
    file = tmp_path / "packed.mat"
    numbers = np.arange(56) % 4 + 1
    packed = {"B_te": np.packbits(case[0], axis=1), "B_tr": np.packbits(case[1], axis=1)}
    scipy.io.savemat(file, {**packed, "L_te": numbers[:6, None], "L_tr": numbers[6:, None]})
    output = run(file, "-b", 12, "--measures", "AP", "--json")
    assert values(output) == dict(evaluate(*case[:2], numbers[:6], numbers[6:], "AP"))


def test_values_of_all_queries(tmp_path, case):
    file, table = tmp_path / "codes.npz", tmp_path / "queries.csv"
    case[2][:, 0] = True
    case[2][2] = False  # a query without a relevant item
    np.savez(file, qB=case[0], dB=case[1], qL=case[2], dL=case[3])
    output = run(file, "--measures", NAMES, "--per-query", table)
    assert "queries without a relevant item: 1" in output
    expected = evaluate(*case, NAMES, per_query=True)
    with table.open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["query"] for row in rows] == [str(q) for q in range(6)]
    assert rows[2]["AP"] == ""
    for name, score in expected.scores.items():
        found = [float(row[name] or "nan") for row in rows]
        np.testing.assert_array_equal(found, score.per_query)


@pytest.mark.parametrize(
    ("arrays", "options", "message"),
    [
        ({"x": 1}, [], r"found no variable for the query-codes; say which with --query-codes"),
        ({"qB": 1, "B_test": 1}, [], "found qB and B_test for the query-codes"),
        ({"codes": 1}, ["--query-codes", "code"], "unknown variable in f.npz 'code'; did you mean"),
        ({"qB": 1}, ["--measures", "mAP"], "unknown measure 'mAP'"),
    ],
)
def test_errors_name_what_is_wrong(tmp_path, arrays, options, message):
    file = tmp_path / "f.npz"
    np.savez(file, **{name: np.ones((2, 2)) for name in arrays})
    with pytest.raises(HashbenchError, match=message):
        run(file, *options)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(HashbenchError, match="does not exist"):
        run(tmp_path / "nothing.npz")
