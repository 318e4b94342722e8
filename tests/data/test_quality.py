"""Leaks and gaps are found where they are, and nowhere else."""

import numpy as np
import pytest
import scipy.sparse

from hashbench.data.quality import inspect, row_digests, scan
from hashbench.plugins.dataset import Data, Split

SPLIT = Split(train=[0, 1, 2, 3], query=[4, 5, 6], database=[0, 1, 2, 3, 7])


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return Data([rng.random((8, 5)), rng.random((8, 3))], np.eye(8, 2, dtype=np.uint8) | 1)


def counts(data, split=SPLIT):
    return {(finding.kind, finding.where): finding.count for finding in inspect(data, split)}


def test_clean_data_have_no_findings(data):
    assert inspect(data, SPLIT) == []


@pytest.mark.parametrize("other", [1, 7])
def test_copies_across_query_and_the_rest(data, other):
    data.views[0][5] = data.views[0][other]
    (finding,) = inspect(data, SPLIT)
    assert (finding.kind, finding.where, finding.count) == ("duplicates", "image", 1)
    assert f"5={other}" in str(finding)
    data.views[1][5] = data.views[1][other]
    assert counts(data) == {("duplicates", place): 1 for place in ("image", "text", "all views")}


def test_copies_of_different_rows_are_no_copy_of_the_item(data):
    data.views[0][5], data.views[1][5] = data.views[0][1], data.views[1][2]
    assert ("duplicates", "all views") not in counts(data)


def test_copies_on_one_side_do_not_straddle(data):
    data.views[0][5] = data.views[0][4]
    data.views[0][1] = data.views[0][0]
    assert inspect(data, SPLIT) == []
    assert scan(data.views[0]).copies == 2


def test_a_negative_zero_is_zero(data):
    data.views[0][[1, 5]] = [0.0, 1, 2, 3, 4], [-0.0, 1, 2, 3, 4]
    assert counts(data) == {("duplicates", "image"): 1}


@pytest.mark.parametrize("sparse", [False, True])
def test_everything_else(data, sparse):
    data.views[0][3] = 0
    data.views[1][:, 2] = 7
    data.labels[[1, 6]] = 0
    if sparse:
        data.views = [scipy.sparse.csr_array(X) for X in data.views]
    assert counts(data) == {
        ("zero rows", "image"): 1,
        ("constant columns", "text"): 1,
        ("unlabelled", "labels"): 2,
    }


def test_nan_and_infinity(data):
    data.views[1][2, 0], data.views[1][3, 1] = np.nan, -np.inf
    assert counts(data) == {("not finite", "text"): 2}


def test_blocks_do_not_change_the_findings(data, monkeypatch):
    data.views[0][5] = data.views[0][1]
    data.views[1][:, 2] = 7
    whole = inspect(data, SPLIT)
    monkeypatch.setattr("hashbench.data.quality.BLOCK_ROWS", 3)
    assert inspect(data, SPLIT) == whole


def test_digests_of_different_rows_differ():
    X = np.arange(40_000.0).reshape(20_000, 2)
    assert len(np.unique(row_digests(X))) == 20_000
