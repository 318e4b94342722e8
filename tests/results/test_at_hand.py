"""What is held of cells that were asked for is what was known of them."""

from __future__ import annotations

from hashbench.results.at_hand import AtHand, HeldScores
from hashbench.results.evaluated import EvaluatedCell, RankingScores

SCORES = {
    "AP": {"value": 0.1 + 0.2, "low": 0.0, "high": 1.0, "chance": 0.5, "chance_error": None},
    "P@5": {"value": None, "low": None, "high": None, "chance": 0.25, "chance_error": 1e-300},
}
CODES = [{"codes": "encoded image", "items": 160, "ones": 0.5, "collisions_apart": None}]


def test_held_scores_are_the_scores_to_the_last_bit():
    held = HeldScores(SCORES)
    assert dict(held) == SCORES
    assert list(held) == list(SCORES)
    assert "AP" in held
    assert "AP@5" not in held
    assert dict(HeldScores({})) == {}


def test_a_cell_at_hand_says_what_was_put_there_and_names_are_held_once():
    known = AtHand()
    for cell_id in ("a", "b"):
        curves = {"PR": {"axis": "rank", "x": [1, 2], "precision": [1.0, None]}}
        ranking = RankingScores("image->text", "encoded", SCORES, curves)
        known.put(cell_id, EvaluatedCell([ranking], CODES, True))
    held = known.get("a", curves=False)
    assert held.codes == CODES
    assert dict(held.rankings[0].scores) == SCORES
    assert not held.rankings[0].curves
    assert held.has(["AP", "P@5"])
    assert not held.has(["AP@5"])
    other = known.get("b", curves=True)
    assert other.rankings[0].curves["PR"]["x"].tolist() == [1, 2]
    assert other.rankings[0].scores._places is held.rankings[0].scores._places
