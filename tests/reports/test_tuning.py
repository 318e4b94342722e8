"""What tuning changes: scores, ranks, choices, warnings, cost, and the best of so many trials."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from hashbench import LinearMethod, Log
from hashbench.analysis.rank_changes import change, expected_best, tau, tau_words
from hashbench.analysis.results import Results
from hashbench.execution.plan import Plan
from hashbench.execution.store import Store
from hashbench.execution.tuning.search import Point, Search
from hashbench.execution.tuning.trials import TrialRecord
from hashbench.plugins.registry import Plugin, Registry
from hashbench.render import figures
from hashbench.render.report import NothingToShowError, Picture, Table
from hashbench.render.style import Style
from hashbench.reports.tuning import BEST, OUTCOME, QUERIES, VALIDATION, Tuning

PERFECT, MIXED = ("00", "00", "11", "11"), ("00", "01", "10", "11")


class Tunable(LinearMethod):
    """Nothing but a space."""

    space: ClassVar = {"gamma": Log(1e-2, 1e2)}

    def __init__(self, n_bits=8, random_state=None, gamma=1.0):
        self.n_bits, self.random_state, self.gamma = n_bits, random_state, gamma

    def fit(self, views, labels=None):
        raise NotImplementedError


def registry(*names):
    found = Registry()
    for name in names:
        found.methods[name] = Plugin("method", name, Tunable, Path(__file__), "local")
    return found


@pytest.fixture
def tuned_study(hand_made):
    """Return a function: methods with the scores of their trials and their outcomes on queries."""

    def make(methods, gammas=(None, 1.0, 99.0), seeds=(0,)):
        searches = []
        for name, seed in itertools.product(methods, seeds):
            scores, before, after = methods[name]
            cell = hand_made.add(method=name, seed=seed, database=before, parameters={"gamma": 1.0})
            hand_made.add(
                method=name, seed=seed, database=after, tuned=True, parameters={"gamma": 99.0}
            )
            points = tuple(
                Point({} if gamma is None else {"gamma": gamma}, cell.preprocessing)
                for gamma in gammas
            )
            search = Search(cell, "rows", "AP", points)
            with Store(hand_made.path) as store:
                for trial, score in zip(search.trials, scores, strict=True):
                    done = {"image->text": score, "text->image": score}
                    record = TrialRecord(trial.id, "done", done, fit_seconds=2.0)
                    if score is None:
                        record = TrialRecord(trial.id, "timeout", fit_seconds=2.0)
                    store.trials.add(search.id, record)
            searches.append(search)
        hand_made.results()  # writes the split
        plan = Plan(("AP",), hand_made.cells, [], searches)
        return Results(hand_made.path, registry(*methods), plan)

    return make


def drawn(results):
    data = Tuning().data(results)
    with figures.plot_context():
        return data, Tuning().draw(data, Style.of(results))


def test_gain_ranks_choice_and_cost(tuned_study):
    methods = {
        "a": ([0.2, 0.3, 0.5], MIXED, PERFECT),
        "b": ([0.4, 0.3, 0.2], PERFECT, PERFECT),
        "c": ([0.4, None, 0.2], PERFECT, MIXED),
    }
    data, (table, picture) = drawn(tuned_study(methods, seeds=(0, 1)))
    outcomes = data[data["what"] == OUTCOME].set_index(["method", "seed"])
    gain = outcomes["tuned"] - outcomes["default"]
    assert gain["a", 0] == -gain["c", 0] > 0
    assert gain["b", 1] == 0
    assert outcomes.loc[("a", 0), ["chosen", "at_end", "seconds"]].tolist() == [
        "gamma=99", "gamma", 6.0,
    ]  # fmt: skip
    assert outcomes.loc[("b", 0), ["chosen", "at_end"]].tolist() == ["the default", ""]
    assert isinstance(table, Table)
    assert isinstance(picture, Picture)
    lines = {row[0].text: [entry.text for entry in row] for row in table.groups[0].rows}
    assert lines["a"][5] == "3 → 1"
    assert lines["c"][5] == "1 → 3"
    assert lines["a"][4] == "0.000"  # both splits gain alike
    notes = " ".join(table.notes)
    for fact in ("-0.50", "a gamma (2 of 2)", "36.0 s", "2 of 18 trials"):
        assert fact in notes


def test_the_best_of_so_many_trials(tuned_study):
    data, _ = drawn(tuned_study({"a": ([0.2, None, 0.5], MIXED, PERFECT)}))
    best = data[data["what"] == BEST].set_index(["task", "trials"])["value"]
    # of 0, .2 and .5: the mean; then .5 in two of three pairs, .2 in the other; then the best
    assert best[VALIDATION].tolist() == pytest.approx([0.7 / 3, (0.2 + 2 * 0.5) / 3, 0.5])
    outcome = data[data["what"] == OUTCOME].iloc[0]
    assert best[QUERIES].to_dict() == {1: outcome["default"], 3: outcome["tuned"]}


def test_one_method_has_no_ranking_and_one_split_no_spread(tuned_study):
    _, (table, _) = drawn(tuned_study({"a": ([0.2, 0.5, 0.3], MIXED, PERFECT)}))
    assert "one method" in table.notes[0]
    assert not any("nan" in note for note in table.notes)
    assert not any("gamma" in note for note in table.notes)  # no best point at an end
    assert table.groups[0].rows[0][4].text == "–"


def test_nothing_was_tuned(hand_made):
    hand_made.add(method="a")
    with pytest.raises(NothingToShowError, match="--tune"):
        Tuning().data(hand_made.results())


@pytest.mark.parametrize("scores", [[0.3], [0.1, 0.9, 0.4, 0.4, 0.0], [1, 2, 3, 4, 5, 6]])
def test_the_expected_best_is_the_mean_over_all_orders(scores):
    orders = list(itertools.permutations(scores))
    brute = np.mean([np.maximum.accumulate(order) for order in orders], axis=0)
    np.testing.assert_allclose(expected_best(scores), brute)


def test_rankings_that_cannot_be_compared_have_a_reason():
    assert tau([1, 2, 3], [3, 2, 1]) == -1
    assert tau([1], [2]) is None
    assert "one method" in tau_words([1], [2])
    assert "equal" in tau_words([1, 1], [1, 2])
    assert (change(5, 2), change(1, 4)) == ("↑3", "↓3")
