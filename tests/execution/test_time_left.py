"""The time left follows from the cells that have ended, the most similar ones first."""

import pytest

from hashbench.execution.time_left import TimeLeft, estimate, scoring_keys


def test_the_first_cell_scored_teaches_nothing_about_the_others(make_cell):
    left = TimeLeft(scoring_keys)
    cells = [make_cell(seed=seed) for seed in range(3)]
    left.expect(cells)
    left.finish(cells[0], None)
    assert left.seconds() is None
    assert left.text() == ""
    left.finish(cells[1], 2.0)
    assert left.seconds() == 2


def test_cells_of_the_same_method_count_first(make_cell):
    left = TimeLeft()
    slow = [make_cell(method="slow", params="", seed=seed) for seed in range(4)]
    fast = [make_cell(method="fast", params="", seed=seed) for seed in range(4)]
    new = [make_cell(method="new", params="")]
    left.expect([*slow, *fast])
    left.finish(slow[0], 100.0)
    left.finish(fast[0], 1.0)
    assert left.seconds() == pytest.approx(303)
    left.expect(new)
    assert left.seconds() == pytest.approx(50.5)
    left.expect(slow[1:])
    assert left.text(3) == "left 1 min 40 s"
    left.finish(slow[1], 200.0)
    assert left.seconds() == pytest.approx(2 * 150), "earlier times still count"


def test_scoring_depends_on_the_dataset(make_cell):
    left = TimeLeft(scoring_keys)
    small, large, other = (
        make_cell(dataset=dataset, method=method)
        for dataset, method in (("small", "a"), ("large", "a"), ("large", "b"))
    )
    left.expect([small, large, other])
    left.finish(small, 1.0)
    left.finish(large, 9.0)
    assert left.seconds() == 9


def test_an_estimate_counts_the_cells_of_methods_that_never_ran(make_cell):
    slow, fast = make_cell(method="slow"), make_cell(method="fast")
    elsewhere, new = make_cell(method="slow", dataset="d"), make_cell(method="new")
    times = [(slow, 10.0), (fast, 1.0)]
    assert estimate([slow, elsewhere, new], times, jobs=2) == (10.0, 1)
