"""The order in which cells run."""

from hashbench.execution.plan import run_order


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
