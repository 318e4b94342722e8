"""Seen against unseen rows: gaps, ranks, and which queries count."""

import pytest

from hashbench.render.report import NothingToShowError
from hashbench.render.style import Style
from hashbench.reports.generalisation import Generalisation

#: Codes of rows 2 to 5; rows 2 and 4 are seen. The queries find their labels at 00 and 11.
RIGHT = ("00", "00", "11", "11")
MEMORISED = ("00", "11", "11", "00")
REVERSED = ("11", "00", "00", "11")


def drawn(results):
    data = Generalisation().data(results)
    return data, Generalisation().draw(data, Style.of(results))


def test_gaps_and_changes_of_rank(hand_made):
    hand_made.split(train=(2, 4))
    for seed in (0, 1):
        for method, codes in (("a", MEMORISED), ("b", REVERSED), ("c", RIGHT)):
            hand_made.add(method=method, database=codes, seed=seed)
    hand_made.add(method="late", database=RIGHT)  # one seed of two has no rank
    data, (table, picture) = drawn(hand_made.results())
    found = data.groupby("method")[["seen", "unseen", "gap"]].mean().T.to_dict("list")
    assert found == {"a": [1, 0.5, 0.5], "b": [0.5, 1, -0.5], "c": [1, 1, 0], "late": [1, 1, 0]}
    assert set(data["queries"]) == {2}
    assert set(data["left_out"]) == {0}
    rows = {row[0].text: [entry.text for entry in row[1:]] for row in table.groups[0].rows}
    assert rows["a"] == ["1.000", "0.500", "+0.500", "0.000", "1", "3 ↓2"]
    assert rows["b"] == ["0.500", "1.000", "-0.500", "0.000", "3", "1 ↑2"]
    assert rows["c"][-2:] == ["1", "1 ="]
    assert rows["late"][-3:] == ["–", "–", "–"]
    (panel,) = picture.figure.get_axes()
    assert len(panel.get_lines()) == 12  # an open and a filled mark and a line per method


@pytest.mark.parametrize("measure", ["AP", "AP(empty=zero)"])
def test_only_queries_with_relevant_rows_in_both_parts_count(hand_made, measure):
    hand_made.measures = (measure,)
    hand_made.split(train=(2, 3, 4))  # the unseen row is relevant to the second query alone
    hand_made.add(method="a", database=("11", "11", "11", "11"))
    data, (table, _) = drawn(hand_made.results())
    assert data["queries"].tolist() == data["left_out"].tolist() == [1, 1]
    # one relevant row in three that are tied: (1 + 1/2 + 1/3) / 3
    assert data["seen"].tolist() == pytest.approx([11 / 18] * 2)
    assert data["unseen"].tolist() == [1, 1]
    assert "1 of 2" in table.caption


@pytest.mark.parametrize("train", [(2, 3, 4, 5), (2, 3)])
def test_both_parts_need_rows_that_are_relevant_to_a_query(hand_made, train):
    hand_made.split(train=train)
    hand_made.add(database=RIGHT)
    with pytest.raises(NothingToShowError, match="protocol=default"):
        Generalisation().data(hand_made.results())
