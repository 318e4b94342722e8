"""Every layout, in every container that can hold it, gives the arrays that went in."""

import numpy as np
import pytest
import scipy.sparse

from hashbench.core.errors import HashbenchError
from hashbench.data.formats import load_file

N, QUERIES = 23, 6
rng = np.random.default_rng(0)
IMAGE, TEXT = rng.standard_normal((N, 7)), rng.standard_normal((N, 5))
CLASS = np.resize([1, 2, 3, 4], N).astype(np.float64)
LABELS = np.eye(4, dtype=np.uint8)[CLASS.astype(int) - 1]
TAGS = rng.permutation(np.resize([0.0, 1.0, 0.0], (N, 5)))

TRAIN, QUERY = slice(0, N - QUERIES), slice(N - QUERIES, N)


def parts(train_names, query_names, labels=LABELS):
    whole = (IMAGE, TEXT, labels)
    return {
        name: X[rows]
        for names, rows in ((train_names, TRAIN), (query_names, QUERY))
        for name, X in zip(names, whole, strict=True)
    }


SPLIT_LAYOUTS = {
    "SePH": parts(("I_tr", "T_tr", "L_tr"), ("I_te", "T_te", "L_te")),
    "SePH, class numbers": parts(
        ("I_tr", "T_tr", "L_train"), ("I_te", "T_te", "L_test"), CLASS[:, None]
    ),
    "SePH, deep features only": parts(("V_tr", "T_tr", "L_tr"), ("V_te", "T_te", "L_te")),
    "DLFH": parts(("XDatabase", "YDatabase", "databaseL"), ("XTest", "YTest", "testL")),
    "ALECH": parts(("XTrain", "YTrain", "LTrain"), ("XTest", "YTest", "LTest")),
    "SEHA": parts(
        ("img_train", "text_train", "label_train"),
        ("img_test", "text_test", "label_test"),
        CLASS[:, None],
    ),
}
WHOLE_LAYOUTS = {
    "DCMH": {"images": IMAGE, "YAll": TEXT, "LAll": LABELS},
    "DCMH, IAll": {"IAll": IMAGE, "YAll": TEXT, "LAll": LABELS},
    "UCCH": {"XAll": IMAGE, "YAll": TEXT, "LAll": LABELS},
    "CLIP": {"FAll": IMAGE, "tags": TEXT, "category": LABELS},
}
NESTED_LAYOUTS = {
    "RoPH": {
        "data": {
            "X1": IMAGE.T,
            "X2": TEXT.T,
            "Y": scipy.sparse.csc_array(LABELS.T.astype(np.float64)),
            "split": {
                "ind_train": np.arange(1.0, N - QUERIES + 1)[None],
                "ind_test": np.arange(N - QUERIES + 1.0, N + 1)[None],
            },
        }
    },
    "multi-view cells": {"X": [IMAGE, TEXT], "y": CLASS[:, None]},
    "multi-view cells, columns": {"data": [IMAGE.T, TEXT.T], "truelabel": [CLASS[None]]},
    "multi-view cells, truth": {"data": [IMAGE.T, TEXT.T], "truth": CLASS[:, None]},
}


def assert_equal_data(data):
    np.testing.assert_array_equal(data.views[0], IMAGE)
    np.testing.assert_array_equal(data.views[1], TEXT)
    np.testing.assert_array_equal(data.labels, LABELS)
    assert all(X.flags.c_contiguous for X in data.views)


@pytest.mark.parametrize("version", ["v5", "v7.3", "h5", "npz"])
@pytest.mark.parametrize("layout", SPLIT_LAYOUTS)
def test_layouts_with_a_split(write, layout, version):
    data = load_file(write("file.mat", version, SPLIT_LAYOUTS[layout]))
    assert_equal_data(data)
    assert list(data.given["train"]) == list(range(N - QUERIES))
    assert list(data.given["query"]) == list(range(N - QUERIES, N))
    assert layout.partition(",")[0] in data.notes[0]


@pytest.mark.parametrize("version", ["v5", "v7.3", "h5", "npz"])
@pytest.mark.parametrize("layout", WHOLE_LAYOUTS)
def test_layouts_without_a_split(write, layout, version):
    data = load_file(write("file.mat", version, WHOLE_LAYOUTS[layout]))
    assert_equal_data(data)
    assert data.given == {}
    assert layout.partition(",")[0] in data.notes[0]


@pytest.mark.parametrize("version", ["v5", "v7.3"])
@pytest.mark.parametrize("layout", NESTED_LAYOUTS)
def test_structs_and_cells(write, layout, version):
    data = load_file(write("file.mat", version, NESTED_LAYOUTS[layout]))
    assert_equal_data(data)
    assert layout.partition(",")[0] in data.notes[0]
    if layout == "RoPH":
        assert list(data.given["query"]) == list(range(N - QUERIES, N))


def test_a_separate_database_follows_the_queries(write):
    variables = parts(("I_tr", "T_tr", "L_tr"), ("I_te", "T_te", "L_te"))
    variables |= {"I_db": IMAGE[:9] + 1, "T_db": TEXT[:9], "L_db": LABELS[:9]}
    data = load_file(write("file.mat", "v5", variables))
    assert data.n_rows == N + 9
    np.testing.assert_array_equal(data.views[0][data.given["database"]], IMAGE[:9] + 1)


def test_hand_made_features_come_before_deep_ones_and_the_note_says_so(write):
    variables = SPLIT_LAYOUTS["SePH"] | {"V_tr": IMAGE[TRAIN] + 1, "V_te": IMAGE[QUERY] + 1}
    path = write("file.mat", "v5", variables)
    data = load_file(path)
    np.testing.assert_array_equal(data.views[0], IMAGE)
    assert "V_tr (17 x 7 double)" in data.notes[1]
    np.testing.assert_array_equal(load_file(path, {"image": "V_tr+V_te"}).views[0], IMAGE + 1)


@pytest.mark.parametrize("labels", [LABELS, LABELS.T, CLASS, CLASS[:, None], CLASS[None]])
def test_plain_hdf5_may_be_transposed(write, labels):
    data = load_file(write("f.h5", "h5", {"XAll": IMAGE.T, "YAll": TEXT, "LAll": labels}))
    assert_equal_data(data)


def test_class_numbers_may_start_anywhere(write):
    variables = WHOLE_LAYOUTS["UCCH"] | {"LAll": CLASS * 3 - 7}
    assert_equal_data(load_file(write("file.npz", "npz", variables)))


@pytest.mark.parametrize("kind", [np.uint8, np.bool_, np.int16, np.float32])
def test_views_become_floating(write, kind):
    variables = WHOLE_LAYOUTS["UCCH"] | {"YAll": TAGS.astype(kind)}
    text = load_file(write("file.npz", "npz", variables)).views[1]
    assert text.dtype == np.float32
    np.testing.assert_array_equal(text, TAGS)


@pytest.mark.parametrize("version", ["v5", "v7.3"])
def test_sparse_views_stay_sparse(write, version):
    variables = WHOLE_LAYOUTS["UCCH"] | {"YAll": scipy.sparse.csc_array(TAGS)}
    text = load_file(write("file.mat", version, variables)).views[1]
    assert text.format == "csr"
    np.testing.assert_array_equal(text.toarray(), TAGS)


class TestAFileAMatrix:
    @pytest.mark.parametrize("version", ["v5", "v7.3"])
    @pytest.mark.parametrize("named", ["", "mir-yall.mat", "mir-lall.mat", "mir-iall-vgg.mat"])
    def test_any_of_them_or_their_folder(self, write, version, named):
        for name, variables in (
            ("mir-iall-vgg.mat", {"XAll": IMAGE}),
            ("mir-yall.mat", {"YAll": TEXT}),
            ("mir-lall.mat", {"LAll": LABELS}),
        ):
            folder = write(name, version, variables).parent
        data = load_file(folder / named)
        assert_equal_data(data)
        assert "UCCH" in data.notes[0]

    @pytest.mark.parametrize("name", ["IAll", "XAll"])
    def test_features_are_preferred_to_pixels(self, write, name):
        pixels = np.zeros((N, 3, 2, 2))
        write("mir-iall.mat", "v5", {"IAll": pixels})
        write("mir-iall-vgg.mat", "v5", {name: IMAGE})
        write("mir-yall.mat", "v5", {"YAll": TEXT})
        assert_equal_data(load_file(write("mir-lall.mat", "v5", {"LAll": LABELS})))

    def test_clip_files(self, write):
        write("index.mat", "v5", {"index": IMAGE})
        write("caption.mat", "v5", {"caption": TEXT})
        path = write("label.mat", "v5", {"category": LABELS})
        assert_equal_data(load_file(path))
        assert_equal_data(load_file(path.parent))

    def test_two_datasets_in_a_folder_are_refused(self, write):
        for prefix, shift in (("tc10", 0), ("tc21", 1)):
            write(f"{prefix}-xall.mat", "v5", {"XAll": IMAGE + shift})
            write(f"{prefix}-yall.mat", "v5", {"YAll": TEXT})
            path = write(f"{prefix}-lall.mat", "v5", {"LAll": LABELS})
        with pytest.raises(HashbenchError, match="tc10, tc21"):
            load_file(path.parent)
        np.testing.assert_array_equal(load_file(path).views[0], IMAGE + 1)


def test_a_single_query(write):
    query = {"I_te": IMAGE[:1], "T_te": TEXT[:1], "L_te": LABELS[:1]}
    data = load_file(write("f.mat", "v5", {"I_tr": IMAGE, "T_tr": TEXT, "L_tr": LABELS, **query}))
    np.testing.assert_array_equal(data.labels[data.given["query"]], LABELS[:1])


def test_square_views_are_turned_as_their_layout_says(write):
    square = rng.standard_normal((N, N))
    variables = {"data": [square.T, TEXT.T], "truelabel": CLASS[None]}  # items are columns
    data = load_file(str(write("f.mat", "v5", variables)))
    np.testing.assert_allclose(data.views[0], square, rtol=1e-6)
    np.testing.assert_allclose(data.views[1], TEXT, rtol=1e-6)
