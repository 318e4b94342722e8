"""Codes that a cell's process left are checked before they are stored."""

import numpy as np
import pytest

from hashbench.execution.cell_codes import CellCodes
from hashbench.execution.executor import Outcome
from hashbench.execution.run_cells import validate_outcome

ROWS = {"query": 3, "database": 5, "learned": 5}


def words(rows, columns=1, dtype=np.uint64):
    return np.zeros((rows, columns), dtype)


GOOD = {
    "query": (words(3), words(3)),
    "database": (words(5), words(5)),
    "learned": (words(5),),
    "n_bits": 8,
}
WRONG = {
    "rows of queries": {"query": (words(4), words(3))},
    "rows of the database": {"database": (words(5), words(4))},
    "rows of learned codes": {"learned": (words(3),)},
    "code length": {"n_bits": 16},
    "words per code": {"query": (words(3, 2), words(3))},
    "bits beyond the last": {"database": (words(5), words(5) + np.uint64(1 << 8))},
}


def ended(cell, folder, **changes):
    CellCodes(**{**GOOD, **changes}).save(folder / "codes.npz")
    return validate_outcome(cell, Outcome("done", folder=folder), ROWS)


def test_codes_of_the_cell_are_taken(make_cell, tmp_path):
    assert ended(make_cell(bits=8), tmp_path).status == "done"


@pytest.mark.parametrize("what", WRONG)
def test_other_codes_fail_the_cell(make_cell, tmp_path, what):
    outcome = ended(make_cell(bits=8), tmp_path, **WRONG[what])
    assert outcome.status == "failed"
    assert "codes.npz" in outcome.reason


def test_a_cell_without_codes_fails(make_cell, tmp_path):
    assert (
        validate_outcome(make_cell(bits=8), Outcome("done", folder=tmp_path), ROWS).status
        == "failed"
    )
