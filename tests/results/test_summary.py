"""Means over seeds, ranks and marks, by hand and by scipy."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel

from hashbench.results.summary import best_methods, grouped, over_seeds


def scores(values, **about):
    return pd.DataFrame(
        [
            {"method": method, "seed": seed, "value": value, **about}
            for method, found in values.items()
            for seed, value in enumerate(found)
        ]
    )


def test_means_and_sample_deviations():
    table = over_seeds(scores({"a": [1.0, 3.0], "b": [2.0]}, dataset="d"))
    rows = table.set_index("method")
    assert rows.loc["a", ["mean", "std", "seeds"]].tolist() == [2.0, pytest.approx(2**0.5), 2]
    assert rows.loc["b", ["mean", "std", "seeds"]].tolist() == [2.0, 0.0, 1]


def test_several_columns_keep_their_names():
    table = scores({"a": [1.0, 3.0]}).assign(seconds=[4.0, 6.0])
    row = over_seeds(table, ["value", "seconds"]).iloc[0]
    assert (row["value"], row["seconds"], row["seconds_std"]) == (2.0, 5.0, pytest.approx(2**0.5))


def test_groups_keep_their_order_and_have_plain_keys():
    table = pd.DataFrame({"x": ["b", "a", "b"], "y": [1, 2, 3]})
    assert [key for key, _ in grouped(table, "x")] == ["b", "a"]
    assert [key for key, _ in grouped(table, "x", "y")] == [("b", 1), ("a", 2), ("b", 3)]


def test_ranks_and_marks_agree_with_paired_t_tests():
    rng = np.random.default_rng(0)
    best = 0.8 + 0.01 * rng.standard_normal(8)
    values = {
        "best": best,
        "near": best - 0.001 + 0.01 * rng.standard_normal(8),
        "far": best - 0.2 + 0.01 * rng.standard_normal(8),
    }
    found = best_methods(scores(values, dataset="d"), ["dataset"]).set_index("method")
    means = {name: np.mean(value) for name, value in values.items()}
    order = sorted(means, key=means.get, reverse=True)
    assert [found.loc[name, "rank"] for name in order] == [1, 2, 3]
    p = sorted((ttest_rel(values[order[0]], values[name]).pvalue, name) for name in order[1:])
    holm = {p[0][1]: 2 * p[0][0], p[1][1]: max(p[1][0], 2 * p[0][0])}
    for name, value in holm.items():
        assert found.loc[name, "not_worse"] == (value > 0.05)
    assert not found.loc["far", "not_worse"]


def test_a_method_without_every_seed_is_not_compared():
    table = scores({"a": [0.1, 0.1, 0.1], "b": [0.9]}, dataset="d")
    found = best_methods(table, ["dataset"]).set_index("method")
    assert np.isnan(found.loc["b", "rank"])
    assert not found.loc["b", "not_worse"]
    assert found.loc["a", "rank"] == 1
