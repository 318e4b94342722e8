"""The comparisons of the page are those of `hashbench compare`."""

import pytest

from hashbench.analysis.compare import compare
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
    positions = Positions(results, Style.of(results))
    found = comparisons(results, positions, results.main_measure)
    assert len(found["pairs"]) == 3
    tests = set()
    for pair, rows in found["pairs"].items():
        first, second = (positions.methods[int(each)] for each in pair.split("-"))
        shown = dict(page_row(found, positions, pair, row) for row in rows)
        table = compare(results, first, second, results.main_measure)
        assert len(shown) == len(table)
        lacks_a_seed = "random" in (first, second)
        for row in table.itertuples():
            key = (pair, row.dataset, row.task, row.bits, row.database, row.codes)
            one, two, low, high, p_value, won, _, splits = shown[key]
            assert [one, two] == pytest.approx([row.first, row.second], abs=2e-5)
            assert (won, splits) == (row.blocks_won, row.blocks)
            if p_value is None:
                assert lacks_a_seed
                continue
            tests.add(row.test)
            assert [low, high] == pytest.approx([row.low, row.high], abs=2e-5)
            if lacks_a_seed:  # an upper bound: some of its rows have no test on the page
                assert float(p_value.strip("≤ ")) >= 0.949 * row.p_holm
            else:
                bound = "≤ " if row.at_most and row.p_holm < 1 else ""
                assert p_value == f"{bound}{row.p_holm:.2g}"
    assert tests == {"splits", "queries"}
