"""``hashbench evaluate``, on files as other people write them."""

import csv
import json

import h5py
import numpy as np
import pytest
import scipy.io
from click.testing import CliRunner

from hashbench.cli import cli
from hashbench.core.errors import HashbenchError
from hashbench.measures import evaluate

NAMES = "AP,edsh,P@5,P(radius=1)"


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
    for count in ("6 queries", "50 items", "12 bits"):
        assert count in table
    score = expected.scores["AP"]
    row = next(line for line in table.splitlines() if line.startswith("AP "))
    assert row.split()[1:] == [f"{x:.4f}" for x in (score.value, *score.bounds, score.chance)]
    row = next(line for line in table.splitlines() if line.startswith("P(radius"))
    assert row.split()[2:] == ["-", "-", "-"]
    assert "collide" in table
    assert max(map(len, table.splitlines())) <= 80


def test_defaults_with_curves(tmp_path, case):
    file = tmp_path / "codes.npz"
    np.savez(file, qB=case[0], rB=case[1], qL=case[2], rL=case[3])
    record = json.loads(run(file, "--json"))
    expected = evaluate(*case)
    assert list(record["measures"]) == list(expected)
    assert list(record["curves"]) == list(expected.curves)
    assert record["curves"]["PR"]["precision"] == expected.curves["PR"].precision.tolist()
    assert record["curves"]["PR(by=radius)"]["radius"] == list(range(13))
    assert "PR, PR(by=radius)" in run(file)


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
    record = json.loads(run(file, "--measures", NAMES, "--per-query", table, "--json"))
    assert record["measures"]["AP"]["n_empty"] == 1
    expected = evaluate(*case, NAMES, per_query=True)
    with table.open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["query"] for row in rows] == [str(q) for q in range(6)]
    assert rows[2]["AP"] == ""
    for name, score in expected.scores.items():
        found = [float(row[name] or "nan") for row in rows]
        np.testing.assert_array_equal(found, score.per_query)


def test_class_numbers_in_a_row_as_matlab_has_them(tmp_path, case):
    file = tmp_path / "codes.mat"
    numbers = np.arange(56) % 4 + 1
    arrays = {"B_te": case[0], "B_tr": case[1], "L_te": numbers[:6], "L_tr": numbers[6:]}
    scipy.io.savemat(file, arrays)  # a list becomes a row
    output = run(file, "--measures", "AP", "--json")
    assert values(output) == dict(evaluate(*case[:2], numbers[:6], numbers[6:], "AP"))


@pytest.mark.parametrize(
    "names",
    [
        ("q_img", "q_txt", "r_img", "r_txt", "q_l", "r_l"),
        ("qu_BI", "qu_BT", "re_BI", "re_BT", "query_L", "retrieval_L"),
        ("qBX", "qBY", "rBX", "rBY", "testL", "trainL"),
        ("BI_te", "BT_te", "B_tr", "B_tr", "L_te", "L_tr"),  # database codes of both views
    ],
)
def test_codes_of_two_views_are_two_tasks(tmp_path, make_case, names):
    image, text = make_case(1, bits=9), make_case(2, bits=9)
    if names[2] == names[3]:
        image = (image[0], text[1], *image[2:])
    arrays = (image[0], text[0], image[1], text[1], *image[2:])
    file, table = tmp_path / "codes.mat", tmp_path / "queries.csv"
    scipy.io.savemat(file, dict(zip(names, arrays, strict=True)))
    expected = {
        "image->text": evaluate(image[0], text[1], *image[2:], NAMES, per_query=True),
        "text->image": evaluate(text[0], image[1], *image[2:], NAMES, per_query=True),
    }
    records = json.loads(run(file, "--measures", NAMES, "--json", "--per-query", table))
    assert list(records) == list(expected)
    for task, record in records.items():
        found = {name: entry["value"] for name, entry in record["measures"].items()}
        assert found == dict(expected[task])
    with table.open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["task"] for row in rows] == ["image->text"] * 7 + ["text->image"] * 7
    for task, result in expected.items():
        found = [float(row["P@5"] or "nan") for row in rows if row["task"] == task]
        np.testing.assert_array_equal(found, result.scores["P@5"].per_query)
    printed = run(file)
    assert f"{names[0]} and {names[3]}" in printed
    assert f"{names[4]} and {names[5]}" in printed


@pytest.mark.parametrize(
    ("arrays", "options", "facts"),
    [
        (["x"], [], ["f.npz", "--query-codes", "x (2 x 2 float64)"]),
        (["qB", "rB"], [], ["--query-labels", "--split", "`hashbench data export`"]),
        (["qB", "B_test"], [], ["--query-codes", "qB", "B_test"]),
        (["codes"], ["--query-codes", "code"], ["f.npz", "'code'", "'codes'"]),
        (["q_img", "q_txt"], [], ["--query-codes", "q_img (", "q_txt ("]),
        (["qB"], ["--measures", "AP@5"], ["'AP@5'", "AP(norm=retrieved)@5", "AP(norm=all)@5"]),
        (["qB"], ["--measures", ""], ["--measures", "''"]),
    ],
)
def test_errors_name_what_is_wrong(tmp_path, arrays, options, facts):
    file = tmp_path / "f.npz"
    np.savez(file, **{name: np.ones((2, 2)) for name in arrays})
    with pytest.raises(HashbenchError) as error:
        run(file, *options)
    assert all(fact in str(error.value) for fact in facts), error.value


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(HashbenchError, match=r"nothing\.npz"):
        run(tmp_path / "nothing.npz")
    with pytest.raises(HashbenchError, match=rf"{tmp_path}.*folder"):
        run(tmp_path)


def test_labels_that_are_text_are_refused(tmp_path, case):
    file = tmp_path / "codes.npz"
    np.savez(file, qB=case[0], dB=case[1], qL=np.array(["a"] * 6), dL=case[3])
    with pytest.raises(HashbenchError, match=r"codes\.npz.*qL.*6 char"):
        run(file)


def test_a_table_of_queries_that_cannot_be_written(tmp_path, case):
    file = tmp_path / "codes.npz"
    np.savez(file, qB=case[0], dB=case[1], qL=case[2], dL=case[3])
    with pytest.raises(HashbenchError, match=r"--per-query.*queries\.csv"):
        run(file, "--per-query", tmp_path / "no" / "queries.csv")
