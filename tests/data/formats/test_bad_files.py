"""A file that cannot be a dataset gets one line and exit code 2, through the command line."""

import numpy as np
import pytest
import scipy.sparse

from hashbench.cli import main

IMAGE, TEXT = np.random.default_rng(0).random((12, 6)), np.ones((12, 3))
LABELS = np.eye(12, 4) + np.eye(12, 4, -4) + np.eye(12, 4, -8)
GOOD = {"XAll": IMAGE, "YAll": TEXT, "LAll": LABELS}


def with_hole(X, value):
    X = X.copy()
    X[7, 2] = value
    return X


def complaint(path, capsys, brackets=""):
    """Return the only line that ``data describe`` prints; its exit code is 2."""
    with pytest.raises(SystemExit) as stop:
        main(["data", "describe", f"{path}{brackets}"])
    out, err = capsys.readouterr()
    assert stop.value.code == 2
    assert out == ""
    assert err.count("\n") == 1
    return err


#: What is changed in the good file, and what the line must name.
BAD = {
    "mismatched rows": ({"YAll": TEXT[:11]}, ["XAll 12 x 6", "YAll 11 x 3", "LAll 12 x 4"]),
    "mismatched rows of equal width": (
        {"XAll": IMAGE[:, :4], "YAll": LABELS[:11]},
        ["XAll 12 x 4", "YAll 11 x 4", "LAll 12 x 4"],
    ),
    "nan": ({"XAll": with_hole(IMAGE, np.nan)}, ["image", "nan", "row 7, column 2"]),
    "infinity": ({"XAll": with_hole(IMAGE, np.inf)}, ["image", "inf", "row 7, column 2"]),
    "no label columns": ({"LAll": np.empty((12, 0))}, ["LAll", "12 x 0"]),
    "no labels set": ({"LAll": np.zeros((12, 4))}, ["labels", " 0 "]),
    "nan in labels": ({"LAll": with_hole(LABELS, np.nan)}, ["labels", "nan"]),
    "labels that are no labels": ({"LAll": 2 * LABELS}, ["labels", "2.0", "0 and 1"]),
    "fractions of classes": (
        {"LAll": np.linspace(0, 1, 12)[:, None]},
        ["labels", "fractions", "class numbers"],
    ),
    "text": ({"YAll": "a dog on a beach"}, ["YAll", "char"]),
    "a list of texts": ({"YAll": ["a dog", "a cat"] * 20}, ["YAll", "1 x 40 cell"]),
    "pixels": ({"XAll": np.zeros((12, 3, 8, 8))}, ["XAll", "12 x 3 x 8 x 8"]),
    "unknown names": (
        {"LAll": None, "Z": LABELS},
        ["Z (12 x 4 double)", "[image=NAME,text=NAME,labels=NAME]"],
    ),
}


@pytest.mark.parametrize("version", ["v5", "v7.3"])
@pytest.mark.parametrize("case", BAD)
def test_the_line_names_what_is_wrong_in_the_file(write, capsys, case, version):
    changes, facts = BAD[case]
    variables = {k: v for k, v in {**GOOD, **changes}.items() if v is not None}
    line = complaint(write("file.mat", version, variables), capsys)
    assert all(fact in line for fact in ("file.mat", *facts)), line


def test_the_good_file_is_good(write, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["data", "describe", str(write("file.mat", "v5", GOOD))])
    assert stop.value.code == 0
    out = capsys.readouterr().out
    assert "12 rows" in out
    assert "4 classes" in out


@pytest.mark.parametrize("version", ["v5", "v7.3"])
def test_nan_in_a_sparse_view_is_found(write, capsys, version):
    sparse = scipy.sparse.csc_array(with_hole(TEXT, np.nan))
    path = write("f.mat", version, {**GOOD, "YAll": sparse})
    line = complaint(path, capsys)
    assert all(fact in line for fact in ("f.mat", "text", "nan")), line


@pytest.mark.parametrize("row", [0, 13])
def test_a_split_with_rows_outside_the_data_is_refused(write, capsys, row):
    indices = {"ind_train": np.arange(1.0, 9), "ind_test": np.array([9.0, row])}
    struct = {"X1": IMAGE.T, "X2": TEXT.T, "Y": LABELS.T, "split": indices}
    line = complaint(write("f.mat", "v5", {"data": struct}), capsys)
    assert "data.split.ind_test" in line
    assert "1 to 12" in line


def test_unequal_columns_of_the_parts_are_refused(write, capsys):
    variables = {"XTrain": IMAGE, "YTrain": TEXT, "LTrain": LABELS}
    variables |= {"XTest": IMAGE[:, :5], "YTest": TEXT, "LTest": LABELS}
    line = complaint(write("f.mat", "v5", variables), capsys)
    assert "image" in line
    assert "[6, 5] columns" in line


def test_unknown_variables_are_listed_with_shapes(write, capsys):
    said = complaint(write("f.mat", "v5", {"Xv": IMAGE, "Xt": TEXT, "Y": LABELS}), capsys)
    assert "Xv (12 x 6 double), Xt (12 x 3 double), Y (12 x 4 double)" in said


def test_variables_that_a_known_layout_lacks_are_named(write, capsys):
    path = write("f.mat", "v5", {"XTrain": IMAGE, "YTrain": TEXT, "LTrain": LABELS, "XTest": IMAGE})
    line = complaint(path, capsys)
    assert "ALECH" in line
    assert "YTest, LTest" in line
    path = write("g.mat", "v5", {"I_tr": IMAGE, "T_tr": TEXT, "L_tr": LABELS})
    line = complaint(path, capsys)
    assert "SePH" in line
    assert "I_te or V_te, T_te, L_te or L_test" in line


@pytest.mark.parametrize(
    ("brackets", "facts"),
    [
        ("[image=Xv]", ["text, labels", "Xt (12 x 3 double)"]),
        ("[image=Q,text=Xt,labels=Y]", ["image=Q", "'Q'", "Xv (12 x 6 double)"]),
        ("[image=Xv+Xv,text=Xt,labels=Y]", ["image=Xv+Xv", "train+query+database"]),
        ("[pictures=Xv]", ["parameter", "'pictures'", "image, label_fraction"]),
        ("[image=Xv|Xt,text=Xt,labels=Y]", ["grid"]),
    ],
)
def test_named_variables_must_fit(write, capsys, brackets, facts):
    path = write("f.mat", "v5", {"Xv": IMAGE, "Xt": TEXT, "Y": LABELS})
    line = complaint(path, capsys, brackets)
    assert all(fact in line for fact in facts), line


@pytest.mark.parametrize("version", ["v5", "v7.3", "npz"])
@pytest.mark.parametrize("kept", [10, 200, 0.5, 0.9])
def test_a_truncated_file_is_refused(write, capsys, version, kept):
    path = write("f.mat", version, GOOD)
    content = path.read_bytes()
    path.write_bytes(content[: kept if kept > 1 else int(kept * len(content))])
    line = complaint(path, capsys)
    assert "f.mat" in line
    assert ".parquet" in line  # the kinds of files that can be read


def test_a_file_of_another_kind_is_refused(tmp_path, capsys):
    path = tmp_path / "notes.mat"
    path.write_text("these are not the features you are looking for\n" * 40)
    line = complaint(path, capsys)
    assert "notes.mat" in line
    assert ".parquet" in line


def test_objects_are_not_unpickled(write, capsys):
    path = write("f.npz", "npz", {**GOOD, "YAll": np.array([{}] * 12, object)})
    line = complaint(path, capsys)
    assert "YAll" in line
    assert "12 object" in line


def test_a_missing_file_is_refused(tmp_path, capsys):
    assert "none.mat'" in complaint(tmp_path / "none.mat", capsys)


def test_a_folder_without_data_is_refused(tmp_path, capsys):
    line = complaint(tmp_path, capsys)
    assert f"folder '{tmp_path}'" in line
    assert "none" in line


def test_a_name_that_commands_a_terminal_is_shown_as_text(write, capsys):
    path = write("file.npz", "npz", {"\x1b[2J\nX": IMAGE, "YAll": TEXT})
    said = complaint(path, capsys)
    assert "\x1b" not in said
    assert r"\x1b[2J X" in said
