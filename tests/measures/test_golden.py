"""Numbers of an independent scorer on real codes: SCM-S of its authors, on their Wiki split.

That scorer ranks by Hamming distance with ties in database order.
"""

import csv
import os
from pathlib import Path

import numpy as np
import pytest

from hashbench.data.formats.variables import Variables
from hashbench.measures import evaluate
from research import fidelity
from tests.helpers.data import REFERENCE

pytestmark = REFERENCE

OURS = {
    "AP": "AP(ties=index)",
    "AP(norm=retrieved)@50": "AP(norm=retrieved,ties=index)@50",
    "AP(norm=retrieved)@100": "AP(norm=retrieved,ties=index)@100",
}


def published():
    with (fidelity.REFERENCE / "wiki_summary.csv").open() as stream:
        rows = [row for row in csv.DictReader(stream) if row["method"] == "scm-s"]
    return [(int(row["bits"]), row["task"], row["measure"], float(row["mean"])) for row in rows]


@pytest.fixture(scope="module")
def labels():
    variables = Variables([Path(os.environ["HASHBENCH_DATA"]) / "wiki" / "wiki_data.mat"])
    return variables["L_te"].read(), variables["L_tr"].read()


@pytest.mark.parametrize("bits", [8, 16, 24, 32])
@pytest.mark.parametrize("task", ["image->text", "text->image"])
def test_scores_of_stored_codes(labels, bits, task):
    asked, searched = task.split("->")
    codes = np.load(fidelity.REFERENCE / "scm_s_wiki_codes.npz")
    result = evaluate(
        codes[f"{asked}_query_{bits}"],
        codes[f"{searched}_database_{bits}"],
        *labels,
        OURS.values(),
        n_bits=bits,
    )
    rows = [row for row in published() if row[:2] == (bits, task)]
    assert len(rows) == 3
    for _, _, measure, value in rows:
        assert result[OURS[measure]] == pytest.approx(value, abs=5.01e-6), measure
