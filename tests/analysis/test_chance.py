"""Scores that do not differ from chance, and why."""

import numpy as np

from hashbench.analysis.chance import at_chance, likely_cause
from hashbench.measures import evaluate, evaluate_ranking, hamming_ranking
from hashbench.render.style import Style
from hashbench.render.terminal import score_tables
from hashbench.reports.map_table import MapTable

PERFECT = ("00", "00", "11", "11")
CONSTANT = ("01", "01", "01", "01")


def test_the_error_is_that_of_the_distance_from_chance():
    rng = np.random.default_rng(0)
    codes, labels = rng.random((80, 8)) < 0.5, rng.integers(4, size=80)
    case = codes[:30], codes[30:], labels[:30], labels[30:]
    score = evaluate(*case, "AP", per_query=True, chance=True).scores["AP"]
    one = [
        evaluate(codes[q : q + 1], codes[30:], labels[q : q + 1], labels[30:], "AP", chance=True)
        for q in range(30)
    ]
    distances = [each.scores["AP"].value - each.scores["AP"].chance for each in one]
    assert score.chance_error >= np.std(distances, ddof=1) / np.sqrt(30)
    row = {"value": score.value, "chance": score.chance, "chance_error": score.chance_error}
    assert at_chance([row])  # random codes
    assert not at_chance([{**row, "value": score.chance + 4 * score.chance_error}])
    assert not at_chance([{**row, "chance": None}])
    assert not at_chance([])


def test_random_hash_functions_are_at_chance_in_95_of_100_seeds():
    rng = np.random.default_rng(0)
    labels = rng.integers(10, size=400)
    # one strong direction per view: all bits, and so all queries, gain or lose together
    views = [
        (rng.standard_normal((10, 20)) * ([4] + [1] * 19))[labels]
        + 0.3 * rng.standard_normal((400, 20))
        for _ in range(2)
    ]
    marked, marked_by_queries = [], []
    for _ in range(100):
        codes = [X @ rng.standard_normal((20, 16)) > 0 for X in views]
        case = codes[0][:150], codes[1][150:], labels[:150], labels[150:]
        score = evaluate(*case, "AP", per_query=True, chance=True).scores["AP"]
        row = {"value": score.value, "chance": score.chance, "chance_error": score.chance_error}
        marked.append(at_chance([row]))
        by_queries = np.nanstd(score.per_query, ddof=1) / np.sqrt(150)
        marked_by_queries.append(at_chance([{**row, "chance_error": by_queries}]))
    assert sum(marked) >= 95
    assert sum(marked_by_queries) < 90  # the error over queries alone is too small


def test_no_query_that_counts_has_no_error():
    codes = hamming_ranking(np.eye(8), np.eye(8), range(8), range(8))
    found = evaluate_ranking(codes, "AP", chance=True, left_out=np.ones(8, bool))
    assert found.scores["AP"].n_counted == 0
    assert found.scores["AP"].chance_error == 0


def test_tables_and_terminal_mark_what_is_at_chance(hand_made, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    hand_made.split(columns=(3, 9))
    hand_made.add(method="good", database=PERFECT)
    hand_made.add(method="flat", database=CONSTANT)
    results = hand_made.results()
    cause = likely_cause(results, "toy", "flat")
    assert "code" in cause
    assert all(fact in likely_cause(results, "toy", "good") for fact in ("9 columns", "4 training"))
    (table,) = MapTable().draw(MapTable().data(results), Style.of(results))
    marks = {row[0].text: row[1].mark for row in table.groups[0].rows}
    assert marks == {"good": "", "flat": "°"}
    assert any(f"flat on toy: {cause}" in note for note in table.notes)
    shown = score_tables(results.rows(), results.runs().assign(params="").to_dict("records"), "AP")
    assert "\n° " in shown  # what the mark means
    assert max(map(len, shown.splitlines())) <= 80
    lines = {line.split()[0]: line for line in shown.splitlines() if line[:4] in ("good", "flat")}
    assert lines["flat"].count("°") == 2
    assert "°" not in lines["good"]
