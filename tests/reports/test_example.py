"""One query with its code and the first items."""

import numpy as np
import pytest

from hashbench.render import figures
from hashbench.render.report import NothingToShowError
from hashbench.render.style import Style
from hashbench.reports.example import Example

STRINGS = {"query_strings": np.array(["q0", "q1"]), "database_strings": np.array([*"abcd"])}


@pytest.fixture
def results(hand_made):
    hand_made.split(**STRINGS)
    # query 0 is perfect, query 1 is not
    hand_made.add(method="best", database=("00", "00", "01", "01"), queries=("00", "00"))
    hand_made.add(method="other", database=("11", "11", "00", "00"), queries=("01", "10"))
    hand_made.add(method="third", database=("11", "01", "00", "10"))
    return hand_made.results()


def test_the_best_method_and_those_that_are_named_are_shown(results):
    data = Example(others="other").data(results)
    one = data[data["task"] == "image->text"]
    assert list(one["method"].unique()) == ["best", "other"]
    assert one["query"].nunique() == 1
    assert set(one["query_string"]) == {"q1"}  # the median of two is the lower one


def test_a_code_is_that_of_the_query(results):
    data = Example(others="other").data(results)
    one = data[data["task"] == "image->text"].drop_duplicates("method").set_index("method")
    assert one["code"].to_dict() == {"best": "00", "other": "10"}


def test_without_the_named_methods_there_is_nothing(results):
    with pytest.raises(NothingToShowError, match="none of the methods"):
        Example(others="absent").data(results)


@pytest.mark.parametrize("width", ["page", "column"])
def test_a_square_is_drawn_for_each_bit(results, width):
    with figures.plot_context():
        drawn = Example(others="other").draw(
            Example(others="other").data(results), Style.of(results, width)
        )
        (axes,) = drawn[0].figure.axes
    assert [picture.name for picture in drawn] == [
        "toy image->text 2 bits",
        "toy text->image 2 bits",
    ]
    squares = [patch for patch in axes.patches if patch.get_fill()]
    assert len(squares) == 2 * 2  # two methods, two bits
    assert sum(square.get_facecolor()[:3] != (1, 1, 1) for square in squares) == 1  # "00", "10"
    assert len(axes.patches) - len(squares) == 1 + 2 * 4  # frames: the query, four items each
    assert min(text.get_fontsize() for text in axes.texts) >= 6
