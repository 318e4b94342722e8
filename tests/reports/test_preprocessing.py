"""Each method under each preprocessing, with its change of rank."""

import pytest

from hashbench.render.report import NothingToShowError
from hashbench.render.style import Style
from hashbench.reports.preprocessing import Preprocessing

#: From the best ranking to the worst.
PERFECT = ("00", "00", "11", "11")
MIXED = ("00", "01", "10", "11")
WRONG = ("11", "11", "00", "00")


def add(hand_made, method, steps, database, seed=0, **more):
    dataset = "toy" if steps == "none" else f"toy[preprocess={steps}]"
    about = {"dataset": dataset, "preprocessing": (steps, steps), "seed": seed, **more}
    hand_made.add(method=method, database=database, **about)


def test_scores_ranks_and_agreement(hand_made):
    for seed in (0, 1):
        for method, before, after in (("a", PERFECT, MIXED), ("b", MIXED, PERFECT)):
            add(hand_made, method, "none", before, seed)
            add(hand_made, method, "l2", after, seed)
            add(hand_made, method, "centre", before, seed)
    add(hand_made, "late", "none", PERFECT)  # without the others it has no rank
    add(hand_made, "a", "l2", PERFECT, tuned=True)  # has chosen for itself
    results = hand_made.results()
    data = Preprocessing().data(results)
    assert set(data["method"]) == {"a", "b", "late"}
    assert set(data["family"]) == {"toy"}
    (table,) = Preprocessing().draw(data, Style.of(results))
    assert [name for name, _ in table.header[0]] == ["", "none", "l2", "centre"]
    rows = {row[0].text: [entry.text for entry in row[1:]] for row in table.groups[0].rows}
    assert rows["a"][:5:2] == ["1.000", rows["b"][0], "1.000"]
    assert rows["a"][1::2] == ["1", "2 ↓1", "1 ="]
    assert rows["b"][1::2] == ["2", "1 ↑1", "2 ="]
    assert rows["late"] == ["1.000", "–", "–", "–", "–", "–"]
    assert all(fact in table.notes[0] for fact in ("l2", "none", "+0.0000"))
    assert table.notes[0].endswith("-1.00")
    assert table.notes[1].endswith("1.00")


def test_one_preprocessing_is_no_comparison(hand_made):
    add(hand_made, "a", "none", PERFECT)
    # another protocol is another dataset, not the same one prepared otherwise
    other = {"dataset": "toy[label_noise=0.2,preprocess=l2]", "preprocessing": ("l2", "l2")}
    hand_made.add(method="a", database=WRONG, **other)
    with pytest.raises(NothingToShowError, match=r"preprocess=none\|l2"):
        Preprocessing().data(hand_made.results())
