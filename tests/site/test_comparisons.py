"""The comparisons of the page are those of `hashbench compare`."""

import pytest

from hashbench.analysis.compare import compare
from hashbench.render.comparison import p_text
from hashbench.render.style import Style
from hashbench.site.comparisons import comparisons
from hashbench.site.positions import Positions


def page_row(found, positions, pair, row):
    """Return a row of the page, by the names of its slice."""
    at = found["slices"][row[0]]["at"]
    names = [values[i] for values, i in zip(positions.values.values(), at, strict=True)]
    dataset, task, bits, searched, _ = names
    return (pair, dataset, task, bits, *searched), row[1:]


def test_every_pair_has_the_numbers_of_the_command(mixed_results):
    results = mixed_results
    positions = Positions.of_study(results, Style.of(results))
    found = comparisons(results, positions, results.main_measure)
    assert len(found["pairs"]) == 3
    tests = set()
    for pair, rows in found["pairs"].items():
        first, second = (positions.methods[int(each)] for each in pair.split("-"))
        shown = dict(page_row(found, positions, pair, row) for row in rows)
        table = compare(results, first, second, results.main_measure)
        assert len(shown) == len(table)
        for row in table.itertuples():
            key = (pair, row.dataset, row.task, row.bits, row.database, row.codes)
            one, two, low, high, p_value, won, _, splits = shown[key]
            assert [one, two] == pytest.approx([row.first, row.second], abs=2e-5)
            assert (won, splits) == (row.blocks_won, row.blocks)
            tests.add(row.over)
            if row.over:
                assert [low, high] == pytest.approx([row.low, row.high], abs=2e-5)
                assert p_value == p_text(row.p_value)
            else:
                assert (low, high, p_value) == (None, None, None)
    assert tests == {"splits", ""}  # random lacks a seed, so that nothing compares it
