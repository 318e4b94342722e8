"""Early stopping scores validation rows and trains on the others."""

import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.core.errors import HashbenchError
from hashbench.methods.dsph import DSPH
from hashbench.methods.ucch import UCCH
from hashbench.neural.early_stopping import EarlyStopping

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

VALIDATION = np.arange(0, 60, 5)


class Scripted:
    """A method whose views agree on a given number of rows."""

    def __init__(self, agreeing):
        self.agreeing = agreeing

    def encode(self, X, view):
        codes = np.zeros((len(X), 4), bool)
        wrong = np.arange(len(X)) >= self.agreeing
        codes[:, :2] = (X > 0)[:, :2]
        codes[wrong] ^= bool(view)
        return codes


def test_training_ends_when_the_best_epoch_lies_as_far_back_as_the_patience():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    stopping = EarlyStopping([X, X], None, np.arange(20), patience=2)
    stops = [
        stopping.should_stop(Scripted(good), epoch) for epoch, good in enumerate([5, 20, 10, 20], 1)
    ]
    assert stops == [False, False, False, True]
    assert stopping.best_epoch == 2


class Recording:
    """A method that records how many rows it encodes; its codes are the rows themselves."""

    def __init__(self):
        self.rows = []

    def encode(self, X, view):
        self.rows.append(len(X))
        return X > 0


@pytest.mark.parametrize("labelled", [True, False])
def test_the_database_is_the_other_rows_with_labels_and_the_validation_rows_without(labelled):
    _, labels = toy(60)
    stopping = EarlyStopping([labels, labels], labels if labelled else None, VALIDATION, 1)
    method = Recording()
    stopping.should_stop(method, epoch=1)
    assert sorted(method.rows) == ([12, 12, 48, 48] if labelled else [12, 12, 12, 12])
    # Rows of one class have one code: all of them are relevant, or only one of them.
    assert (stopping.best_score == pytest.approx(1)) == labelled


@pytest.mark.parametrize("cls", [DSPH, UCCH])
def test_the_final_network_is_trained_on_all_rows_for_the_best_number_of_epochs(cls):
    views, labels = toy(60)
    settings = {"n_bits": 8, "epochs": 6, "random_state": 3}
    stopped = cls(**settings, patience=1).fit(views, labels, validation=VALIDATION)
    assert 1 <= stopped.epochs_ <= 6
    assert len(stopped.objective_) == stopped.epochs_
    again = cls(**settings, patience=1).fit(views, labels, validation=VALIDATION)
    for view, X in enumerate(views):
        np.testing.assert_array_equal(stopped.encode(X, view), again.encode(X, view))
    whole = cls(**settings).fit(views, labels)
    assert len(whole.objective_) == 6
    np.testing.assert_allclose(stopped.objective_, whole.objective_[: stopped.epochs_])


@pytest.mark.parametrize("validation", [None, [], range(60), [3, 3]])
def test_invalid_validation_rows_are_refused(validation):
    views, labels = toy(60)
    rows = None if validation is None else np.array(validation, int)
    with pytest.raises(HashbenchError, match="validation"):
        DSPH(n_bits=8, epochs=2, patience=1).fit(views, labels, validation=rows)
