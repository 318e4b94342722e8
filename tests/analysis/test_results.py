"""The tables that reports read, against numbers worked out by hand."""

import json
from dataclasses import replace

import numpy as np
import pytest

from hashbench.analysis.per_query import per_query
from hashbench.core.errors import HashbenchError
from hashbench.core.io import read_record, save_arrays, write_record
from hashbench.core.npz import read_arrays
from hashbench.data.splits import Searched, StoredSplit
from hashbench.execution.cell_codes import CellCodes
from hashbench.execution.score_cache import FOLDER
from hashbench.execution.scoring import curve_ranks, database_statistics
from hashbench.measures import evaluate
from hashbench.render.report import method_cell
from hashbench.render.style import Style


def test_scores_are_those_of_the_evaluator(hand_made):
    hand_made.measures = ("AP", "P@1", "AP(ties=index)", "PR")
    hand_made.add(database=("00", "11", "11", "01"))
    table = hand_made.results().scores()
    assert set(table["task"]) == {"image->text", "text->image"}
    assert set(table["database"]) == {"seen"}
    assert set(table["codes"]) == {"encoded"}
    # query 00: items at distances 0 (relevant), 2 (relevant), 2 (not), 1 (not)
    # query 11: items at 2 (not), 0 (not), 0 (relevant), 1 (relevant)
    by_hand = evaluate(
        [[0, 0], [1, 1]], [[0, 0], [1, 1], [1, 1], [0, 1]], [0, 1], [0, 0, 1, 1], ["AP", "P@1"]
    )
    values = table.set_index(["task", "measure"])["value"]
    assert values["image->text", "AP"] == pytest.approx(by_hand["AP"])
    assert values["image->text", "P@1"] == pytest.approx(0.75)  # 1 and an even chance
    first = (1 + 2 / 3) / 2, (1 / 2 + 2 / 3) / 2  # ties as the database has them
    assert values["text->image", "AP(ties=index)"] == pytest.approx(np.mean(first))
    row = table[table["measure"] == "AP"].iloc[0]
    assert row["pessimistic"] < row["value"] < row["optimistic"]
    # all four tied, two relevant: the expected precision at rank i + 1 is (1 + i / 3) / (i + 1)
    assert row["chance"] == pytest.approx((1 + 4 / 6 + 5 / 9 + 2 / 4) / 4)


def test_learned_codes_are_scored_of_seen_rows(hand_made):
    hand_made.add(learned=("00", "00", "11", "11"))
    table = hand_made.results().scores().set_index(["task", "database", "codes"])["value"]
    assert table["image->text", "seen", "learned"] == 1.0
    assert table["image->text", "seen", "encoded"] < 1.0


def test_seen_and_unseen_rows_are_scored_apart(hand_made):
    hand_made.split(train=(5, 2))  # learned codes have the order of the training rows
    hand_made.add(database=("00", "11", "00", "11"), learned=("11", "00"))
    results = hand_made.results()
    table = results.scores()
    table = table[table["task"] == "image->text"].set_index(["database", "codes"])["value"]
    # of rows 2 and 5 and of 3 and 4, one has the label of each query
    assert table.to_dict() == {
        ("unseen", "encoded"): 0.5,
        ("seen", "encoded"): 1.0,
        ("all", "encoded"): pytest.approx(2 / 3),  # two rows at each distance, one relevant
        ("seen", "learned"): 1.0,
    }
    assert set(results.shown().scores()["database"]) == {"unseen"}
    mixed = results.select(codes=["learned-or-encoded"], databases=["seen"]).scores()
    assert set(mixed["codes"]) == {"learned-or-encoded"}
    assert list(mixed["value"]) == [1.0, 1.0]


def test_a_study_shows_learned_codes_where_methods_have_them(hand_made):
    reverse = {"database": ("11", "11", "00", "00")}
    hand_made.add(method="both", **reverse, learned=("00", "00", "11", "11"))
    hand_made.add(method="one", **reverse)
    results = hand_made.results()
    assert set(results.shown().scores()["codes"]) == {"encoded"}
    results = hand_made.results()
    results.plan.codes = "learned-or-encoded"
    shown = results.shown().scores()
    assert set(shown["codes"]) == {"learned-or-encoded"}
    means = shown.groupby("method")["value"].mean()
    assert means["both"] == 1.0
    assert means["one"] < 1.0
    # the page opens on the first
    assert [each.codes for each in results.searched] == ["learned", "encoded"]
    style = Style.of(results)
    cells = [method_cell(style, name, "learned-or-encoded") for name in ("both", "one")]
    assert [cell.mark for cell in cells] == ["", "e"]
    assert method_cell(style, "one", "encoded").mark == ""


def test_the_only_part_of_a_database_is_the_whole(hand_made):
    hand_made.add()
    scores = hand_made.results().select(databases=["all"]).scores()
    assert set(scores["database"]) == {"seen"}


def test_codes_trained_on_unknown_rows_are_scored_on_the_whole_database(hand_made):
    hand_made.split(train=(2, 3))
    hand_made.add(record={"training_unknown": True})
    assert set(hand_made.results().scores()["database"]) == {"all"}


def test_numbers_are_remembered_until_the_codes_change(hand_made):
    cell = hand_made.add()
    first = hand_made.results().scores()
    kept = hand_made.path / FOLDER / f"{cell.id}.json"
    record = read_record(kept)
    record["rankings"][0]["scores"]["AP"]["value"] = 0.123
    write_record(kept, record)
    assert hand_made.results().scores()["value"].iloc[0] == 0.123
    hand_made.cells.clear()
    hand_made.add(queries=("00", "11"), database=("11", "11", "00", "00"))
    assert hand_made.results().scores()["value"].iloc[0] < first["value"].iloc[0]
    kept.write_text("{")
    assert len(hand_made.results().scores()) == 2


def test_a_measure_asked_for_later_keeps_the_earlier_ones(hand_made):
    cell = hand_made.add()
    results = hand_made.results()
    results.scores()
    assert set(results.select(measures=["P@2"]).scores()["measure"]) == {"P@2"}
    record = json.loads((hand_made.path / FOLDER / f"{cell.id}.json").read_text())
    assert {"AP", "P@2"} <= set(record["rankings"][0]["scores"])


def test_values_by_query_are_not_used_after_they_have_changed(hand_made):
    cell = hand_made.add()
    results = hand_made.results()
    results.scores()
    (stored,) = results.done()
    asked = (stored, "image->text", Searched("seen", "encoded"), "AP")
    right = per_query(results, *asked)
    kept = hand_made.path / FOLDER / f"{cell.id}.npz"
    arrays = read_arrays(kept)
    known = arrays.pop("checksum")
    save_arrays(kept, {**{name: values + 1 for name, values in arrays.items()}, "checksum": known})
    again = hand_made.results()
    again.scores()  # the record is read, and right
    np.testing.assert_array_equal(per_query(again, *asked), right)


def test_methods_differ_by_their_parameters(hand_made):
    hand_made.add(params="gamma=1", parameters={"gamma": 1.0})
    hand_made.add(params="gamma=2", parameters={"gamma": 2.0})
    results = hand_made.results()
    assert set(results.scores()["method"]) == {"edsh[gamma=1]", "edsh[gamma=2]"}
    assert len(results.select(methods=["edsh[gamma=1]"]).cells) == 1
    assert len(results.select(methods=["ed*"]).cells) == 2


@pytest.mark.parametrize(
    ("part", "facts"),
    [
        ({"bits": [99]}, r"bits.*'99'.*\b2$"),
        ({"tasks": ["image"]}, "task.*'image'.*'image->text'"),
        ({"databases": ["sen"]}, "'sen'.*'seen'"),
        ({"codes": ["learnt"]}, "'learnt'.*'learned'"),
        ({"methods": ["edhs"]}, "method.*'edhs'.*'edsh'"),
        ({"datasets": ["nothing"]}, "dataset.*'nothing'.*toy"),
        ({"measures": ["PR"]}, "'PR'.*curve"),
    ],
)
def test_unknown_names_cannot_be_selected(hand_made, part, facts):
    hand_made.add()
    with pytest.raises(HashbenchError, match=facts):
        hand_made.results().select(**part)


def test_figures_show_sixteen_bits_unless_others_are_asked_for(hand_made):
    for bits in (8, 16, 32):
        hand_made.add(
            queries=("0" * bits, "1" * bits), database=["0" * bits, "1" * bits] * 2, bits=bits
        )
    results = hand_made.results()
    assert results.figure_bits == (16,)
    assert set(results.curves("PR")["bits"]) == {16}
    assert results.select(bits=[8, 32]).figure_bits == (8, 32)
    assert results.bits is results.bits  # reports ask for every cell: 20,000 times 20,000
    hand_made.cells.pop(1)
    assert hand_made.results().figure_bits == (32,)


def test_failed_and_unplanned_cells_have_a_row(hand_made):
    from hashbench.execution.plan import UnplannedCell

    hand_made.add()
    hand_made.add(status="timeout", reason="ran longer than 1 s", seed=1)
    hand_made.missing.append(UnplannedCell("gone", "edsh", "", 2, 0, "no such file"))
    runs = hand_made.results().runs()
    assert list(runs["status"]) == ["failed", "done", "timeout"]
    assert runs["reason"].iloc[0] == "no such file"
    assert runs["train_rows"].dropna().tolist() == [4, 4]
    assert len(hand_made.results().scores()) == 2


def test_history_has_a_row_an_iteration(hand_made):
    hand_made.add(history={"objective": [3.0, 2.0], "objective_seconds": [0.1, 0.2]})
    hand_made.add(method="cca")
    history = hand_made.results().history()
    assert history[["method", "iteration", "second", "objective"]].to_numpy().tolist() == [
        ["edsh", 1, 0.1, 3.0],
        ["edsh", 2, 0.2, 2.0],
    ]


def test_code_statistics_by_hand():
    words = np.array([[0b01], [0b01], [0b11]], np.uint64)  # bits: 1,1,1 and 0,0,1
    codes = CellCodes((words, words), (words, words), n_bits=3)
    labels = np.array([[0b01], [0b10], [0b10]], np.uint64)
    rows = np.arange(3)
    seen = rows >= 0
    split = StoredSplit(rows, np.arange(3, 6), rows, seen, ("seen",), labels, labels, n_labels=2)
    encoded, learned = Searched("seen", "encoded"), Searched("seen", "learned")
    rows = database_statistics(codes, split, [encoded])
    assert [(row["codes"], row["view"]) for row in rows] == [
        ("encoded", "image"),
        ("encoded", "text"),
    ]
    assert rows[0]["ones"] == pytest.approx((1 + 1 / 3 + 0) / 3)
    assert rows[0]["imbalance"] == pytest.approx((0.5 + 1 / 6 + 0.5) / 3)
    assert rows[0]["constant"] == 2
    assert rows[0]["distinct"] == 2
    assert rows[0]["correlation"] is None
    assert (rows[0]["collisions"], rows[0]["collisions_apart"]) == (1, 1)
    assert database_statistics(replace(codes, n_bits=None), split, [encoded]) == []
    shared = database_statistics(replace(codes, learned=(words,)), split, [learned])
    each = database_statistics(replace(codes, learned=(words, words)), split, [learned])
    assert [row["view"] for row in shared] == [""]
    assert [row["view"] for row in each] == ["image", "text"]
    assert shared[-1]["collisions_apart"] == 1


def test_more_cells_than_fit_in_memory_are_read_again(hand_made, monkeypatch):
    for seed in range(5):
        hand_made.add(seed=seed)
    whole = hand_made.results()
    monkeypatch.setattr("hashbench.execution.score_cache.CELLS_IN_MEMORY", 2)
    few = hand_made.results()
    for table in ("scores", "code_statistics", "curves"):
        assert getattr(few, table)().equals(getattr(whole, table)())


def test_ranks_of_curves_cover_both_ends():
    for n in (1, 7, 1000, 200_000):
        ranks = curve_ranks(n)
        assert ranks[0] == 1
        assert ranks[-1] == n
        assert (np.diff(ranks) > 0).all()


def test_a_look_has_titles_marks_and_notes(hand_made, registry):
    hand_made.add(method="edsh")
    hand_made.add(method="acq", record={"hamming": False, "item_bytes": 12.0})
    hand_made.add(method="somebody", dataset="synthetic[rows=5]")
    style = Style.of(hand_made.results(registry))
    assert style.methods["edsh"].title == registry.methods["edsh"].title
    assert style.methods["acq"].mark == "†‡"
    notes = style.notes(["edsh", "acq"])
    assert [note[0] for note in notes] == ["†", "‡"]
    assert "reconstruction" in notes[0]
    assert style.methods["acq"].title in notes[1]
    assert "12 bytes" in notes[1]
    assert style.methods["somebody"].title == "somebody"
    assert "synthetic" in style.datasets["synthetic[rows=5]"].facts
    caption = style.summary("Scores", measure="AP", database="seen", codes="encoded", seeds=[2, 3])
    for fact in ("Scores", "AP (", "encoded", "2 to 3 seeds"):
        assert fact in caption
    (facts,) = style.facts(["toy"])
    for fact in ("toy: ", "random", "none / none"):
        assert fact in facts


def test_a_study_is_shown_in_its_own_order(hand_made):
    for dataset in ("wiki", "emoji"):
        for method in ("mine", "cca", "base"):
            hand_made.add(method=method, dataset=dataset)
    style = Style.of(hand_made.results())
    assert list(style.methods) == ["mine", "cca", "base"]
    assert list(style.datasets) == ["wiki", "emoji"]


def test_two_methods_of_one_title_are_shown_by_name(hand_made, registry, monkeypatch):
    monkeypatch.setattr(registry.methods["cca"].cls, "title", "EDSH")
    hand_made.add(method="edsh")
    hand_made.add(method="cca")
    style = Style.of(hand_made.results(registry))
    assert [style.methods[name].title for name in ("edsh", "cca")] == ["edsh", "cca"]
