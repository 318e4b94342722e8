"""Means over seeds, ranks and marks, by hand and by scipy."""

import numpy as np
import pandas as pd
import pytest

from hashbench.analysis import tests
from hashbench.analysis.evidence import Evidence, find_evidence
from hashbench.analysis.range_tests import RangeTests, best_methods
from hashbench.analysis.summary import (
    by_seed,
    grouped,
    mean_ranks,
    over_seeds,
    rows_by,
)


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


def test_comparisons_come_in_their_order_with_gaps_as_pandas_pivots_them():
    rng = np.random.default_rng(0)
    rows = [
        {"task": task, "bits": bits, "method": method, "seed": seed, "value": rng.random()}
        for task, bits in [("b", 2), ("a", 2), ("b", 1), ("a", 1)]
        for method in ("y", "x", "z")
        for seed in (3, 1)
        if (task, method, seed) != ("a", "x", 1)
    ]
    table = pd.DataFrame(rows).sample(frac=1, random_state=0).reset_index(drop=True)
    keys = ["task", "bits"]
    groups = list(table.groupby(keys, sort=False))
    found = list(by_seed(table, keys))
    assert [key for key, _ in found] == [key for key, _ in groups]
    for (_, wide), (_, group), (_, own) in zip(found, groups, rows_by(table, keys), strict=True):
        pivot = group.pivot(index="seed", columns="method", values="value")
        assert (wide.seeds, wide.methods) == (list(pivot.index), list(pivot.columns))
        np.testing.assert_array_equal(wide.values, pivot.to_numpy())
        assert own.tolist() == group.index.tolist()
    assert list(by_seed(table.iloc[:0], keys)) == []


def test_seeds_of_one_split_are_averaged_over_those_that_there_are():
    evidence = Evidence({("d", 0): 7, ("d", 1): 5, ("d", 2): 7}, {"d": 0.5})
    wide = np.array([[1.0, np.nan, 4.0], [2.0, 3.0, np.nan], [5.0, 6.0, 8.0]])
    found = evidence.averaged(wide, [0, 1, 2], "d")
    np.testing.assert_array_equal(found, [[2.0, 3.0, np.nan], [3.0, 6.0, 6.0]])


def ranked(table, evidence):
    """Return `best_methods` of a table, one comparison per dataset."""
    range_tests = RangeTests.__new__(RangeTests)  # no folder: only the evidence is read
    range_tests.evidence, range_tests.results = evidence, None
    about = {"task": "image->text", "bits": 16, "measure": "AP"}
    about |= {"database": "unseen", "codes": "encoded"}
    return best_methods(table.assign(**about), ["dataset", *about], range_tests)


def splits(count, overlap=1 / 3, dataset="d"):
    """Evidence of one dataset, with a distinct split per seed."""
    return Evidence({(dataset, seed): seed for seed in range(count)}, {dataset: overlap})


def test_ranks_and_marks_agree_with_the_range_test():
    rng = np.random.default_rng(0)
    best = 0.8 + 0.01 * rng.standard_normal(8)
    values = {
        "best": best,
        "near": best - 0.001 + 0.01 * rng.standard_normal(8),
        "far": best - 0.2 + 0.01 * rng.standard_normal(8),
    }
    found = ranked(scores(values, dataset="d"), splits(8)).set_index("method")
    expected = tests.range_test(np.column_stack(list(values.values())), 1 / 3)
    np.testing.assert_allclose(found["critical_difference"], expected.critical_difference)
    assert set(found["over"]) == {"splits"}
    means = {name: np.mean(value) for name, value in values.items()}
    order = sorted(means, key=means.get, reverse=True)
    assert [found.loc[name, "rank"] for name in order] == [1, 2, 3]
    assert found["not_worse"].to_dict() == {"best": True, "near": True, "far": False}
    assert set(found["blocks"]) == {8}


def test_seeds_of_one_split_are_one_block_and_prove_nothing():
    table = scores({"a": [0.9] * 2, "b": [0.1] * 2}, dataset="d")
    one = Evidence({("d", seed): 0 for seed in range(2)}, {"d": 1 / 3})
    found = ranked(table, one).set_index("method")
    assert set(found["blocks"]) == {1}
    assert set(found["over"]) == {""}
    assert not found["not_worse"].any()
    assert found["rank"].to_dict() == {"a": 1, "b": 2}
    assert one.count("d") == 1
    assert one.seeds("d") == 2


@pytest.mark.parametrize("labelled", [1.0, 0.1])
def test_marks_are_seldom_wrong_where_methods_do_not_differ(labelled):
    """Four methods that do not differ, trained and scored on ten random splits of 200 items.

    Each sees features of its own, drawn alike, so that none is better on any data but by luck. A
    mark is wrong where a method differs from the best. Tests that take splits for independent are
    wrong several times as often as they claim. Where a tenth of the rows have
    labels, splits share less: the same correction is enough, and one by the labelled rows alone
    makes a test that never rejects.
    """
    rng = np.random.default_rng(7)
    collections, items, seeds, methods = 400, 200, 10, 4
    queries, rows = items // 4, []
    others = items - queries
    trained_on = round(labelled * others)
    for collection in range(collections):
        signs = rng.choice([-1.0, 1.0], items)
        features = rng.standard_normal((methods, items, 4)) + 0.35 * signs[None, :, None]
        for seed in range(seeds):
            order = rng.permutation(items)
            asked, trained = order[:queries], order[queries : queries + trained_on]
            X, y = features[:, trained], signs[trained]
            gram = X.transpose(0, 2, 1) @ X + 1e-3 * np.eye(4)
            weights = np.linalg.solve(gram, X.transpose(0, 2, 1) @ y[:, None])
            right = (features[:, asked] @ weights)[..., 0] * signs[asked] > 0
            values = right.mean(axis=1)
            rows += [(str(collection), f"m{m}", seed, value) for m, value in enumerate(values)]
    table = pd.DataFrame(rows, columns=["dataset", "method", "seed", "value"])

    def wrong(overlap):
        names = [str(number) for number in range(collections)]
        each = {(name, seed): seed for name in names for seed in range(seeds)}
        found = ranked(table, Evidence(each, dict.fromkeys(names, overlap)))
        return (~found["not_worse"]).groupby(found["dataset"]).any().mean()

    assert wrong(queries / others) <= 0.07
    assert wrong(0.0) > 0.15
    if labelled < 1:
        assert wrong(queries / trained_on) == 0


def test_a_method_without_every_seed_is_not_compared():
    table = scores({"a": [0.1, 0.1, 0.1], "b": [0.9]}, dataset="d")
    found = ranked(table, splits(3)).set_index("method")
    assert np.isnan(found.loc["b", "rank"])
    assert not found.loc["b", "not_worse"]
    assert found.loc["a", "rank"] == 1


def test_rows_that_are_not_asked_decide_how_much_splits_share(hand_made):
    hand_made.split(train=(2, 3))  # of four rows that are searched; two are asked
    hand_made.add()
    assert find_evidence(hand_made.results()).overlaps["toy"] == 2 / 4


def test_the_best_method_has_the_best_mean_rank_and_ties_go_by_mean_score():
    found = mean_ranks([{"a": 0.9, "b": 0.8, "c": 0.1}, {"a": 0.5, "b": 0.7, "d": 1.0}])
    assert {name: each.rank for name, each in found.items()} == {"b": 1.5, "a": 1.5}
    assert list(found) == ["b", "a"]  # .75 and .7; the others lack a slice
    assert found["b"].score == pytest.approx(0.75)
    assert list(mean_ranks([{"a": 1.0, "b": 0.1}, {"a": 0.4, "b": 0.5}, {"a": 0.4, "b": 0.5}])) == [
        "b",
        "a",
    ]
    assert mean_ranks([]) == {}
