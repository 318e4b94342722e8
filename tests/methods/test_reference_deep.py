"""Every neural method against its authors' losses, on the data those were run on."""

import os

import numpy as np
import pandas as pd
import pytest

from tools import fidelity_deep

RECORD = pd.read_csv(fidelity_deep.RECORD)
ENCODED = RECORD[RECORD["database"] == "encoded"]


def test_every_method_was_compared_on_all_data_it_has_figures_for():
    wanted = fidelity_deep.reference().query("database == 'encoded' and method != 'ucmfh'")
    assert len(ENCODED) == len(wanted)


def test_what_was_recorded_holds():
    assert ENCODED["within"].all()
    differences = (ENCODED["ours"] - ENCODED["theirs"]).abs()
    assert (differences <= ENCODED["tolerance"] + 1e-5).all()


def test_the_record_has_the_reference_figures():
    keys = ["data", "method", "task", "database"]
    pairs = RECORD.merge(fidelity_deep.reference(), on=keys, how="left")
    assert pairs["mean"].notna().all()
    np.testing.assert_allclose(pairs["theirs"], pairs["mean"], atol=1e-5)
    expected = np.maximum(0.02, 2 * pairs["std"])
    np.testing.assert_allclose(pairs["tolerance"], expected, atol=1e-4)


@pytest.mark.skipif("HASHBENCH_DATA" not in os.environ, reason="HASHBENCH_DATA is not set")
@pytest.mark.parametrize("name", ["dsph", "dchmt"])
def test_the_quickest_are_still_where_they_were(name):
    pytest.importorskip("torch")
    found = fidelity_deep.compare("wiki", name, seeds=1)
    assert found["within"].all(), "\n" + found.to_string()
