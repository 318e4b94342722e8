"""The order in which cells run, and which study may run in a folder."""

from dataclasses import replace

import pytest

from hashbench.core.errors import HashbenchError
from hashbench.execution.grid import expand_grid
from hashbench.execution.plan import FILE, Plan, check_same_study, run_order
from hashbench.execution.study import Study
from hashbench.plugins.registry import discover


def test_cells_of_the_same_data_run_together_and_long_ones_begin(make_cell):
    cells = [
        make_cell(method=method, split=split)
        for split in ("s", "t", "s")
        for method in ("a", "z", "b")
    ]
    found = [(cell.split, cell.method) for cell in run_order(cells, {"z"})]
    assert found == [
        *[("s", each) for each in "zzabab"],
        *[("t", each) for each in "zab"],
    ]
    assert [cell.method for cell in run_order(cells)] == list("azbazbazb")


STUDY = Study(methods=("cca", "edsh"), datasets=("emoji",), bits=(8,), seeds=(0, 1))


@pytest.mark.parametrize(
    ("changes", "fits"),
    [
        ({}, True),
        ({"seeds": (0, 1, 2), "bits": (8, 16), "methods": ("all",)}, True),
        ({"measures": ("P@5",)}, True),
        ({"seeds": (0,)}, False),
        ({"methods": ("cca", "edsh[gamma=3]")}, False),
        ({"datasets": ("emoji-multilabel",)}, False),
    ],
)
@pytest.mark.parametrize("tuned", [False, True])
def test_a_folder_takes_a_study_that_has_all_its_cells(tmp_path, make_cell, changes, fits, tuned):
    registry = discover()
    cells = [
        make_cell(dataset=dataset, method=method, params=params, bits=bits, seed=seed)
        for dataset, method, params, bits, seed in (
            spec.key for spec in expand_grid(STUDY, registry)
        )
    ]
    if tuned:
        cells.append(replace(cells[0], tuned=True))
    (tmp_path / FILE).write_text(Plan(("AP",), cells).to_json())

    def accepted(study):
        try:
            check_same_study(tmp_path, study, expand_grid(study, registry))
        except HashbenchError:
            return False
        return True

    study = replace(STUDY, **changes)
    assert accepted(replace(study, tune=2)) == fits
    assert accepted(study) == (fits and not tuned)
