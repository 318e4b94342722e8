"""Every neural method against its authors' losses, on the data those were run on."""

import numpy as np
import pandas as pd
import pytest

from research import fidelity_deep
from tests.helpers.data import needs_data

RECORD = pd.read_csv(fidelity_deep.RECORD)
ENCODED = RECORD[RECORD["database"] == "encoded"]


def test_the_record_has_one_row_per_reference_score():
    wanted = fidelity_deep.reference().query("database == 'encoded' and method != 'ucmfh'")
    assert len(ENCODED) == len(wanted)


def test_the_record_has_the_reference_figures():
    keys = ["data", "method", "task", "database"]
    pairs = RECORD.merge(fidelity_deep.reference(), on=keys, how="left")
    assert pairs["mean"].notna().all()
    np.testing.assert_allclose(pairs["theirs"], pairs["mean"], atol=1e-5)


@needs_data
@pytest.mark.torch
@pytest.mark.parametrize("name", ["dsph", "dchmt"])
def test_the_two_fastest_methods_still_reach_the_recorded_scores(name):
    pytest.importorskip("torch")
    keys = ["data", "method", "task", "database"]
    found = fidelity_deep.compare("wiki", name, seeds=1).merge(RECORD, on=keys)
    gap = (found["ours_x"] - found["ours_y"]).abs()
    assert (gap <= np.maximum(0.02, 3 * found["ours_std_y"])).all(), "\n" + found.to_string()
