"""Significance, ties, database codes, sensitivity and printed numbers."""

import matplotlib.text
import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
from scipy.stats import friedmanchisquare

import hashbench.reports.significance as module
from hashbench.analysis import tests
from hashbench.analysis.bootstrap import resampled_range_test
from hashbench.analysis.compare import blocks, compare, find_method
from hashbench.analysis.evidence import find_evidence
from hashbench.analysis.per_query import per_query
from hashbench.core.errors import HashbenchError
from hashbench.data.splits import Searched
from hashbench.render import figures
from hashbench.render.comparison import comparison_tables, forest
from hashbench.render.critical_difference import rank_ticks
from hashbench.render.report import NothingToShowError
from hashbench.render.style import Style
from hashbench.reports.database_codes import DatabaseCodes
from hashbench.reports.published import PublishedNumbers
from hashbench.reports.sensitivity import Sensitivity, ordered
from hashbench.reports.significance import Significance
from hashbench.reports.ties import Ties

PERFECT = ("00", "00", "11", "11")
REVERSED = ("11", "11", "00", "00")
MIXED = ("00", "01", "10", "11")


@pytest.fixture
def quiet(monkeypatch):
    """The comparison of two methods has tests of its own."""
    monkeypatch.setattr(module, "compare", lambda *_: pd.DataFrame(columns=["p_value"]))


def noisy(rng, quality):
    return {name: value + 0.02 * rng.standard_normal() for name, value in quality.items()}


QUALITY = {"a": 0.8, "b": 0.78, "c": 0.6, "d": 0.3}


@pytest.fixture
def twelve_datasets(given_scores, quiet):
    """Twelve datasets with two splits each, four methods."""
    rng = np.random.default_rng(3)
    keys = [(f"data{number}", seed) for number in range(12) for seed in range(2)]
    return given_scores({key: noisy(rng, QUALITY) for key in keys})


def over_datasets(results):
    return blocks(results.table, find_evidence(results)).groupby(level="dataset", sort=False).mean()


def test_ranks_agree_with_scipy_and_posthocs(twelve_datasets):
    data = Significance().data(twelve_datasets)
    wide = over_datasets(twelve_datasets)
    ranks = data[(data["part"] == "ranks") & (data["scope"] == module.DATASETS)]
    ranks = ranks.set_index("method")
    expected = friedmanchisquare(*(wide[name] for name in "abcd"))
    assert ranks["statistic"].iloc[0] == pytest.approx(expected.statistic)
    assert ranks["p_value"].iloc[0] == pytest.approx(expected.pvalue)
    by_hand = wide.rank(axis=1, ascending=False).mean()
    assert ranks["mean_rank"].to_dict() == pytest.approx(by_hand.to_dict())
    nemenyi = scikit_posthocs.posthoc_nemenyi_friedman(wide)
    for one in "abcd":
        for other in "abcd":
            apart = abs(by_hand[one] - by_hand[other]) > ranks["critical_difference"].iloc[0]
            assert apart == (nemenyi.loc[one, other] < 0.05)


def test_pairs_agree_with_posthocs(twelve_datasets):
    data = Significance().data(twelve_datasets)
    wide = over_datasets(twelve_datasets)
    pairs = data[(data["part"] == "pairs") & (data["scope"] == module.DATASETS)]
    pairs = pairs.set_index(["method", "against"])
    long = wide.melt(var_name="method", value_name="value")
    expected = scikit_posthocs.posthoc_wilcoxon(
        long, val_col="value", group_col="method", p_adjust="holm"
    )
    for (one, other), row in pairs.iterrows():
        assert row["p_value"] == pytest.approx(expected.loc[one, other])
        assert row["wins"] == (wide[one] > wide[other]).sum()
        assert row["wins"] + row["ties"] + row["losses"] == 12


def test_tasks_and_lengths_of_a_split_are_one_block(given_scores):
    results = given_scores({("d", 0): {"a": 0.2}, ("d", 1): {"a": 0.4}})
    twice = pd.concat([results.table, results.table.assign(task="text->image", value=0.6)])
    assert blocks(twice, find_evidence(results))["a"].tolist() == pytest.approx([0.4, 0.5])


def test_a_method_that_lacks_a_cell_is_left_out_by_name(given_scores, quiet):
    results = given_scores(
        {("d", seed): {"a": 0.2 + seed, "b": 0.1, "c": 0.3} for seed in range(3)}
        | {("d", 3): {"a": 0.3, "b": 0.2}}
    )
    data = Significance().data(results)
    assert set(data["method"]) == {"a", "b"}
    assert set(data["left_out"]) == {"c"}


@pytest.mark.parametrize(
    ("count", "most", "expected"),
    [
        (4, 10, [1, 2, 3, 4]),
        (38, 14, [1, 5, 10, 15, 20, 25, 30, 38]),
        (12, 7, [1, 4, 6, 8, 10, 12]),
    ],
)
def test_ranks_named_on_an_axis_are_round(count, most, expected):
    assert rank_ticks(count, most) == expected


@pytest.mark.parametrize("width", ["column", "page"])
def test_many_methods_can_be_read_in_any_width(given_scores, make_look, width, quiet):
    methods = [f"method {number}" for number in range(38)]
    rng = np.random.default_rng(0)
    scores = {(name, 0): dict(zip(methods, rng.random(38), strict=True)) for name in "wxyz"}
    results = given_scores(scores)
    data = Significance().data(results)
    data = data[data["scope"] == module.DATASETS]
    with figures.plot_context():
        style = make_look(methods, list("wxyz"), width=width)
        diagram, pairs, *_ = Significance().draw(data, style)
    for picture in (diagram, pairs):
        with figures.plot_context():
            picture.figure.draw_without_rendering()
        texts = [t for t in picture.figure.findobj(matplotlib.text.Text) if t.get_text()]
        assert min(text.get_fontsize() for text in texts) > 6
        dpi = picture.figure.dpi
        names = [t for t in texts if t.get_text().startswith("method") and not t.get_rotation()]
        lines = sorted({round(text.get_window_extent().y0 * 72 / dpi, 1) for text in names})
        assert len(lines) >= 19
        assert min(np.diff(lines)) >= 0.9 * names[0].get_fontsize()  # no line on another


def test_tests_that_cannot_reject_are_not_run(given_scores, quiet, make_look):
    rng = np.random.default_rng(0)
    keys = [(name, seed) for name in ("e", "f") for seed in range(5)]
    results = given_scores({key: noisy(rng, QUALITY) for key in keys})
    data = Significance().data(results)
    ranks = data[data["part"] == "ranks"].set_index("scope")
    across = ranks.loc[module.DATASETS].iloc[0]
    assert across["blocks"] == 2
    assert np.isnan(across["statistic"])
    assert "p-value is 1" in across["why"]
    assert across["why"].endswith(" 8")  # blocks that the test would need
    pairs = data[(data["part"] == "pairs")].set_index("scope")
    assert pairs.loc[module.DATASETS, "p_value"].isna().all()
    assert pairs.loc["e", "p_value"].notna().all()
    assert pairs.loc["e", "p_value"].min() < 0.05  # five splits of one dataset tell d from a
    shown = Significance().draw(data, make_look("abcd", "ef"))
    assert [each.name.split()[0] for each in shown] == ["pairs", "against", "against", "against"]
    for fact in ("e: 5 random splits", "corrected", "other datasets"):
        assert fact in shown[2].caption


def test_a_dataset_has_the_range_test_of_its_splits(given_scores, quiet):
    rng = np.random.default_rng(0)
    results = given_scores({("e", seed): noisy(rng, QUALITY) for seed in range(5)})
    data = Significance().data(results)
    expected = tests.range_test(
        blocks(results.table, find_evidence(results))[list("abcd")].to_numpy(), 1 / 3
    )
    pairs = data[data["part"] == "pairs"].set_index(["method", "against"])["p_value"]
    for i, one in enumerate("abcd"):
        for j, other in enumerate("abcd"):
            if i != j:
                assert pairs[one, other] == pytest.approx(expected.p_values[i, j])
    ranks = data[data["part"] == "ranks"]
    assert set(ranks["over"]) == {"splits"}
    assert list(ranks["method"]) == sorted("abcd", key=lambda name: -QUALITY[name])
    assert ranks["why"].str.contains("splits").all()  # how many it would take for the best two


def test_seeds_on_one_split_are_one_block_and_resampled_with_queries(hand_made):
    for seed in range(8):
        for method, database in (("good", PERFECT), ("mixed", MIXED), ("bad", REVERSED)):
            other = seed % 4 == 0 and method != "bad"
            hand_made.add(method=method, seed=seed, database=MIXED if other else database)
    results = hand_made.results()
    data = Significance().data(results)
    ranks = data[data["part"] == "ranks"]
    assert set(ranks["blocks"]) == {1}
    assert set(ranks["over"]) == {"initialisations"}
    with figures.plot_context():
        against, two = Significance().draw(data, Style.of(results))
    assert [row[0].text for row in against.groups[0].rows] == ["good", "mixed", "bad"]
    assert against.groups[0].rows[2][3].text == "0/0/1"
    assert "initialisations" in against.caption
    assert "training" in against.caption  # which this test says nothing about
    assert len(two.groups[0].rows) == 2


@pytest.mark.parametrize("seeds", [1, 2])
def test_one_split_with_few_seeds_is_not_tested(hand_made, seeds):
    for seed in range(seeds):
        for method, database in (("good", PERFECT), ("bad", REVERSED)):
            hand_made.add(method=method, seed=seed, database=database)
    data = Significance().data(hand_made.results())
    assert data["p_value"].isna().all()
    assert data["low"].isna().all()
    assert data.loc[data["part"] == "ranks", "why"].str.contains(" 3 ").all()  # splits it takes
    table = compare(hand_made.results(), "good", "bad", "AP")
    assert set(table["over"]) == {""}
    assert table[["p_value", "low", "high"]].isna().all(axis=None)
    words = comparison_tables(table, "good", "bad")
    assert words[0].count("no test") >= len(table)
    assert "none tested" in words[-1]


def test_significance_needs_two_methods(given_scores):
    with pytest.raises(NothingToShowError, match="two methods"):
        Significance().data(given_scores({("d", 0): {"a": 0.1}}))


def test_two_methods_on_one_split(hand_made):
    for seed, database in enumerate((PERFECT, MIXED, PERFECT)):
        hand_made.add(method="a", seed=seed, database=database)
        hand_made.add(method="b", seed=seed, database=REVERSED)
        hand_made.add(method="c", seed=seed, database=MIXED)
    results = hand_made.results()
    table = compare(results, "a", "b", "AP")
    first = table[table["task"] == "image->text"].iloc[0]
    values = {
        name: [
            per_query(results, stored, "image->text", Searched("seen", "encoded"), "AP")
            for stored in results.done()
            if stored.cell.label == name
        ]
        for name in "abc"
    }
    assert first["first"] == pytest.approx(np.mean(values["a"]))
    assert first["second"] == pytest.approx((1 / 3 + 2 / 4) / 2)
    assert first["difference"] == pytest.approx(first["first"] - first["second"])
    assert (first["seeds"], first["blocks"], first["blocks_won"]) == (3, 1, 1)
    assert (first["over"], first["methods"]) == ("initialisations", 3)
    together = np.stack([values[name] for name in "abc"], axis=2)
    expected = resampled_range_test(together, np.random.default_rng(0))
    assert first["p_value"] == expected.p_values[0, 1]
    half = expected.half_widths[0, 1]
    assert (first["high"] - first["low"]) / 2 == pytest.approx(half)
    words = comparison_tables(table, "a", "b")
    assert all(fact in words[-1] for fact in ("2 tested comparisons", "a wins", "b 0"))
    title, header, line, *_ = words[0].split("\n")
    assert all(fact in title for fact in ("AP", "toy", "encoded"))
    assert header.split()[:5] == ["task", "bits", "a", "b", "difference"]
    assert line.split()[:2] == ["image->text", "2"]
    assert f"{first['first']:.3f}" in line
    picture = forest(table, "a", "b", Style.of(results))
    labels = [label.get_text() for label in picture.figure.axes[0].get_yticklabels()]
    assert labels == [
        "toy, seen database, encoded codes",
        "image→text, 2 bits",
        "text→image, 2 bits",
    ]


def test_means_are_those_of_tables_where_seeds_ask_different_items(hand_made):
    for seed, database in enumerate((PERFECT, MIXED, REVERSED)):
        hand_made.split(f"s{seed}", query=(10 + seed, 20))
        for method in "ab":
            chosen = database if method == "a" else REVERSED
            hand_made.add(method=method, seed=seed, split=f"s{seed}", database=chosen)
    results = hand_made.results()
    table = compare(results, "a", "b", "AP").set_index("task")
    means = results.scores().groupby(["task", "method"])["value"].mean()
    for task, row in table.iterrows():
        assert row["first"] == pytest.approx(means[task, "a"])
        assert row["second"] == pytest.approx(means[task, "b"])
        assert (row["over"], row["blocks"]) == ("splits", 3)
        assert row["low"] < row["difference"] < row["high"]
    words = comparison_tables(compare(results, "a", "b", "AP"), "a", "b")
    assert "3 random splits; a is ahead in 2" in words[0]
    assert max(len(line) for text in words for line in text.split("\n")) <= 80


def test_a_method_does_not_differ_from_itself(hand_made):
    for seed in range(3):
        hand_made.add(method="a", seed=seed, database=MIXED)
        hand_made.add(method="b", seed=seed, database=MIXED)
    table = compare(hand_made.results(), "a", "b", "AP")
    assert table["difference"].tolist() == [0, 0]
    assert table["p_value"].tolist() == [1, 1]
    words = comparison_tables(table, "a", "b")
    assert all(fact in words[-1] for fact in ("2 tested comparisons", "a wins 0", "b 0", "in 2"))
    assert words[0].split("\n")[2].split()[-2:] == ["1", "-"]


def test_methods_to_compare_are_found_by_name(hand_made):
    hand_made.add(method="edsh", params="gamma=1")
    hand_made.add(method="edsh", params="gamma=2")
    hand_made.add(method="cca", params="ridge=1")
    results = hand_made.results()
    assert find_method(results, "cca") == "cca[ridge=1]"
    assert find_method(results, "edsh[gamma=2]") == "edsh[gamma=2]"
    with pytest.raises(HashbenchError, match=r"'edsh'.*edsh\[gamma=1\], edsh\[gamma=2\]"):
        find_method(results, "edsh")
    with pytest.raises(HashbenchError, match=r"'ccaa'.*cca\[ridge=1\]"):
        find_method(results, "ccaa")


def test_ties_have_bounds_and_an_index_order(hand_made):
    hand_made.add(database=("00", "00", "00", "11"))
    results = hand_made.results()
    data = Ties().data(results)
    row = data[data["task"] == "image->text"].iloc[0]
    # query 00: two of three tied items are relevant; query 11: one relevant first, one tied last
    best = (1.0, (1 + 2 / 2) / 2)
    worst = ((1 / 2 + 2 / 3) / 2, (1 + 2 / 4) / 2)
    assert row["optimistic"] == pytest.approx(np.mean(best))
    assert row["pessimistic"] == pytest.approx(np.mean(worst))
    # database order: relevant, relevant, foreign for 00; foreign, foreign, relevant tied for 11
    assert row["index"] == pytest.approx(np.mean([1.0, (1 + 2 / 4) / 2]))
    assert row["pessimistic"] < row["expected"] < row["optimistic"]
    with figures.plot_context():
        (picture,) = Ties().draw(data, Style.of(results))
    assert "orders" in picture.caption
    with pytest.raises(NothingToShowError, match=r"P\(radius=1\)"):
        Ties().data(results.select(measures=["P(radius=1)"]))


def test_learned_beside_encoded(hand_made):
    hand_made.add(method="plain", database=PERFECT)
    with pytest.raises(NothingToShowError, match="learned"):
        DatabaseCodes().data(hand_made.results())
    hand_made.add(database=REVERSED, learned=PERFECT)
    results = hand_made.results()
    data = DatabaseCodes().data(results)
    row = data.iloc[0]
    encoded = (1 / 3 + 2 / 4) / 2
    assert set(data["method"]) == {"edsh"}
    assert (row["encoded"], row["learned"]) == (pytest.approx(encoded), 1.0)
    assert row["difference"] == pytest.approx(1 - encoded)
    with figures.plot_context():
        table, picture = DatabaseCodes().draw(data, Style.of(results))
    texts = [entry.text for entry in table.groups[0].rows[0]]
    assert texts == ["edsh", "0.4167", "1.0000", "+0.5833"]
    assert "learned" in picture.caption


def test_one_parameter_gives_a_curve(hand_made):
    hand_made.add(parameters={"gamma": 1.0}, database=MIXED)
    with pytest.raises(NothingToShowError, match="parameter"):
        Sensitivity().data(hand_made.results())
    hand_made.add(params="gamma=10", parameters={"gamma": 10.0}, database=PERFECT)
    results = hand_made.results()
    data = Sensitivity().data(results)
    one = data[data["task"] == "image->text"]
    assert dict(zip(one["x"], one["mean"], strict=True))["10"] == 1.0
    assert set(one["x_parameter"]) == {"gamma"}
    with figures.plot_context():
        (picture,) = Sensitivity().draw(data, Style.of(results))
    assert picture.figure.axes[0].lines[0].get_xdata().tolist() == [0, 1]


def test_more_parameters_give_maps_of_the_best(hand_made):
    for alpha in (1.0, 2.0):
        for beta in (1.0, 2.0):
            for gamma, database in ((1.0, MIXED), (2.0, PERFECT if alpha > 1 else REVERSED)):
                hand_made.add(
                    params=f"alpha={alpha},beta={beta},gamma={gamma}",
                    parameters={"alpha": alpha, "beta": beta, "gamma": gamma},
                    database=database,
                )
    results = hand_made.results()
    data = Sensitivity().data(results)
    maps = data[(data["task"] == "image->text") & (data["y_parameter"] == "beta")]
    assert set(maps["x_parameter"]) == {"alpha"}
    means = maps.set_index(["x", "y"])["mean"]
    assert means["2", "1"] == 1.0  # the best over gamma
    assert 0 < means["1", "1"] < 1.0
    with figures.plot_context():
        pictures = Sensitivity().draw(data, Style.of(results))
    assert len(pictures) == 3  # three pairs of parameters
    assert ordered(["10", "9", "rbf", "0.5", "none"]) == ["0.5", "9", "10", "none", "rbf"]


def test_printed_numbers_stand_beside_reproduced_ones(hand_made):
    hand_made.measures = ("AP(norm=retrieved,ties=index)@100",)
    hand_made.add()
    with pytest.raises(NothingToShowError, match="paper"):
        PublishedNumbers().data(hand_made.results())
    eight = {"queries": ("0" * 8, "1" * 8), "bits": 8, "dataset": "wiki-cnn"}
    perfect, reverse = ["0" * 8] * 2 + ["1" * 8] * 2, ["1" * 8] * 2 + ["0" * 8] * 2
    hand_made.add(**eight, database=reverse, learned=perfect)
    hand_made.add(**eight, database=reverse, learned=perfect, params="gamma=1")
    hand_made.add(**{**eight, "method": "scm-s"}, database=perfect)
    results = hand_made.results()
    data = PublishedNumbers().data(results)
    assert set(data["method"]) == {"edsh", "scm-s"}  # another gamma is another method
    rows = data.set_index(["method", "task", "codes"])
    learned = rows.loc[("edsh", "image->text", "learned")]
    assert learned["printed"] == 0.4517
    assert learned["reproduced"] == 1.0
    assert learned["difference"] == pytest.approx(1 - 0.4517)
    assert rows.loc[("edsh", "text->image", "encoded"), "printed"] == 0.6751
    assert rows.loc[("scm-s", "image->text", "encoded"), "printed"] == 0.2417
    assert "25 % queries" in learned["printed_protocol"]
    with figures.plot_context():
        table, picture = PublishedNumbers().draw(data, Style.of(results))
    assert table.name == "EDSH Table 1"
    rows = [[entry.text for entry in row] for row in table.groups[0].rows]
    assert rows[:2] == [["edsh", "printed", "0.452"], ["", "here", "1.000"]]
    assert [row[2].mark for row in table.groups[0].rows] == ["", "", "", "e"]
    assert [row[2].bold for row in table.groups[0].rows] == [True, True, False, True]
    assert any("0 of 2 scores within 0.05" in note for note in table.notes)
    assert "AP(norm=retrieved,ties=index)@100" in picture.caption


def test_methods_with_other_parameters_alone_have_no_printed_numbers(hand_made):
    hand_made.add(params="gamma=1")
    with pytest.raises(NothingToShowError, match="paper"):
        PublishedNumbers().data(hand_made.results())


def test_printed_times_are_for_sixteen_bits(hand_made):
    hand_made.add(
        queries=("0" * 16, "1" * 16),
        database=["0" * 16] * 4,
        bits=16,
        dataset="wiki",
        record={"seconds": {"fit": 6.5}},
    )
    data = PublishedNumbers().data(hand_made.results())
    times = data[data["quantity"] == "train_seconds"]
    assert times[["printed", "reproduced", "difference"]].to_numpy().tolist() == [[13, 6.5, -6.5]]


def test_a_papers_tables_and_figures_have_its_names(hand_made, registry):
    hand_made.measures = ("AP(norm=retrieved,ties=index)@100",)
    sixteen = {"queries": ("0" * 16, "1" * 16), "bits": 16, "dataset": "wiki-cnn"}
    codes = ["0" * 16] * 2 + ["1" * 16] * 2
    history = {"objective": [3.0, 2.0], "objective_seconds": [0.1, 0.2]}
    hand_made.add(**sixteen, database=codes, learned=codes, history=history)
    hand_made.add(**sixteen, method="dlfh", database=codes, history=history)
    hand_made.add(**sixteen, method="dch", database=codes)  # the paper has no numbers of it
    results = hand_made.results(registry)
    data = PublishedNumbers().data(results)
    with figures.plot_context():
        exhibits = PublishedNumbers().draw(data, Style.of(results))
    names = ["EDSH Table 1", "EDSH Table 2", "EDSH Fig 2", "EDSH Fig 3", "EDSH Fig 4"]
    assert [each.name for each in exhibits[:-1]] == names
    assert [each.heading.partition(" of ")[0] for each in exhibits[:-1]] == [
        "Table 1", "Table 2", "Fig. 2", "Fig. 3", "Fig. 4",
    ]  # fmt: skip
    curves = data[data["exhibit"] == "Fig. 2"]
    assert set(curves["method"]) == {"edsh", "dlfh"}
    assert set(curves["codes"]) == {"learned-or-encoded"}
    assert set(data.loc[data["exhibit"] == "Fig. 4", "method"]) == {"edsh"}
    (panel,) = exhibits[4].figure.axes
    assert panel.lines[0].get_ydata().tolist() == [3.0, 2.0]
