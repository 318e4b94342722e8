"""What tables, the page and reports say of methods that do not differ, and of one that does.

Studies are simulated from stored scores: those of EDSH at 16 bits on 40 random splits of emoji
(`hashbench run -m edsh -d emoji -b 16 -s 40`, AP of image->text on unseen rows). Every method of a
study draws its scores from them. The statements are those of the functions that the table of
scores, the page and the report `significance` are made of.
"""

import numpy as np
import pandas as pd
import pytest

import hashbench.reports.significance as significance
from hashbench.analysis.range_tests import RangeTests
from hashbench.data.splits import Searched
from hashbench.reports.map_table import KEYS, best_methods
from hashbench.reports.significance import Significance
from hashbench.site.comparisons import comparisons
from hashbench.site.payload import _scores as page_rankings
from hashbench.site.positions import Positions

SCORES = np.array([
    0.589, 0.594, 0.5729, 0.5776, 0.5626, 0.5535, 0.5846, 0.5671, 0.5682, 0.592,
    0.5529, 0.5953, 0.5701, 0.5428, 0.5846, 0.6141, 0.6022, 0.5912, 0.5802, 0.5751,
    0.5701, 0.5949, 0.5537, 0.5663, 0.6217, 0.5644, 0.5687, 0.5664, 0.5865, 0.5422,
    0.5694, 0.5896, 0.566, 0.5825, 0.5921, 0.5785, 0.5996, 0.5722, 0.5724, 0.5531,
])  # fmt: skip
METHODS, SPLITS, STUDIES = 38, 5, 100


def studies(
    given_scores,
    correlation=0.0,
    lead=0.0,
    spread=None,
    methods=METHODS,
    splits=SPLITS,
    count=STUDIES,
):
    """Return results with one dataset per study.

    Parameters
    ----------
    correlation : of a method's scores on two splits, which share three quarters of their rows
    lead : of the first method
    spread : standard deviation of scores; that of the stored ones by default
    """
    rng = np.random.default_rng(0)
    names = [f"m{number:02}" for number in range(methods)]
    deviations = SCORES - SCORES.mean()
    if spread is not None:
        deviations *= spread / SCORES.std(ddof=1)
    cells = {}
    for study in range(count):
        shared = rng.choice(deviations, methods)
        own = rng.choice(deviations, (splits, methods))
        values = SCORES.mean() + np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own
        values[:, 0] += lead
        for seed, row in enumerate(values.tolist()):
            cells[f"d{study:03}", seed] = dict(zip(names, row, strict=True))
    results = given_scores(cells, pessimistic=0.0, optimistic=1.0, chance_error=0.01)
    values = {
        "dataset": sorted({name for name, _ in cells}),
        "task": ["image->text"],
        "bits": [16],
        "database": [Searched("unseen", "encoded")],
        "measure": ["AP"],
    }
    return results, Positions(names, values)


def statements(results, positions):
    """Return one row per study and method: what is said of it and the first method.

    Columns: stars (whether `map-table` has one or the method is the best), group (on the page), p
    and excludes_zero (the page's comparison of two), and report (p-value of `significance`).
    """
    stars = best_methods(results.scores(), KEYS, RangeTests(results))
    stars = stars.set_index(["dataset", "method"])["not_worse"]
    names = positions.methods
    groups, page = {}, []
    for block in page_rankings(results.scores(), positions, RangeTests(results)):
        dataset = positions.values["dataset"][block["at"][0]]
        groups |= {(dataset, names[row["method"]]): row["group"] for row in block["rows"]}
    for pair, rows in comparisons(results, positions, "AP")["pairs"].items():
        first, second = (names[int(each)] for each in pair.split("-"))
        for slice_, _, _, low, high, p_value, *_ in rows:
            p = 0.0 if p_value.startswith("<") else float(p_value)
            dataset = positions.values["dataset"][slice_]
            page.append((dataset, first, second, p, low > 0 or high < 0))
    columns = ["dataset", "first", "second", "p", "excludes_zero"]
    return stars, groups, pd.DataFrame(page, columns=columns)


def wrong_shares(results, positions):
    """Return the share of studies with a wrong statement: by stars, groups, p-values, intervals."""
    stars, groups, page = statements(results, positions)
    by_study = page.groupby("dataset")
    return {
        "stars": (~stars).groupby("dataset").any().mean(),
        "groups": pd.Series({key: group > 0 for key, group in groups.items()})
        .groupby(level=0)
        .any()
        .mean(),
        "p-values": (by_study["p"].min() < 0.05).mean(),
        "intervals": by_study["excludes_zero"].any().mean(),
    }


@pytest.mark.parametrize("correlation", [0.0, 0.25])
def test_clones_of_a_method_are_seldom_said_to_differ(given_scores, correlation):
    shares = wrong_shares(*studies(given_scores, correlation))
    assert max(shares.values()) <= 0.07, shares
    # intervals and p-values are of one distribution
    assert shares["intervals"] == shares["p-values"] >= shares["groups"] >= shares["stars"] - 1e-9


def test_a_true_difference_is_found(given_scores):
    results, positions = studies(given_scores, lead=0.05, spread=0.01)
    stars, groups, page = statements(results, positions)
    first = page[page["first"] == "m00"]
    assert len(first) == STUDIES * (METHODS - 1)
    assert (first["p"] < 0.05).mean() >= 0.8
    others = stars[stars.index.get_level_values("method") != "m00"]
    assert (~others).mean() >= 0.8
    assert np.mean([group > 0 for (_, name), group in groups.items() if name != "m00"]) >= 0.8


@pytest.mark.parametrize("correlation", [0.0, 0.25])
def test_the_report_says_what_tables_say(given_scores, correlation, monkeypatch):
    monkeypatch.setattr(significance, "compare", lambda *_: pd.DataFrame())
    monkeypatch.setattr(significance, "_across", lambda _: ())  # these are not datasets
    results, positions = studies(given_scores, correlation, methods=6, count=30)
    _, _, page = statements(results, positions)
    data = Significance().data(results)
    pairs = data[data["part"] == "pairs"].set_index(["scope", "method", "against"])["p_value"]
    of_page = page["p"].to_numpy()
    keys = pd.MultiIndex.from_frame(page[["dataset", "first", "second"]])
    of_report = pairs.reindex(keys).to_numpy()
    np.testing.assert_allclose(of_page[of_page > 0], of_report[of_page > 0], rtol=0.051)
    assert (of_report[of_page == 0] < 0.001).all()
    wrong = (pairs < 0.05).groupby(level=0).any().mean()
    assert wrong <= 0.07


@pytest.mark.parametrize("splits", [1, 2])
def test_too_few_splits_say_nothing(given_scores, splits):
    results, positions = studies(given_scores, lead=0.5, methods=3, splits=splits, count=3)
    stars = best_methods(results.scores(), KEYS, RangeTests(results))
    assert not stars["not_worse"].any()
    assert set(stars["over"]) == {""}
    rows = comparisons(results, positions, "AP")["pairs"]["0-1"]
    assert {tuple(row[3:6]) for row in rows} == {(None, None, None)}
    assert all(
        row["group"] is None
        for block in page_rankings(results.scores(), positions, RangeTests(results))
        for row in block["rows"]
    )
