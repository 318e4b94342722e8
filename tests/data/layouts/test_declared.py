"""What a file declares is compared with what it holds before anything is allocated."""

import io
import zipfile

import h5py
import numpy as np
import pytest
import scipy.io
import scipy.sparse

from hashbench.base.errors import HashbenchError
from hashbench.data.layouts import load_file
from hashbench.data.layouts.code_files import find_roles, read_roles
from hashbench.data.layouts.variables import Variables

IMAGE, TEXT = np.random.default_rng(0).random((12, 6)), np.ones((12, 3))
LABELS = np.eye(12, 4) + np.eye(12, 4, -4) + np.eye(12, 4, -8)
GOOD = {"XAll": IMAGE, "YAll": TEXT, "LAll": LABELS}


def refused(path) -> str:
    with pytest.raises(HashbenchError) as error:
        load_file(path)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_header_of_npz_that_declares_a_terabyte(write):
    path = write("f.npz", "npz", {"YAll": TEXT, "LAll": LABELS})
    header = io.BytesIO()
    about = {"descr": "<f8", "fortran_order": False, "shape": (12, 1 << 37)}
    np.lib.format.write_array_header_1_0(header, about)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("XAll.npy", header.getvalue())
    assert "XAll declares 13194139533312 bytes, the file holds 0" in refused(path)


def test_a_header_of_npy_that_declares_a_terabyte(tmp_path):
    content = np.lib.format.magic(1, 0)
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000), }\n"
    path = tmp_path / "image.npy"
    path.write_bytes(content + len(header).to_bytes(2, "little") + header + bytes(64))
    assert "image declares 8000000000000 bytes, the file holds" in refused(path)


@pytest.mark.parametrize("chunks", [None, (12, 1 << 16)])
def test_a_dataset_of_hdf5_that_was_never_written(tmp_path, chunks):
    path = tmp_path / "f.h5"
    with h5py.File(path, "w") as file:
        file["YAll"], file["LAll"] = TEXT, LABELS
        file.create_dataset("XAll", (12, 1 << 37), "f8", chunks=chunks)
    assert "XAll declares 12.0 TB, the file has 0 B" in refused(path)


def test_links_of_hdf5_to_other_files(write, tmp_path):
    other = write("other.h5", "h5", GOOD)
    path = tmp_path / "f.h5"
    with h5py.File(path, "w") as file:
        file["YAll"], file["LAll"] = TEXT, LABELS
        file["XAll"] = h5py.ExternalLink(str(other), "/XAll")
    assert "XAll is a link to another file" in refused(path)


def test_data_of_hdf5_that_stand_in_other_files(tmp_path):
    path = tmp_path / "f.h5"
    with h5py.File(path, "w") as file:
        file["YAll"], file["LAll"] = TEXT, LABELS
        raw = [(str(tmp_path / "raw"), 0, h5py.h5f.UNLIMITED)]
        file.create_dataset("XAll", (12, 6), "f8", external=raw)
    assert "XAll stands in another file" in refused(path)


def test_a_group_of_hdf5_that_holds_itself(tmp_path):
    path = tmp_path / "f.h5"
    with h5py.File(path, "w") as file:
        file.create_group("a")["a"] = file["a"] if "a" in file else file["/"]
    assert "f.h5: cannot be read" in refused(path)


def test_a_sparse_matrix_with_a_row_that_is_not_there(write):
    sparse = scipy.sparse.csc_array(TEXT)
    path = write("f.mat", "v5", {**GOOD, "YAll": sparse})
    content = path.read_bytes()
    rows = sparse.indices.astype("<i4").tobytes()
    assert rows in content
    wrong = rows[:-4] + np.array([9999], "<i4").tobytes()
    path.write_bytes(content.replace(rows, wrong))
    assert "f.mat: cannot be read" in refused(path)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (LABELS.astype(complex), "complex128 entries; allowed: real numbers"),
        (np.arange(12).astype("datetime64[s]"), "datetime64[s] entries; allowed: real numbers"),
        (np.zeros(12, [("a", "i4")]), "entries; allowed: real numbers"),
    ],
)
def test_labels_that_are_no_numbers(write, labels, said):
    assert said in refused(write("f.npz", "npz", {**GOOD, "LAll": labels}))


def test_labels_that_are_row_numbers(write):
    rng = np.random.default_rng(0)
    variables = {"XAll": rng.random((300, 4)), "YAll": rng.random((300, 3))}
    path = write("f.mat", "v5", {**variables, "LAll": np.arange(300.0)[:, None]})
    assert "found 300 classes in 300 rows; allowed: classes that rows share" in refused(path)


def test_codes_that_are_no_numbers(write):
    codes = np.zeros((4, 8), complex)
    labels = np.eye(4)
    path = write("f.npz", "npz", {"qB": codes, "rB": codes, "qL": labels, "rL": labels})
    variables = Variables([path])
    with pytest.raises(HashbenchError, match="qB: found complex128 entries"):
        read_roles(variables, find_roles(variables, {})[""])


def test_a_matlab_file_that_declares_more_than_it_holds(tmp_path):
    path = tmp_path / "f.mat"
    scipy.io.savemat(path, GOOD)
    content = path.read_bytes()
    shape = np.array([12, 6], "<i4").tobytes()
    assert shape in content
    path.write_bytes(content.replace(shape, np.array([1 << 30, 1 << 30], "<i4").tobytes()))
    assert "XAll declares" in refused(path)
