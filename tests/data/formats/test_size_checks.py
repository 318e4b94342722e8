"""What a file declares is compared with what it holds before anything is allocated."""

import io
import zipfile

import h5py
import numpy as np
import pytest
import scipy.io
import scipy.sparse

from hashbench.core.errors import HashbenchError
from hashbench.data.formats import load_file
from hashbench.data.formats.code_variables import find_roles, read_roles
from hashbench.data.formats.variables import Variables

IMAGE, TEXT = np.random.default_rng(0).random((12, 6)), np.ones((12, 3))
LABELS = np.eye(12, 4) + np.eye(12, 4, -4) + np.eye(12, 4, -8)
GOOD = {"XAll": IMAGE, "YAll": TEXT, "LAll": LABELS}


def refused(path) -> str:
    """Return the one line of the error of a file that cannot be loaded."""
    with pytest.raises(HashbenchError) as error:
        load_file(path)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_header_of_npz_that_declares_a_terabyte_is_refused(write):
    path = write("f.npz", "npz", {"YAll": TEXT, "LAll": LABELS})
    header = io.BytesIO()
    about = {"descr": "<f8", "fortran_order": False, "shape": (12, 1 << 37)}
    np.lib.format.write_array_header_1_0(header, about)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("XAll.npy", header.getvalue())
    said = refused(path)
    assert all(fact in said for fact in ("f.npz", "XAll", "13194139533312", " 0")), said


def test_a_header_of_npy_that_declares_a_terabyte_is_refused(tmp_path):
    content = np.lib.format.magic(1, 0)
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000), }\n"
    path = tmp_path / "image.npy"
    path.write_bytes(content + len(header).to_bytes(2, "little") + header + bytes(64))
    said = refused(path)
    assert all(fact in said for fact in ("image.npy", "8000000000000", str(path.stat().st_size))), (
        said
    )


@pytest.mark.parametrize("chunks", [None, (12, 1 << 16)])
def test_a_dataset_of_hdf5_that_was_never_written_is_refused(tmp_path, chunks):
    path = tmp_path / "f.h5"
    with h5py.File(path, "w") as file:
        file["YAll"], file["LAll"] = TEXT, LABELS
        file.create_dataset("XAll", (12, 1 << 37), "f8", chunks=chunks)
    said = refused(path)
    assert all(fact in said for fact in ("f.h5", "XAll", "12.0 TB", " 0 B")), said


def test_links_of_hdf5_to_other_files_are_refused(write, tmp_path):
    other = write("other.h5", "h5", GOOD)
    path = tmp_path / "f.h5"
    with h5py.File(path, "w") as file:
        file["YAll"], file["LAll"] = TEXT, LABELS
        file["XAll"] = h5py.ExternalLink(str(other), "/XAll")
    said = refused(path)
    assert all(fact in said for fact in ("f.h5", "XAll", "link")), said


def test_data_of_hdf5_in_other_files_are_refused(tmp_path):
    path = tmp_path / "f.h5"
    with h5py.File(path, "w") as file:
        file["YAll"], file["LAll"] = TEXT, LABELS
        raw = [(str(tmp_path / "raw"), 0, h5py.h5f.UNLIMITED)]
        file.create_dataset("XAll", (12, 6), "f8", external=raw)
    said = refused(path)
    assert all(fact in said for fact in ("f.h5", "XAll", "another file")), said


def test_a_group_of_hdf5_that_holds_itself_is_refused(tmp_path):
    path = tmp_path / "f.h5"
    with h5py.File(path, "w") as file:
        file.create_group("a")["a"] = file["a"] if "a" in file else file["/"]
    said = refused(path)
    assert "f.h5" in said
    assert ".parquet" in said  # the kinds of files that can be read


def test_a_sparse_matrix_with_a_row_outside_its_shape_is_refused(write):
    sparse = scipy.sparse.csc_array(TEXT)
    path = write("f.mat", "v5", {**GOOD, "YAll": sparse})
    content = path.read_bytes()
    rows = sparse.indices.astype("<i4").tobytes()
    assert rows in content
    wrong = rows[:-4] + np.array([9999], "<i4").tobytes()
    path.write_bytes(content.replace(rows, wrong))
    said = refused(path)
    assert "f.mat" in said
    assert ".parquet" in said


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (LABELS.astype(complex), "complex128"),
        (np.arange(12).astype("datetime64[s]"), "datetime64[s]"),
        (np.zeros(12, [("a", "i4")]), "('a', '<i4')"),
    ],
)
def test_labels_that_are_no_numbers_are_refused(write, labels, kind):
    said = refused(write("f.npz", "npz", {**GOOD, "LAll": labels}))
    assert all(fact in said for fact in ("f.npz", "LAll", kind)), said


def test_labels_that_are_row_numbers_are_refused(write):
    rng = np.random.default_rng(0)
    variables = {"XAll": rng.random((300, 4)), "YAll": rng.random((300, 3))}
    path = write("f.mat", "v5", {**variables, "LAll": np.arange(300.0)[:, None]})
    said = refused(path)
    assert all(fact in said for fact in ("labels", "300 classes", "300 rows")), said


def test_codes_that_are_no_numbers_are_refused(write):
    codes = np.zeros((4, 8), complex)
    labels = np.eye(4)
    path = write("f.npz", "npz", {"qB": codes, "rB": codes, "qL": labels, "rL": labels})
    variables = Variables([path])
    with pytest.raises(HashbenchError, match=r"qB.*complex128"):
        read_roles(variables, find_roles(variables, {})[""])


def test_a_matlab_file_that_declares_more_than_it_holds_is_refused(tmp_path):
    path = tmp_path / "f.mat"
    scipy.io.savemat(path, GOOD)
    content = path.read_bytes()
    shape = np.array([12, 6], "<i4").tobytes()
    assert shape in content
    path.write_bytes(content.replace(shape, np.array([1 << 30, 1 << 30], "<i4").tobytes()))
    said = refused(path)
    assert all(fact in said for fact in ("f.mat", "XAll", "TB", "1.5 kB")), said
