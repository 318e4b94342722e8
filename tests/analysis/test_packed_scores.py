"""Numbers of cells that are held in memory are those that were put there."""

from __future__ import annotations

from hashbench.analysis.packed_scores import AtHand, HeldScores
from hashbench.execution.score_cache import EvaluatedCell, RankingScores

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
    assert "R@5" not in held
    assert dict(HeldScores({})) == {}


def evaluated(scores=SCORES):
    curves = {"PR": {"axis": "rank", "x": [1, 2], "precision": [1.0, None]}}
    return EvaluatedCell([RankingScores("image->text", "encoded", scores, curves)], CODES, True)


def test_scores_codes_and_curves_come_back_and_names_are_held_once():
    known = AtHand()
    known.put("a", evaluated())
    known.put("b", evaluated({"".join(list(name)): each for name, each in SCORES.items()}))
    held = known.get("a", curves=False)
    assert held.codes == CODES
    assert dict(held.rankings[0].scores) == SCORES
    assert not held.rankings[0].curves
    assert held.has(["AP", "P@5"])
    assert not held.has(["R@5"])
    other = known.get("b", curves=True)
    assert other.rankings[0].curves["PR"]["x"].tolist() == [1, 2]
    names = zip(held.rankings[0].scores, other.rankings[0].scores, strict=True)
    assert all(one is another for one, another in names)


def test_scores_of_all_cells_are_held_and_curves_of_the_last_ones(monkeypatch):
    monkeypatch.setattr("hashbench.analysis.packed_scores.CURVES_HELD", 2)
    known = AtHand()
    for cell_id in "abcde":
        known.put(cell_id, evaluated())
    assert known.get("e", curves=True) is not None
    assert 1 <= sum(known.get(each, curves=True) is not None for each in "abcde") <= 2
    assert all(known.get(each, curves=False) is not None for each in "abcde")
