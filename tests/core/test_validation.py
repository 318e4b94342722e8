"""The border: class numbers, texts, data frames and sparse matrices are taken as they come."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from hashbench.core.errors import HashbenchError
from hashbench.core.validation import check_labels, check_matrix
from hashbench.data.prepare import check_data
from hashbench.plugins.dataset import Data
from hashbench.plugins.registry import discover

NUMBERS = np.array([3, 7, 3, 9])
COLUMNS = [[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1]]

SAME = {
    "numbers": NUMBERS,
    "a list": NUMBERS.tolist(),
    "a column": NUMBERS[:, None],
    "real numbers": NUMBERS.astype(float),
    "a series": pd.Series(NUMBERS),
    "texts": ["cat", "dog", "cat", "emu"],
    "objects": np.array(["cat", "dog", "cat", "emu"], object),
    "categories": pd.Series(["cat", "dog", "cat", "emu"], dtype="category"),
    "0 and 1": np.array(COLUMNS),
    "sparse": scipy.sparse.csr_matrix(np.array(COLUMNS)),
    "a frame": pd.DataFrame(COLUMNS),
}


@pytest.mark.parametrize("kind", SAME)
def test_labels_of_every_kind_are_the_same_columns(kind):
    assert check_labels(SAME[kind], 4).tolist() == COLUMNS


@pytest.mark.parametrize(
    ("labels", "facts"),
    [
        ([1.5, 2, 1, 1], r"1\.5"),
        ([1, np.nan, 1, 1], r"\bnan\b"),
        (["cat", "", "cat", "emu"], "row 1"),
        ([1, 2, 3], r"\b3 rows.*\b4\b"),
        ([[1, 2]] * 4, "entries.*0 and 1"),
        (np.zeros((4, 2, 2)), r"\(4, 2, 2\)"),
        (["cat", None, "cat", "emu"], r"\(4,\)"),
    ],
)
def test_wrong_labels_are_refused(labels, facts):
    with pytest.raises(HashbenchError, match=rf"labels.*{facts}"):
        check_labels(labels, 4)


def test_one_column_of_0_and_1_is_one_class():
    assert check_labels([[1], [0]], 2).tolist() == [[1], [0]]
    assert check_labels([1, 0], 2).tolist() == [[0, 1], [1, 0]]


def test_data_know_the_names_of_their_classes():
    views = [np.ones((4, 2)), pd.DataFrame(np.ones((4, 3)))]
    data = Data(views, SAME["texts"])
    assert data.label_names == ("cat", "dog", "emu")
    assert isinstance(data.views[1], np.ndarray)
    assert data.fingerprint == Data(views, np.array(COLUMNS, np.uint8)).fingerprint


def test_a_method_takes_frames_sparse_text_and_class_numbers():
    rng = np.random.default_rng(0)
    X, T, y = rng.random((40, 6)), rng.integers(0, 2, (40, 5)), np.arange(40) % 3
    EDSH = discover().methods["edsh"].cls
    plain = EDSH(n_bits=8, random_state=0).fit([X, T], np.eye(3)[y])
    own = EDSH(n_bits=8, random_state=0).fit([pd.DataFrame(X), scipy.sparse.csr_array(T)], y)
    np.testing.assert_array_equal(own.encode(pd.DataFrame(X), 0), plain.encode(X, 0))
    texts = EDSH(n_bits=8, random_state=0).fit([X, T], np.array(["a", "b", "c"])[y])
    np.testing.assert_array_equal(texts.encode(T, 1), plain.encode(T, 1))


def test_images_of_pixels_are_refused():
    data = Data([np.ones((4, 3, 8, 8)), np.ones((4, 2))], NUMBERS)
    with pytest.raises(HashbenchError, match=r"mine.*image.*4 x 3 x 8 x 8"):
        check_data(data, "mine")
    with pytest.raises(HashbenchError, match=r"view 0.*4 dimensions"):
        check_matrix(data.views[0], "view 0")
