"""The tables that a run ends with, computed on all cores."""

import os

import pytest

from hashbench.analysis.evaluate import evaluate_missing, write_tables
from hashbench.core import parallel
from hashbench.execution import scoring
from hashbench.execution.progress import make_progress
from hashbench.execution.score_cache import all_names
from hashbench.execution.store import Store


@pytest.fixture
def where(monkeypatch, tmp_path):
    """Note in files which process evaluates a cell; there are two cores."""
    monkeypatch.setattr(parallel, "usable_cores", lambda: 2)
    real = scoring.evaluate_cell

    def noted(stored, *rest):
        with (tmp_path / "notes").open("a") as stream:
            stream.write(f"{stored.cell.seed} {os.getpid()}\n")
        return real(stored, *rest)

    monkeypatch.setattr(scoring, "evaluate_cell", noted)

    def read():
        lines = [line.split() for line in (tmp_path / "notes").read_text().splitlines()]
        return {int(seed): int(pid) for seed, pid in lines}

    return read


def fill(hand_made, seeds=5):
    for seed in range(seeds):
        hand_made.add(queries=("00", f"{seed:02b}"[-2:]), seed=seed)
    return hand_made.results()


def test_small_cells_are_evaluated_elsewhere_and_nothing_else_changes(hand_made, where):
    results = fill(hand_made)
    evaluate_missing(results, make_progress(quiet=True))
    pids = where()
    assert pids.pop(0) == os.getpid()  # loads what all need
    assert set(pids) == {1, 2, 3, 4}
    assert os.getpid() not in pids.values()
    names = all_names(results.measures)
    for stored in results.done():
        right, _ = scoring.evaluate_cell(stored, results.split("s"), names)
        assert results.evaluated(stored) == right


def test_large_cells_are_left_to_threads(hand_made, where, monkeypatch):
    monkeypatch.setattr("hashbench.analysis.evaluate.FEW_PAIRS", 1)
    results = fill(hand_made)
    evaluate_missing(results, make_progress(quiet=True))
    assert len(where()) == 5
    assert set(where().values()) == {os.getpid()}


def test_what_is_remembered_is_not_computed_again(hand_made, where):
    results = fill(hand_made, seeds=3)
    with Store(hand_made.path) as store:
        first, _ = write_tables(results, store, make_progress(quiet=True))
    hand_made.add(seed=3)
    again = hand_made.results()
    (hand_made.path.parent / "notes").unlink()
    with Store(hand_made.path) as store:
        rows, _ = write_tables(again, store, make_progress(quiet=True))
    assert set(where()) == {3}
    assert rows[: len(first)] == first
