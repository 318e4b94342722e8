"""What the page on tuned methods says follows from the outcomes."""

from types import SimpleNamespace

import pandas as pd
import pytest

from research import fair


@pytest.fixture
def style():
    titles = {name: SimpleNamespace(title=name.upper()) for name in ("a", "b", "c", "one", "two")}
    return SimpleNamespace(methods=titles, datasets=titles)


def outcomes(*rows):
    return pd.DataFrame(
        [dict(zip(("dataset", "method", "seed", "default", "tuned"), row, strict=True))
         for row in rows]
    ).assign(seconds=1.0)  # fmt: skip


def test_the_verdict_names_losses(style):
    gains = outcomes(("one", "a", 0, 0.5, 0.6), ("one", "b", 0, 0.5, 0.52))
    said = fair.verdict(gains, style)
    assert "1 datasets" in said
    assert "ONE" not in said  # nothing is lost on it
    losses = outcomes(
        ("one", "a", 0, 0.5, 0.6), ("two", "a", 0, 0.5, 0.51), ("two", "b", 0, 0.5, 0.4)
    )
    said = fair.verdict(losses, style)
    assert " on TWO. " in said
    assert "B on TWO (-0.100)" in said


def test_ranks_and_who_moves(style):
    table, moved = fair.ranks(
        outcomes(("one", "a", 0, 0.5, 0.6), ("one", "b", 0, 0.6, 0.5), ("two", "a", 0, 0.1, 0.2)),
        style,
    )
    assert "| A | 2 → 1 | 1 → 1 | +0.5 |" in table
    assert "| B | 1 → 2 | – | -1.0 |" in table
    assert "A (+0.5)" in moved


def test_splits_are_compared_over_the_same_methods(style):
    own = outcomes(("one", "a", 0, 0.5, 0.6), ("one", "a", 1, 0.5, 0.6), ("one", "b", 0, 0.5, 0.9))
    assert fair.gain_by_split(own).round(6).tolist() == [0.1, 0.1]
    assert "B on ONE" in fair.partly(own, style)
    assert "ONE" not in fair.partly(own[own["method"] == "a"], style)


def test_the_commands_give_the_rows():
    own = outcomes(
        ("one", "b", 0, 0.5, 0.6), ("one", "a", 0, 0.5, 0.6), ("one", "a", 1, 0.5, 0.6),
        ("one", "a", 2, 0.5, 0.6),
    )  # fmt: skip
    first, second = fair.commands(own, 16).split("\n")
    assert first.startswith("hashbench run fair -m a,b -d 'one' -s 0, -j 1 --tune 16 ")
    assert " -m a -d 'one' -s 1,2 -j 1" in second
