"""What the page on seen and unseen rows says follows from the scores."""

from types import SimpleNamespace

import pandas as pd
import pytest

from research import generalisation as page


@pytest.fixture
def style():
    titles = {name: SimpleNamespace(title=name.upper()) for name in ("edsh", "a", "b", "one")}
    return SimpleNamespace(
        methods=titles, datasets=titles, ordered_datasets=lambda names: sorted(set(names)),
        ordered=lambda names: [name for name in titles if name in set(names)],
    )  # fmt: skip


def cells(*rows):
    return pd.DataFrame(rows, columns=["dataset", "method", "seed", "seen", "unseen"])


SCORES = cells(
    ("one", "edsh", 0, 0.5, 0.45), ("one", "a", 0, 0.8, 0.4), ("one", "b", 0, 0.3, 0.35),
    ("one", "edsh", 1, 0.7, 0.55), ("one", "a", 1, 0.8, 0.4), ("one", "b", 1, 0.3, 0.35),
)  # fmt: skip


def test_scores_ranks_and_leads(style):
    means = page.over_splits(SCORES)
    scores = page.score_table(means, style, {"b"})
    assert "| A | .800 → .400 (1 → 2) |" in scores
    assert "| EDSH | .600 → .500 (2 → 1) |" in scores
    assert "| *B* | .300 → .350 (3 → 3) |" in scores
    assert scores.index("EDSH") < scores.index("| A")  # the best on unseen rows first
    (row,) = page.ranking_rows(means, style, {"b"})
    assert row == ["ONE", ".150", "0.33", "33%", "A", "EDSH", ".200 → -.100", ".500 → .050"]
    said = page.changes(means, style)
    assert "most ranks lose A (-1)" in said
    assert "most gain EDSH (+1)" in said


def test_gains_and_losses_are_stated(style):
    tuned = cells(("one", "a(tuned)", 0, 0.9, 0.3), ("one", "edsh(tuned)", 0, 0.5, 0.46))
    gained = page.gains(pd.concat([SCORES, tuned]))
    assert gained.set_index("method")["gain unseen"].round(6).to_dict() == {
        "a": -0.1,
        "edsh": 0.01,
    }
    said = page.verdict(gained, style)
    assert "1 methods gain, 1 lose" in said
    assert "A (-.100)" in said
    assert "EDSH (" not in said
    assert "| A | .400 → .300 (-.100) |" in page.tuned_table(gained, style)
    assert "| A | +.100 / -.100 |" in page.both_gains(gained, style)


def test_the_commands_give_the_rows():
    same = cells(("one", "a", 0, 1, 1), ("two", "a", 0, 1, 1))
    (line,) = page.commands("tuned", "a", same, "--tune 16 ")
    assert line == "hashbench run -m a -d 'one,two' -b 16 -s 1 --measures AP --tune 16 -o tuned"
    *lines, merged = page.commands("tuned", "a", cells(*same.values, ("one", "a", 1, 1, 1)))
    assert [line.split(" -s ")[1][0] for line in lines] == ["2", "1"]
    assert merged == "hashbench merge tuned-0 tuned-1 -o tuned"
