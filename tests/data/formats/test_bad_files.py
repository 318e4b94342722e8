"""A file that is not a dataset is an error of one line that names the variable."""

import io
import zipfile

import h5py
import numpy as np
import pytest
import scipy.sparse

from hashbench.cli import main
from hashbench.core.errors import HashbenchError
from hashbench.data.formats.code_variables import find_roles, read_roles
from hashbench.data.formats.variables import Variables

IMAGE, TEXT = np.random.default_rng(0).random((12, 6)), np.ones((12, 3))
LABELS = np.eye(12, 4) + np.eye(12, 4, -4) + np.eye(12, 4, -8)
GOOD = {"XAll": IMAGE, "YAll": TEXT, "LAll": LABELS}


def with_hole(X, value):
    X = X.copy()
    X[7, 2] = value
    return X


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
def test_the_line_names_what_is_wrong_in_the_file(write, refused, case, version):
    changes, facts = BAD[case]
    variables = {k: v for k, v in {**GOOD, **changes}.items() if v is not None}
    line = refused(write("file.mat", version, variables))
    assert all(fact in line for fact in ("file.mat", *facts)), line


def test_the_good_file_is_good(write, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["data", "describe", str(write("file.mat", "v5", GOOD))])
    assert stop.value.code == 0
    out = capsys.readouterr().out
    assert "12 rows" in out
    assert "4 classes" in out


def test_a_bad_file_is_one_line_and_exit_code_2(write, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["data", "describe", str(write("file.mat", "v5", {**GOOD, "LAll": 2 * LABELS}))])
    out, err = capsys.readouterr()
    assert (stop.value.code, out, err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize("version", ["v5", "v7.3"])
def test_nan_in_a_sparse_view_is_found(write, refused, version):
    sparse = scipy.sparse.csc_array(with_hole(TEXT, np.nan))
    path = write("f.mat", version, {**GOOD, "YAll": sparse})
    line = refused(path)
    assert all(fact in line for fact in ("f.mat", "text", "nan")), line


@pytest.mark.parametrize("row", [0, 13])
def test_a_split_with_rows_outside_the_data_is_refused(write, refused, row):
    indices = {"ind_train": np.arange(1.0, 9), "ind_test": np.array([9.0, row])}
    struct = {"X1": IMAGE.T, "X2": TEXT.T, "Y": LABELS.T, "split": indices}
    line = refused(write("f.mat", "v5", {"data": struct}))
    assert "data.split.ind_test" in line
    assert "1 to 12" in line


def test_unequal_columns_of_the_parts_are_refused(write, refused):
    variables = {"XTrain": IMAGE, "YTrain": TEXT, "LTrain": LABELS}
    variables |= {"XTest": IMAGE[:, :5], "YTest": TEXT, "LTest": LABELS}
    line = refused(write("f.mat", "v5", variables))
    assert "image" in line
    assert "[6, 5] columns" in line


def test_unknown_variables_are_listed_with_shapes(write, refused):
    said = refused(write("f.mat", "v5", {"Xv": IMAGE, "Xt": TEXT, "Y": LABELS}))
    assert "Xv (12 x 6 double), Xt (12 x 3 double), Y (12 x 4 double)" in said


def test_variables_that_a_known_layout_lacks_are_named(write, refused):
    path = write("f.mat", "v5", {"XTrain": IMAGE, "YTrain": TEXT, "LTrain": LABELS, "XTest": IMAGE})
    line = refused(path)
    assert "ALECH" in line
    assert "YTest, LTest" in line
    path = write("g.mat", "v5", {"I_tr": IMAGE, "T_tr": TEXT, "L_tr": LABELS})
    line = refused(path)
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
def test_named_variables_must_fit(write, refused, brackets, facts):
    path = write("f.mat", "v5", {"Xv": IMAGE, "Xt": TEXT, "Y": LABELS})
    line = refused(f"{path}{brackets}")
    assert all(fact in line for fact in facts), line


@pytest.mark.parametrize("version", ["v5", "v7.3", "npz"])
@pytest.mark.parametrize("kept", [10, 200, 0.5, 0.9])
def test_a_truncated_file_is_refused(write, refused, version, kept):
    path = write("f.mat", version, GOOD)
    content = path.read_bytes()
    path.write_bytes(content[: kept if kept > 1 else int(kept * len(content))])
    line = refused(path)
    assert "f.mat" in line
    assert ".parquet" in line  # the kinds of files that can be read


def test_a_file_of_another_kind_is_refused(tmp_path, refused):
    path = tmp_path / "notes.mat"
    path.write_text("these are not the features you are looking for\n" * 40)
    line = refused(path)
    assert "notes.mat" in line
    assert ".parquet" in line


def test_objects_are_not_unpickled(write, refused):
    path = write("f.npz", "npz", {**GOOD, "YAll": np.array([{}] * 12, object)})
    line = refused(path)
    assert "YAll" in line
    assert "12 object" in line


def test_a_missing_file_is_refused(tmp_path, refused):
    assert "none.mat'" in refused(tmp_path / "none.mat")


def test_a_folder_without_data_is_refused(tmp_path, refused):
    line = refused(tmp_path)
    assert f"folder '{tmp_path}'" in line
    assert "no data files" in line


def test_a_name_that_commands_a_terminal_is_shown_as_text(write, refused):
    path = write("file.npz", "npz", {"\x1b[2J\nX": IMAGE, "YAll": TEXT})
    said = refused(path)
    assert "\x1b" not in said
    assert r"\x1b[2J X" in said


def declare_in_npz(path):
    np.savez(path, YAll=TEXT, LAll=LABELS)
    header = io.BytesIO()
    about = {"descr": "<f8", "fortran_order": False, "shape": (12, 1 << 37)}
    np.lib.format.write_array_header_1_0(header, about)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("XAll.npy", header.getvalue())


def declare_in_npy(path):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000), }\n"
    start = np.lib.format.magic(1, 0) + len(header).to_bytes(2, "little")
    path.write_bytes(start + header + bytes(64))


def declare_in_hdf5(path):
    with h5py.File(path, "w") as file:
        file["YAll"], file["LAll"] = TEXT, LABELS
        file.create_dataset("XAll", (12, 1 << 37), "f8", chunks=(12, 1 << 16))


def declare_in_matlab(path):
    scipy.io.savemat(path, GOOD)
    shape, declared = (np.array(each, "<i4").tobytes() for each in ([12, 6], [1 << 30, 1 << 30]))
    assert shape in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(shape, declared))


@pytest.mark.parametrize(
    ("name", "write_declared"),
    [
        ("f.npz", declare_in_npz),
        ("f.npy", declare_in_npy),
        ("f.h5", declare_in_hdf5),
        ("f.mat", declare_in_matlab),
    ],
)
def test_terabytes_that_a_header_declares_are_not_allocated(
    tmp_path, refused, name, write_declared
):
    write_declared(tmp_path / name)
    line = refused(tmp_path / name)
    assert name in line
    assert ".parquet" in line


def test_a_sparse_matrix_with_a_row_outside_its_shape_is_refused(write, refused):
    sparse = scipy.sparse.csc_array(TEXT)
    path = write("f.mat", "v5", {**GOOD, "YAll": sparse})
    rows = sparse.indices.astype("<i4").tobytes()
    assert rows in path.read_bytes()
    wrong = rows[:-4] + np.array([9999], "<i4").tobytes()
    path.write_bytes(path.read_bytes().replace(rows, wrong))
    assert "f.mat" in refused(path)


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (LABELS.astype(complex), "complex128"),
        (np.arange(12).astype("datetime64[s]"), "datetime64[s]"),
        (np.zeros(12, [("a", "i4")]), "('a', '<i4')"),
    ],
)
def test_labels_that_are_no_numbers_are_refused(write, refused, labels, kind):
    line = refused(write("f.npz", "npz", {**GOOD, "LAll": labels}))
    assert all(fact in line for fact in ("f.npz", "LAll", kind)), line


def test_labels_that_are_row_numbers_are_refused(write, refused):
    rng = np.random.default_rng(0)
    variables = {"XAll": rng.random((300, 4)), "YAll": rng.random((300, 3))}
    line = refused(write("f.mat", "v5", {**variables, "LAll": np.arange(300.0)[:, None]}))
    assert all(fact in line for fact in ("labels", "300 classes", "300 rows")), line


def test_codes_that_are_no_numbers_are_refused(write):
    codes, labels = np.zeros((4, 8), complex), np.eye(4)
    path = write("f.npz", "npz", {"qB": codes, "rB": codes, "qL": labels, "rL": labels})
    variables = Variables([path])
    with pytest.raises(HashbenchError, match=r"qB.*complex128"):
        read_roles(variables, find_roles(variables, {})[""])
