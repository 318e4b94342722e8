"""Ranges of parameters: what they give, what they refuse, and where they end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import loguniform, norm, randint

from hashbench import Choice, HashbenchError, Integer, Linear, LinearMethod, Log
from hashbench.plugins.registry import check_class
from hashbench.plugins.selection import format_value, parse_value
from hashbench.plugins.space import as_range, at_ends, end_points, point

RANGES = [Log(1e-4, 1e3), Linear(-2, 5), Integer(3, 9), Choice("rbf", "none", 2)]
positions = st.floats(0, 1, exclude_max=True)


@pytest.mark.parametrize("values", RANGES, ids=str)
@given(position=positions)
def test_a_value_lies_between_the_ends_and_is_printed_as_it_is(values, position):
    value = values.at(position)
    if isinstance(values, Choice):
        assert value in values.values
    else:
        assert values.low <= value <= values.high
        assert parse_value(format_value(value)) == value


def test_distributions_of_scipy_are_ranges():
    space = {"gamma": loguniform(1e-2, 1e2), "anchors": randint(3, 10), "shift": norm(0, 1)}
    assert point(space, (0.5, 0.0, 0.5)) == {"gamma": 1.0, "anchors": 3, "shift": 0.0}
    assert point(space, (0.0, 0.99, 0.0)) == {"gamma": 0.01, "anchors": 9, "shift": -3.09}
    assert at_ends(space, {"gamma": 99.0, "anchors": 6, "shift": 0.1}) == ["gamma"]
    assert {"gamma": 100.0} in end_points(space)
    assert str(as_range(space["gamma"])) == "loguniform(0.01, 100)"


def test_a_log_range_spreads_evenly_in_the_logarithm():
    assert [Log(1e-2, 1e2).at(p) for p in (0, 0.25, 0.5, 1)] == [0.01, 0.1, 1, 100]
    assert [Linear(0, 8).at(p) for p in (0, 0.25, 0.5, 1)] == [0, 2, 4, 8]


def test_every_whole_number_and_every_choice_has_the_same_share():
    grid = [(i + 0.5) / 210 for i in range(210)]
    for values in (Integer(3, 9), Choice(*"abcdefg")):
        found = [values.at(position) for position in grid]
        assert {found.count(value) for value in found} == {30}


def test_ends():
    space = {"a": Log(0.1, 10), "b": Integer(1, 3), "c": Choice("x", "y", "z")}
    expected = [("a", 0.1), ("a", 10), ("b", 1), ("b", 3), ("c", "x"), ("c", "y"), ("c", "z")]
    assert [item for each in end_points(space) for item in each.items()] == expected
    assert at_ends(space, {"a": 0.11, "b": 2, "c": "x"}) == ["a"]
    assert at_ends(space, {"a": 1.0, "b": 3, "c": "z"}) == ["b"]
    assert at_ends(space, {"a": 0.0, "b": 2}) == ["a"]  # a default beyond the range
    assert point(space, (0.5, 0.5, 0.99)) == {"a": 1.0, "b": 2, "c": "z"}


@pytest.mark.parametrize(
    ("make", "facts"),
    [
        (lambda: Log(0, 1), r"Log\(0, 1\).*above 0"),
        (lambda: Log(2, 1), r"Log\(2, 1\).*smaller"),
        (lambda: Linear(0, float("inf")), r"Linear\(0, inf\).*finite"),
        (lambda: Linear("a", 1), r"Linear\('a', 1\).*numbers"),
        (lambda: Integer(1, 2.5), r"Integer\(1, 2\.5\).*whole"),
        (lambda: Choice("one"), r"Choice\('one'\).*two"),
        (lambda: Choice("one", "one"), r"Choice\('one', 'one'\).*different"),
        (lambda: Choice("one", [1]), r"Choice\(.*\): .*\[1\]"),
    ],
)
def test_a_range_that_means_nothing_is_refused(make, facts):
    with pytest.raises(HashbenchError, match=facts):
        make()


@pytest.mark.parametrize(
    ("space", "facts"),
    [
        (Log(1, 2), "dictionary"),
        ({"beta": Log(1, 2)}, "'beta'.*alpha, a, b, c, d"),
        ({"n_bits": Integer(1, 2)}, "'n_bits'"),
        ({"alpha": (1, 2)}, r"alpha=\(1, 2\).*Log"),
        ({name: Log(1, 2) for name in ("alpha", "a", "b", "c", "d")}, r"\b5 .*\b4\b"),
    ],
)
def test_a_method_with_a_wrong_space_is_broken(space, facts):
    class Spaced(LinearMethod):
        name, supervised = "spaced", False

        def __init__(self, n_bits=16, random_state=None, alpha=1.0, a=0, b=0, c=0, d=0):
            self.n_bits = n_bits

        def fit(self, views, labels=None):
            return self

    check_class("methods", Spaced)
    Spaced.space = space
    with pytest.raises(HashbenchError, match=rf"Spaced\.space.*{facts}"):
        check_class("methods", Spaced)
