"""The place of a method among others, and which differences are significant."""

import numpy as np
import pandas as pd
import pytest

from hashbench.analysis.ranking import BETTER, UNDECIDED, WORSE, rank_among
from hashbench.analysis.tests import range_test

MEANS = {"top": 0.8, "mine": 0.6, "near": 0.594, "low": 0.2}


def scores(splits=5, spread=0.005, missing=()):
    """Return scores of two tasks, the second one lower by .1."""
    rng = np.random.default_rng(0)
    rows = [
        {"dataset": "d", "bits": 16, "label": label, "split": f"s{split}", "overlap": 1 / 3,
         "task": task, "value": mean + rng.normal(0, spread) - 0.1 * number,
         "fit_seconds": 2.0, "item_bytes": 2.0, "hamming": True}
        for label, mean in MEANS.items()
        for split in range(splits)
        for number, task in enumerate(("a->b", "b->a"))
        if (label, split) not in missing
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_ranks_means_and_the_test_over_splits():
    table = scores()
    found = rank_among(table, "mine").set_index("method")
    assert found["rank"].to_dict() == {"top": 1, "mine": 2, "near": 3, "low": 4}
    expected = {"top": WORSE, "mine": UNDECIDED, "near": UNDECIDED, "low": BETTER}
    assert found["against"].to_dict() == expected
    mine = table[table["label"] == "mine"]
    assert found.loc["mine", "b->a"] == mine.loc[mine["task"] == "b->a", "value"].mean()
    assert found.loc["mine", "mean"] == pytest.approx(mine["value"].mean())
    wide = table.pivot_table(index="split", columns="label", values="value")[list(MEANS)]
    test = range_test(wide.to_numpy(), 1 / 3)
    assert found.loc["low", "p_value"] == pytest.approx(test.p_values[1, 3])
    assert np.isnan(found.loc["mine", "p_value"])


def test_only_the_splits_of_the_method_are_compared():
    table = scores(missing={("mine", 3), ("mine", 4), ("low", 4)})
    found = rank_among(table, "mine").set_index("method")
    assert set(found["splits"]) == {3}
    top = table[(table["label"] == "top") & table["split"].isin(["s0", "s1", "s2"])]
    assert found.loc["top", "mean"] == pytest.approx(top["value"].mean())
    assert found["rank"].notna().all()


def test_a_method_that_lacks_a_split_is_not_ranked():
    found = rank_among(scores(missing={("top", 0)}), "mine").set_index("method")
    assert pd.isna(found.loc["top", "rank"])
    assert found.loc["top", "against"] == UNDECIDED
    assert found.loc["mine", "rank"] == 1


def test_two_splits_decide_nothing():
    found = rank_among(scores(splits=2), "mine")
    assert set(found["against"]) == {UNDECIDED}
    assert found["p_value"].isna().all()
    assert found["rank"].tolist() == [1, 2, 3, 4]
