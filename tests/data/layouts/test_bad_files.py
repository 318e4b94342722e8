"""A file that cannot be a dataset gets one line and exit code 2, through the command line."""

import numpy as np
import pytest
import scipy.sparse

from hashbench.commands import main

IMAGE, TEXT = np.random.default_rng(0).random((12, 6)), np.ones((12, 3))
LABELS = np.eye(12, 4) + np.eye(12, 4, -4) + np.eye(12, 4, -8)
GOOD = {"XAll": IMAGE, "YAll": TEXT, "LAll": LABELS}


def with_hole(X, value):
    X = X.copy()
    X[7, 2] = value
    return X


def complaint(path, capsys, brackets=""):
    with pytest.raises(SystemExit) as stop:
        main(["data", "describe", f"{path}{brackets}"])
    out, err = capsys.readouterr()
    assert stop.value.code == 2
    assert out == ""
    assert err.count("\n") == 1
    return err


BAD = {
    "mismatched rows": ({"YAll": TEXT[:11]}, "same number of rows"),
    "mismatched rows of equal width": (
        {"XAll": IMAGE[:, :4], "YAll": LABELS[:11]},
        "same number of rows",
    ),
    "nan": ({"XAll": with_hole(IMAGE, np.nan)}, "nan in row 7, column 2"),
    "infinity": ({"XAll": with_hole(IMAGE, np.inf)}, "inf in row 7, column 2"),
    "no label columns": ({"LAll": np.empty((12, 0))}, "LAll"),
    "no labels set": ({"LAll": np.zeros((12, 4))}, "at least one row with a label"),
    "nan in labels": ({"LAll": with_hole(LABELS, np.nan)}, "labels: found nan"),
    "labels that are no labels": ({"LAll": 2 * LABELS}, "file.mat: labels: found 2.0; allowed: 0"),
    "fractions of classes": ({"LAll": np.linspace(0, 1, 12)[:, None]}, "whole class numbers"),
    "text": ({"YAll": "a dog on a beach"}, "YAll: found"),
    "a list of texts": ({"YAll": ["a dog", "a cat"] * 20}, "YAll: found"),
    "pixels": ({"XAll": np.zeros((12, 3, 8, 8))}, "XAll: found 12 x 3 x 8 x 8"),
    "unknown names": ({"LAll": None, "Z": LABELS}, "[image=NAME,text=NAME,labels=NAME]"),
}


@pytest.mark.parametrize("version", ["v5", "v7.3"])
@pytest.mark.parametrize("case", BAD)
def test_one_line_and_exit_code_2(write, capsys, case, version):
    changes, said = BAD[case]
    variables = {k: v for k, v in {**GOOD, **changes}.items() if v is not None}
    assert said in complaint(write("file.mat", version, variables), capsys)


def test_the_good_file_is_good(write, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["data", "describe", str(write("file.mat", "v5", GOOD))])
    assert stop.value.code == 0
    assert "12 rows, 4 classes" in capsys.readouterr().out


@pytest.mark.parametrize("version", ["v5", "v7.3"])
def test_nan_in_a_sparse_view(write, capsys, version):
    sparse = scipy.sparse.csc_array(with_hole(TEXT, np.nan))
    path = write("f.mat", version, {**GOOD, "YAll": sparse})
    assert "text, entries that are not zero: found nan" in complaint(path, capsys)


@pytest.mark.parametrize("row", [0, 13])
def test_a_split_with_rows_that_are_not_there(write, capsys, row):
    indices = {"ind_train": np.arange(1.0, 9), "ind_test": np.array([9.0, row])}
    struct = {"X1": IMAGE.T, "X2": TEXT.T, "Y": LABELS.T, "split": indices}
    said = complaint(write("f.mat", "v5", {"data": struct}), capsys)
    assert "data.split.ind_test: allowed: rows from 1 to 12" in said


def test_unequal_columns_of_the_parts(write, capsys):
    variables = {"XTrain": IMAGE, "YTrain": TEXT, "LTrain": LABELS}
    variables |= {"XTest": IMAGE[:, :5], "YTest": TEXT, "LTest": LABELS}
    assert "image: found [6, 5] columns" in complaint(write("f.mat", "v5", variables), capsys)


def test_unknown_variables_are_listed_with_shapes(write, capsys):
    said = complaint(write("f.mat", "v5", {"Xv": IMAGE, "Xt": TEXT, "Y": LABELS}), capsys)
    assert "Xv (12 x 6 double), Xt (12 x 3 double), Y (12 x 4 double)" in said


def test_what_a_known_layout_lacks(write, capsys):
    path = write("f.mat", "v5", {"XTrain": IMAGE, "YTrain": TEXT, "LTrain": LABELS, "XTest": IMAGE})
    assert "; the ALECH layout lacks YTest, LTest; say which" in complaint(path, capsys)
    path = write("g.mat", "v5", {"I_tr": IMAGE, "T_tr": TEXT, "L_tr": LABELS})
    said = complaint(path, capsys)
    assert "; the SePH layout lacks I_te or V_te, T_te, L_te or L_test; say which" in said


@pytest.mark.parametrize(
    ("brackets", "said"),
    [
        ("[image=Xv]", "name text, labels too"),
        ("[image=Q,text=Xt,labels=Y]", "found no 'Q'"),
        ("[image=Xv+Xv,text=Xt,labels=Y]", "one variable for each"),
        ("[pictures=Xv]", "parameter of f.mat 'pictures'"),
        ("[image=Xv|Xt,text=Xt,labels=Y]", "no grid"),
    ],
)
def test_named_variables_must_fit(write, capsys, brackets, said):
    path = write("f.mat", "v5", {"Xv": IMAGE, "Xt": TEXT, "Y": LABELS})
    assert said in complaint(path, capsys, brackets)


@pytest.mark.parametrize("version", ["v5", "v7.3", "npz"])
@pytest.mark.parametrize("kept", [10, 200, 0.5, 0.9])
def test_a_file_that_breaks_off(write, capsys, version, kept):
    path = write("f.mat", version, GOOD)
    content = path.read_bytes()
    path.write_bytes(content[: kept if kept > 1 else int(kept * len(content))])
    assert "f.mat: cannot be read" in complaint(path, capsys)


def test_a_file_of_something_else(tmp_path, capsys):
    path = tmp_path / "notes.mat"
    path.write_text("these are not the features you are looking for\n" * 40)
    assert "notes.mat: cannot be read" in complaint(path, capsys)


def test_objects_are_not_unpickled(write, capsys):
    path = write("f.npz", "npz", {**GOOD, "YAll": np.array([{}] * 12, object)})
    assert "YAll: found 12 object" in complaint(path, capsys)


def test_no_file(tmp_path, capsys):
    assert "no file or folder" in complaint(tmp_path / "none.mat", capsys)


def test_a_folder_without_data(tmp_path, capsys):
    assert "found none" in complaint(tmp_path, capsys)


def test_a_name_that_commands_a_terminal_is_shown_as_text(write, capsys):
    path = write("file.npz", "npz", {"\x1b[2J\nX": IMAGE, "YAll": TEXT})
    said = complaint(path, capsys)
    assert "\x1b" not in said
    assert r"\x1b[2J X" in said
