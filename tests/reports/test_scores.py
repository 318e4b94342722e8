"""The table of scores and the curves."""

import numpy as np
import pytest

from hashbench.render import figures
from hashbench.render.report import NothingToShowError
from hashbench.render.style import Style
from hashbench.reports.bits_curve import BitsCurve
from hashbench.reports.map_table import MapTable
from hashbench.reports.pr_curve import PrecisionRecallCurve
from hashbench.reports.seed_spread import SeedSpread
from hashbench.reports.topk_curve import TopKCurve

PERFECT = ("00", "00", "11", "11")
REVERSED = ("11", "11", "00", "00")


def entries(table, title):
    """Return {row's name: texts of the row} of a group of a table."""
    group = next(group for group in table.groups if group.title == title)
    return {row[0].text: row[1:] for row in group.rows}


def test_the_table_marks_best_second_and_failed(hand_made):
    for seed in (0, 1):
        hand_made.add(method="good", seed=seed, database=PERFECT)
        hand_made.add(method="bad", seed=seed, database=REVERSED)
        hand_made.add(method="late", seed=seed, bits=2, status="timeout", reason="too slow")
    hand_made.add(method="half", seed=0, database=PERFECT)
    hand_made.add(method="half", seed=1, bits=2, status="failed", reason="no")
    results = hand_made.results()
    data = MapTable().data(results)
    row = data[(data["task"] == "image->text") & (data["method"] == "bad")].iloc[0]
    # both relevant items at ranks 3 and 4: (1/3 + 2/4) / 2
    assert row["mean"] == pytest.approx((1 / 3 + 2 / 4) / 2)
    assert (row["rank"], row["seeds"], row["planned"]) == (2, 2, 2)
    (table,) = MapTable(spread=False).draw(data, Style.of(results))
    rows = entries(table, "image→text")
    assert (rows["good"][0].text, rows["good"][0].bold) == ("1.000", True)
    assert (rows["bad"][0].text, rows["bad"][0].underlined) == ("0.417", True)
    assert rows["late"][0].text == "– timeout"
    assert (rows["half"][0].text, rows["half"][0].mark) == ("1.000", "1/2")
    assert not rows["half"][0].bold  # a mean over fewer seeds is not compared
    for words in ("AP (", "encoded", "1 to 2 seeds"):
        assert words in table.caption


@pytest.mark.parametrize(("splits", "mark"), [(2, ""), (3, "*")])
def test_marks_need_three_splits(hand_made, splits, mark):
    for seed in range(splits):
        hand_made.split(f"s{seed}", query=(10 + seed, 20))
        about = {"seed": seed, "split": f"s{seed}"}
        hand_made.add(method="good", database=PERFECT, **about)
        hand_made.add(method="even", database=(PERFECT, REVERSED)[seed % 2], **about)
    results = hand_made.results()
    (table,) = MapTable().draw(MapTable().data(results), Style.of(results))
    assert entries(table, "image→text")["even"][0].mark == mark
    assert ("studentized range" in table.notes[0]) == bool(mark)
    assert table.notes[1].startswith(f"toy: {splits} random splits")
    assert ("no test" in table.notes[1]) == (not mark)
    assert ("no difference below" in table.notes[1]) == bool(mark)


@pytest.mark.parametrize(("seeds", "mark"), [(2, ""), (4, "*")])
def test_seeds_of_one_split_are_called_initialisation(hand_made, seeds, mark):
    for seed in range(seeds):
        hand_made.add(method="good", seed=seed, database=PERFECT)
        hand_made.add(method="even", seed=seed, database=(PERFECT, REVERSED)[seed % 2])
    results = hand_made.results()
    (table,) = MapTable().draw(MapTable().data(results), Style.of(results))
    assert entries(table, "image→text")["even"][0].mark == mark
    for fact in ("toy: one split", f"{seeds} seeds of initialisation"):
        assert fact in table.notes[1]
    assert ("no test" in table.notes[1]) == (not mark)
    assert ("resampling" in table.notes[0]) == bool(mark)


def test_only_methods_with_learned_codes_are_in_their_table(hand_made):
    hand_made.add(method="good", database=REVERSED, learned=PERFECT)
    hand_made.add(method="plain", database=PERFECT)
    results = hand_made.results()
    encoded, learned = MapTable().draw(MapTable().data(results), Style.of(results))
    assert set(entries(encoded, "image→text")) == {"good", "plain"}
    assert set(entries(learned, "image→text")) == {"good"}
    assert "learned" in learned.caption
    assert "learned" not in encoded.caption


def test_precision_recall_points_by_hand(hand_made):
    hand_made.add(database=("00", "01", "10", "11"))
    data = PrecisionRecallCurve().data(hand_made.results())
    one = data[(data["task"] == "image->text") & (data["by"] == "rank")].set_index("x")
    # query 00: relevant at distance 0 and one of two at distance 1; query 11 is its mirror image
    assert one.loc[1, "precision"] == 1.0
    assert one.loc[2, ["precision", "recall"]].tolist() == [0.75, 0.75]
    assert one.loc[4, ["precision", "recall"]].tolist() == [0.5, 1.0]
    ball = data[(data["task"] == "image->text") & (data["by"] == "radius")].set_index("x")
    assert ball.loc[1, "precision"] == pytest.approx(2 / 3)  # 4 of the 6 items within radius 1
    assert ball.loc[1, "recall"] == 1.0


def test_topk_points_by_hand(hand_made):
    hand_made.add(database=PERFECT)
    hand_made.add(database=REVERSED, seed=1)
    data = TopKCurve().data(hand_made.results()).set_index(["task", "K"])
    assert data.loc[("text->image", 2), "precision"] == 0.5  # 1 and 0
    assert data.loc[("text->image", 2), "precision_std"] == pytest.approx(np.std([1, 0], ddof=1))
    assert data.loc[("text->image", 2), "seeds"] == 2


def test_a_curve_over_bits_needs_two_lengths(hand_made):
    hand_made.add(database=PERFECT)
    with pytest.raises(NothingToShowError, match="code length"):
        BitsCurve().data(hand_made.results())
    hand_made.add(queries=("0", "1"), database=("0", "1", "0", "1"))
    data = BitsCurve().data(hand_made.results()).set_index(["task", "bits"])
    assert data.loc[("image->text", 2), "mean"] == 1.0
    # one bit: a relevant and a foreign item at each distance
    assert 0.4 < data.loc[("image->text", 1), "mean"] < 0.9


@pytest.mark.parametrize("report", [PrecisionRecallCurve(), TopKCurve(), MapTable()])
def test_nothing_done_is_nothing_to_show(hand_made, report):
    hand_made.add(bits=2, status="failed", reason="no")
    with pytest.raises(NothingToShowError, match="no cell"):
        report.data(hand_made.results())


@pytest.mark.parametrize("report", [PrecisionRecallCurve(), TopKCurve()])
def test_curves_are_drawn_for_each_kind_of_codes(hand_made, report):
    hand_made.add(database=PERFECT, learned=PERFECT)
    hand_made.add(database=REVERSED, method="other")
    results = hand_made.results()
    with figures.plot_context():
        pictures = report.draw(report.data(results), Style.of(results))
    for picture in pictures:
        axes = [panel for panel in picture.figure.axes if panel.get_title()]
        assert [panel.get_title() for panel in axes] == ["toy, image→text", "toy, text→image"]
        lines = 2 if "encoded" in picture.name else 1
        assert all(len(panel.lines) == lines for panel in axes)
        assert "2 bits" in picture.caption


def test_every_seed_is_a_dot_and_the_best_mean_comes_first(hand_made):
    for seed in (0, 1):
        hand_made.add(method="even", seed=seed, database=(PERFECT, REVERSED)[seed])
        hand_made.add(method="good", seed=seed, database=PERFECT)
    results = hand_made.results()
    (picture,) = SeedSpread().draw(SeedSpread().data(results), Style.of(results))
    panel = picture.figure.axes[0]
    assert [text.get_text() for text in panel.get_yticklabels()] == ["good", "even"]
    seeds, spread, means = panel.collections
    low = (1 / 3 + 2 / 4) / 2
    assert sorted(seeds.get_offsets()[:, 0]) == pytest.approx([low, 1, 1, 1])
    assert means.get_offsets().tolist() == pytest.approx(np.array([[1, 0], [(1 + low) / 2, 1]]))
    (good, _), (left, right) = (line[:, 0] for line in spread.get_segments())
    assert good == 1
    assert right - left == pytest.approx(2 * np.std([1, low], ddof=1))


def test_one_seed_has_no_spread(hand_made):
    hand_made.add(method="good", database=PERFECT)
    with pytest.raises(NothingToShowError, match="one seed"):
        SeedSpread().data(hand_made.results())
