"""Searches: which points, on which rows, and which of them wins."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from hashbench import Data, Dataset, Log, RandomQuery
from hashbench.core.records import from_json, to_json
from hashbench.data.prepare import MOST_VALIDATION, SplitRequest, make_split, validation_rows
from hashbench.execution.tuning.search import Point, Search, make_points
from hashbench.execution.tuning.trials import TrialRecord, Trials
from hashbench.plugins.protocol import Protocol
from hashbench.plugins.space import Choice

SPACE = {"gamma": Log(1e-2, 1e2), "kind": Choice("a", "b")}


@pytest.fixture
def search(make_cell):
    cell = make_cell(params="", parameters={"gamma": 1.0, "kind": "a", "other": 3})
    return Search(cell, "rows", "AP", make_points(cell, SPACE, True, 8))


def record(trial, score=0.5, seconds=1.0, status="done"):
    scores = {"image->text": score, "text->image": score} if status == "done" else {}
    return TrialRecord(trial.id, status, scores, seconds, seconds)


def outcomes(search, scores, seconds=1.0):
    pairs = zip(search.trials, scores, strict=False)
    return {trial.id: record(trial, score, seconds) for trial, score in pairs}


def test_point_0_is_the_method_as_selected(search):
    assert search.points[0] == Point({}, search.cell.preprocessing)
    assert search.trials[0] == replace(search.cell, split="rows")


def test_more_points_begin_with_the_same_ones(make_cell, search):
    more = make_points(search.cell, SPACE, True, 33)
    assert more[:8] == search.points
    assert len({str(point) for point in more}) == 33


def test_points_follow_from_method_dataset_protocol_seed_and_space_alone(search):
    cell = search.cell
    for same in (replace(cell, fingerprint="g"), replace(cell, split="t"), replace(cell, bits=64)):
        assert make_points(same, SPACE, True, 8) == search.points
    for other in (
        replace(cell, method="dch"), replace(cell, dataset="d"), replace(cell, seed=1),
    ):  # fmt: skip
        assert make_points(other, SPACE, True, 8)[1:] != search.points[1:]


def test_points_cover_every_preprocessing_and_the_whole_range(make_cell):
    cell = make_cell(params="", preprocessing=("tfidf,l2", "centre"))
    points = make_points(cell, SPACE, True, 65)
    found = {point.preprocessing for point in points}
    alike = {("none",) * 2, ("l2",) * 2, ("centre",) * 2, ("l2+centre",) * 2, ("standardise",) * 2}
    assert found == {cell.preprocessing, *alike}
    gammas = np.log10([point.settings["gamma"] for point in points[1:]])
    assert np.histogram(gammas, bins=8, range=(-2, 2))[0].tolist() == [8] * 8
    fixed = make_points(cell, SPACE, False, 9)
    assert {point.preprocessing for point in fixed} == {cell.preprocessing}


def test_the_datasets_own_preprocessing_is_not_tried_twice_under_two_names(make_cell):
    cell = make_cell(params="", preprocessing=("l2,centre", "l2,centre"))
    found = {point.preprocessing for point in make_points(cell, SPACE, True, 65)}
    assert ("l2+centre",) * 2 not in found
    assert len(found) == 5


def test_a_trial_has_the_parameters_of_its_point(search):
    trial, point = search.trials[1], search.points[1]
    assert trial.parameters == {"gamma": point.settings["gamma"], "other": 3, "kind": "b"} or (
        point.settings["kind"] == "a"
    )
    assert f"gamma={point.settings['gamma']:g}" in trial.params
    assert trial.split == "rows"
    assert search.tuned(replace(search.cell, bits=32), 1) == replace(
        trial, split="s", params="", bits=32, tuned=True
    )


def test_the_best_mean_wins_and_of_equals_the_first(search):
    assert search.best_point(outcomes(search, [0.1, 0.3, 0.2, 0.3, 0, 0, 0, 0])) == 1
    found = outcomes(search, [0.1] * 8)
    trial = search.trials[5]
    found[trial.id] = TrialRecord(trial.id, "done", {"image->text": 0.0, "text->image": 0.3})
    assert search.best_point(found) == 5


def test_trials_that_failed_never_win(search):
    found = outcomes(search, [0.1] * 8)
    for trial in search.trials[:3]:
        found[trial.id] = record(trial, status="failed")
    assert search.best_point(found) == 3
    failed = {trial.id: record(trial, status="timeout") for trial in search.trials}
    assert search.best_point(failed) is None


def test_only_missing_trials_run(search):
    assert search.missing({}) == search.trials
    assert search.missing(outcomes(search, [0.5] * 5)) == search.trials[5:]
    assert search.missing(outcomes(search, [0.5] * 8)) == []


def test_a_search_is_read_back(search):
    again = from_json(Search, json.loads(json.dumps(to_json(search))))
    assert again == search
    assert again.id == search.id
    assert again.trials == search.trials


def test_truncated_or_changed_lines_are_ignored(search, tmp_path):
    trials = Trials(tmp_path / "trials")
    first, second, third = (record(trial) for trial in search.trials[:3])
    trials.add("s", first)
    path = tmp_path / "trials" / "s.jsonl"
    with path.open("ab") as stream:
        stream.write(second.to_line()[:-20])  # as a kill leaves it
    assert trials.read("s") == {first.id: first}
    trials.add("s", third)
    assert trials.read("s") == {first.id: first, third.id: third}
    path.write_bytes(path.read_bytes().replace(b"0.5", b"0.9", 1))
    assert trials.read("s") == {third.id: third}
    assert trials.read("other") == {}


def test_a_later_record_of_a_trial_holds(search, tmp_path):
    trials = Trials(tmp_path / "trials")
    failed, done = record(search.trials[0], status="failed"), record(search.trials[0])
    assert math.isnan(failed.score)
    for each in (failed, done):
        trials.add("s", each)
    assert trials.read("s") == {done.id: done}


class Toy(Dataset):
    name = "toy"
    protocols = {"random": RandomQuery(0.25)}  # noqa: RUF012

    def load(self):
        return Data([np.zeros((200, 2)), np.zeros((200, 2))], np.ones((200, 1), np.uint8))


def test_a_trial_has_three_disjoint_parts_of_the_training_rows():
    toy = Toy()
    whole = make_split(toy, toy.load(), SplitRequest(Protocol("random"), 3))
    trial = make_split(toy, toy.load(), SplitRequest(Protocol("random"), 3, validation=True))
    parts = [trial.query, trial.database, trial.train]
    assert [len(rows) for rows in parts] == [30, 30, 90]
    assert sorted(np.concatenate(parts)) == sorted(whole.train)  # each row once
    assert trial.parts == ("unseen",)
    # what early stopping may look at in the study is what trials are asked by
    rows = validation_rows(150, "toy", SplitRequest(Protocol("random"), 3))
    assert (whole.train[rows] == trial.query).all()
    other = make_split(toy, toy.load(), SplitRequest(Protocol("random"), 4, validation=True))
    assert set(other.query) != set(trial.query)


def test_a_cap_on_training_rows_holds_for_trials_too():
    toy = Toy()
    request = SplitRequest(Protocol("random"), 0, train_rows=50, validation=True)
    trial = make_split(toy, toy.load(), request)
    assert [len(rows) for rows in (trial.query, trial.database, trial.train)] == [10, 10, 30]
    assert len(validation_rows(50_000, "toy", request)) == MOST_VALIDATION == 2000


def test_too_few_training_rows_are_refused():
    toy = Toy()
    with pytest.raises(ValueError, match=r"toy.*\b4 training rows.*\b5\b"):
        make_split(
            toy, toy.load(), SplitRequest(Protocol("random"), 0, train_rows=4, validation=True)
        )


def test_of_two_records_of_a_trial_one_that_is_done_is_taken(search, tmp_path):
    ours, theirs = Trials(tmp_path / "ours"), Trials(tmp_path / "theirs")
    first, second, third, fourth = search.trials[:4]
    ours.add("s", record(first, 0.5))
    ours.add("s", record(second, status="timeout"))
    ours.add("s", record(third, 0.5))
    for trial in (first, second, fourth):
        theirs.add("s", record(trial, 0.5, seconds=9.0))
    theirs.add("s", record(third, 0.6))
    assert ours.merge("s", theirs) == [third.id]
    found = ours.read("s")
    assert {trial.id: found[trial.id].score for trial in search.trials[:4]} == {
        first.id: 0.5, second.id: 0.5, third.id: 0.5, fourth.id: 0.5,
    }  # fmt: skip
    assert found[first.id].fit_seconds == 1.0
