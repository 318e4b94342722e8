"""Tables derived from stored codes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hashbench.analysis.csv_tables import RESULT_COLUMNS, RUN_COLUMNS, run_rows, to_csv
from hashbench.analysis.per_query import per_query
from hashbench.analysis.results import Results
from hashbench.core.codes import pack
from hashbench.core.io import add_checksum, read_record
from hashbench.data.splits import StoredSplit
from hashbench.execution.plan import Plan, UnplannedCell
from hashbench.execution.run_record import RunRecord
from hashbench.execution.score_cache import CURVES, FOLDER
from hashbench.execution.store import Store
from hashbench.measures import evaluate
from hashbench.plugins.dataset import Split
from hashbench.plugins.registry import Registry

BITS, QUERIES, ITEMS = 8, 6, 20


@pytest.fixture
def parts():
    rng = np.random.default_rng(0)
    shapes = {"query_0": QUERIES, "query_1": QUERIES, "database_0": ITEMS, "database_1": ITEMS}
    codes = {name: rng.random((rows, BITS)) < 0.5 for name, rows in shapes.items()}
    codes["learned"] = rng.random((ITEMS, BITS)) < 0.5
    labels = {
        name: (rng.random((rows, 4)) < 0.4).astype(np.uint8)
        for name, rows in (("query", QUERIES), ("database", ITEMS))
    }
    return codes, labels


def fill(store: Store, cell, codes, labels, train=None) -> None:
    rows = np.arange(ITEMS)
    split = Split(rows if train is None else train, np.arange(ITEMS, ITEMS + QUERIES), rows)
    store.splits.mkdir(exist_ok=True)
    StoredSplit(
        train=split.train,
        database=rows,
        query=split.query,
        is_seen=split.is_seen,
        parts=split.parts,
        query_labels=pack(labels["query"] == 1),
        database_labels=pack(labels["database"] == 1),
        n_labels=4,
    ).save(store.splits / f"{cell.split}.npz")
    folder = store.path / "task"
    folder.mkdir(exist_ok=True)
    packed = {name: pack(values) for name, values in codes.items()}
    np.savez(folder / "codes.npz", **packed, n_bits=np.asarray(BITS))
    store.put(cell, RunRecord("done", seconds={"fit": 0.5}), folder)


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path) as opened:
        yield opened


def opened(store, plan):
    stored, _ = store.read(plan.cells)
    return Results(store.path, Registry(), plan, stored)


def rows_of(store, plan):
    return opened(store, plan).rows()


def test_every_task_and_kind_of_codes_is_scored(store, parts, make_cell):
    codes, labels = parts
    cell = make_cell(bits=BITS)
    fill(store, cell, codes, labels)
    found = rows_of(store, Plan(("AP", "P@5"), [cell]))
    pairs = {
        ("image->text", "encoded"): ("query_0", "database_1"),
        ("text->image", "encoded"): ("query_1", "database_0"),
        ("image->text", "learned"): ("query_0", "learned"),
        ("text->image", "learned"): ("query_1", "learned"),
    }
    assert len(found) == 2 * len(pairs)
    for row in found:
        query, database = pairs[row["task"], row["codes"]]
        expected = evaluate(
            codes[query], codes[database], labels["query"], labels["database"], ["AP", "P@5"]
        )
        assert row["value"] == expected[row["measure"]]


def test_learned_codes_a_view_are_searched_by_view(store, parts, make_cell):
    codes, labels = parts
    codes["learned_0"], codes["learned_1"] = codes.pop("learned"), codes["database_0"]
    cell = make_cell(bits=BITS)
    fill(store, cell, codes, labels)
    found = {row["task"]: row["value"] for row in rows_of(store, Plan(("AP",), [cell]))
             if row["codes"] == "learned"}  # fmt: skip
    expected = evaluate(
        codes["query_0"], codes["learned_1"], labels["query"], labels["database"], ["AP"]
    )
    assert found["image->text"] == expected["AP"]


def test_learned_codes_are_scored_only_where_every_training_row_has_one(store, parts, make_cell):
    cell = make_cell(bits=BITS)
    fill(store, cell, *parts, train=np.arange(5))
    assert {row["codes"] for row in rows_of(store, Plan(("AP",), [cell]))} == {"encoded"}


def test_vectors_are_scored_by_inner_product_without_radius_measures(store, parts, make_cell):
    _, labels = parts
    cell = make_cell(bits=BITS)
    fill(store, cell, *parts)
    rng = np.random.default_rng(1)
    folder = store.path / "task"
    vectors = {
        f"{role}_{view}": rng.standard_normal((rows, 3)).astype(np.float32)
        for role, rows in (("query", QUERIES), ("database", ITEMS))
        for view in range(2)
    }
    np.savez(folder / "codes.npz", **vectors)
    store.put(cell, RunRecord("done"), folder)
    found = rows_of(store, Plan(("AP", "P(radius=2)"), [cell]))
    assert {row["measure"] for row in found} == {"AP"}
    scores = vectors["query_0"] @ vectors["database_1"].T
    expected = []
    for query in range(QUERIES):
        relevant = (labels["query"][query] & labels["database"]).any(axis=1)
        ranked = relevant[np.argsort(-scores[query])]
        if ranked.any():
            precision = np.cumsum(ranked) / np.arange(1, ITEMS + 1)
            expected.append(precision[ranked].mean())
    assert found[0]["value"] == pytest.approx(np.mean(expected))


def edit(path, change, right=True):
    record = read_record(path)
    known = json.loads(path.read_text())["checksum"]
    change(record)
    path.write_text(json.dumps(add_checksum(record) if right else {**record, "checksum": known}))


def forge(record):
    for ranking in record["rankings"]:
        ranking["scores"]["AP"]["value"] = 0.25


def test_known_scores_are_reused_until_codes_change(store, parts, make_cell):
    codes, labels = parts
    cell, plan = make_cell(bits=BITS), Plan(("AP",), [make_cell(bits=BITS)])
    fill(store, cell, codes, labels)
    first = rows_of(store, plan)
    path = store.path / FOLDER / f"{cell.id}.json"
    edit(path, forge)
    assert {row["value"] for row in rows_of(store, plan)} == {0.25}, "the cache was not read"
    assert len(rows_of(store, Plan(("AP", "P@5"), [cell]))) == 2 * len(first)
    for text in ("{", "[" * 100_000, "null"):
        path.write_text(text)
        assert rows_of(store, plan) == first, "a broken cache was used"
    codes["query_0"] = ~codes["query_0"]
    fill(store, cell, codes, labels)
    assert rows_of(store, plan) != first


def test_an_edited_score_is_not_used(store, parts, make_cell):
    cell, plan = make_cell(bits=BITS), Plan(("AP",), [make_cell(bits=BITS)])
    fill(store, cell, *parts)
    first = rows_of(store, plan)
    edit(store.path / FOLDER / f"{cell.id}.json", forge, right=False)
    assert rows_of(store, plan) == first


def test_scores_of_other_labels_are_not_used(store, parts, make_cell):
    codes, labels = parts
    cell, plan = make_cell(bits=BITS), Plan(("AP",), [make_cell(bits=BITS)])
    fill(store, cell, codes, labels)
    first = rows_of(store, plan)
    other = {"query": labels["query"], "database": 1 - labels["database"]}
    fill(store, cell, codes, other)  # the same codes: their file is the same
    assert rows_of(store, plan) != first


def test_one_evaluation_knows_all_that_is_shown(store, parts, make_cell):
    cell, plan = make_cell(bits=BITS), Plan(("AP",), [make_cell(bits=BITS)])
    fill(store, cell, *parts)
    results = opened(store, plan)
    (stored,) = results.done()
    known = results.evaluated(stored)
    first = known.rankings[0]
    assert len(known.codes) == 3
    assert first.scores["AP"]["low"] <= first.scores["AP"]["value"] <= first.scores["AP"]["high"]
    assert set(first.curves) == set(CURVES)
    values = per_query(results, stored, first.task, first.searched, "AP")
    assert np.nanmean(values) == first.scores["AP"]["value"]
    more = opened(store, plan).evaluated(stored, ["P@5"])
    assert more.rankings[0].scores["P@5"]["chance"] is not None
    assert more.rankings[0].scores["AP"] == first.scores["AP"]
    assert more.codes == known.codes


def test_runs_have_a_row_for_every_cell_asked_for(store, parts, make_cell):
    done, left = make_cell(bits=BITS), make_cell(bits=16)
    fill(store, done, *parts)
    gone = UnplannedCell("wiki", "edsh", "", 8, 0, "wiki: no such file")
    plan = Plan(("AP",), [left, done], [gone])
    found = run_rows(plan, store.read([done, left])[0])
    assert [(row["dataset"], row["bits"], row["status"]) for row in found] == [
        ("toy", 8, "done"),
        ("toy", 16, "missing"),
        ("wiki", 8, "failed"),
    ]
    assert found[0]["fit_seconds"] == 0.5
    text = to_csv(found, RUN_COLUMNS)
    assert text.splitlines()[0] == ",".join(RUN_COLUMNS)
    assert "wiki: no such file" in text


def test_csv_is_plain_and_the_same_for_the_same_rows():
    row = dict(zip(RESULT_COLUMNS, ["a,b", "m", "", 8, 0, "t", "d", "c", "AP", 1 / 3], strict=True))
    text = to_csv([row], RESULT_COLUMNS)
    assert text.splitlines()[1] == '"a,b",m,,8,0,t,d,c,AP,0.3333333333'
    assert "\r" not in text


def test_a_hostile_view_name_is_no_formula_in_a_spreadsheet():
    row = {"task": "=cmd|' /C calc'!A0->text", "value": -0.5}
    written = to_csv([row], ("task", "value"))
    assert written == "task,value\n'=cmd|' /C calc'!A0->text,-0.5\n"
