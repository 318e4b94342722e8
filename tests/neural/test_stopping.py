"""Stopping early looks at validation rows and at nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from hashbench.base.errors import HashbenchError
from hashbench.checks.methods import toy
from hashbench.methods.dsph import DSPH
from hashbench.methods.ucch import UCCH
from hashbench.neural.stopping import Watch

torch = pytest.importorskip("torch")

VALIDATION = np.arange(0, 60, 5)


class Scripted:
    """Stands for a method whose validation score is told beforehand."""

    def __init__(self, agreeing):
        self.agreeing = agreeing

    def encode(self, X, view):
        codes = np.zeros((len(X), 4), bool)
        wrong = np.arange(len(X)) >= self.agreeing
        codes[:, :2] = (X > 0)[:, :2]
        codes[wrong] ^= bool(view)
        return codes


def test_the_best_epoch_is_kept_and_patience_ends_it():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    watch = Watch([X, X], np.zeros((40, 0)), np.arange(20), patience=2)
    over = [watch.is_over(Scripted(good), epoch) for epoch, good in enumerate([5, 20, 10, 20], 1)]
    assert over == [False, False, False, True]
    assert watch.epoch == 2


def test_with_labels_the_other_training_rows_are_searched():
    views, labels = toy(60)
    watch = Watch(views, labels, VALIDATION, 1)
    assert watch.train[0].shape[0] == watch.asked_labels.shape[0] == 48
    assert watch.asking_labels.shape == (12, labels.shape[1])


@pytest.mark.parametrize("cls", [DSPH, UCCH])
def test_the_final_network_is_one_trained_on_all_rows_for_that_long(cls):
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
def test_rows_that_cannot_be_used_are_named(validation):
    views, labels = toy(60)
    rows = None if validation is None else np.array(validation, int)
    with pytest.raises(HashbenchError, match="validation"):
        DSPH(n_bits=8, epochs=2, patience=1).fit(views, labels, validation=rows)
