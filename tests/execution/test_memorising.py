"""A method that stores training labels by row: good on seen rows, at chance on unseen ones."""

import pytest

PLUGIN = """
import numpy as np
from hashbench import Choice, VectorMethod
from hashbench.linalg import Ridge


class Memoriser(VectorMethod):
    name = "memoriser"
    supervised = True
    space = {"memorise": Choice(0, 1)}
    tune_preprocessing = False
    item_bytes = 4.0

    def __init__(self, n_bits=8, random_state=None, memorise=1):
        self.n_bits, self.random_state, self.memorise = n_bits, random_state, memorise

    def fit(self, views, labels=None):
        data = self.begin_fit(views, labels)
        self.weights_ = [Ridge(X, 1.0).solve(data.labels) for X in data.views]
        self.known_ = [
            {row.tobytes(): own for row, own in zip(X, labels, strict=True)} for X in views
        ]
        return self

    def vectors(self, X, view, role):
        X, view = self.check_encode(X, view)
        found = X @ self.weights_[view]
        if role == "database" and self.memorise:
            found = np.random.default_rng(0).standard_normal(found.shape)
            for index, row in enumerate(X):
                found[index] = self.known_[view].get(row.tobytes(), found[index])
        return found.astype(np.float32)
"""

METHOD, TUNED = "memoriser", "memoriser(tuned)"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    import hashbench

    folder = tmp_path_factory.mktemp("memorising")
    path = folder / "memoriser.py"
    path.write_text(PLUGIN)
    return hashbench.run(
        METHOD, "synthetic[rows=800]", 8, 1, measures="AP", tune=4, out=folder / "out",
        plugins=path, jobs=1, quiet=True,
    )  # fmt: skip


def test_stored_labels_score_high_on_seen_rows_and_at_chance_on_unseen_ones(results):
    scores = results.scores().set_index(["method", "database", "task"])
    for task in results.tasks:
        seen, unseen = (scores.loc[METHOD, part, task] for part in ("seen", "unseen"))
        assert seen["value"] > unseen["value"] + 0.2
        assert unseen["value"] == pytest.approx(unseen["chance"], abs=0.02)
        # stored labels are what a search among rows that were trained on would choose
        assert seen["value"] > scores.loc[TUNED, "seen", task]["value"] + 0.05
        assert scores.loc[TUNED, "unseen", task]["value"] > unseen["value"] + 0.1


def test_tuning_does_not_choose_stored_labels(results):
    (tuned,) = (cell for cell in results.plan.cells if cell.tuned)
    assert results.plan.cells[0].parameters["memorise"] == 1  # the default, which is point 0
    assert tuned.parameters["memorise"] == 0
