import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from hashbench import HashbenchError, LinearMethod
from hashbench.checks.methods import toy


class Slow(LinearMethod):
    name = "slow"
    supervised = False

    def __init__(self, n_bits=4, scale=1.0, random_state=None):
        self.n_bits, self.scale, self.random_state = n_bits, scale, random_state

    def fit(self, views, labels=None):
        data = self.begin_fit(views, labels)
        views, rng = data.views, data.rng
        for value in (3.0, 2.0):
            self.record_objective(lambda: time.sleep(0.02) or value)  # noqa: B023
        self.means_ = [X.mean(axis=0) for X in views]
        self.projections_ = [rng.standard_normal((X.shape[1], self.n_bits)) for X in views]
        return self


def test_parameters_follow_scikit_learn():
    method = Slow(n_bits=8, scale=2.0)
    assert method.get_params() == {"n_bits": 8, "scale": 2.0, "random_state": None}
    assert clone(method).get_params() == method.get_params()
    assert repr(method) == "Slow(n_bits=8, scale=2.0)"
    assert method.set_params(scale=3.0).scale == 3.0
    with pytest.raises(ValueError, match="'scal'"):
        method.set_params(scal=1)


def test_fit_changes_no_parameter():
    method = Slow(n_bits=np.int64(4)).fit(toy()[0])
    assert type(method.n_bits) is np.int64


def test_views_have_the_names_that_fit_is_given():
    views, _ = toy()
    method = Slow(random_state=0).fit({"image": views[0], "text": views[1]})
    assert method.view_names_ == ["image", "text"]
    assert np.array_equal(method.encode(views[1], "text"), method.encode(views[1], 1))
    with pytest.raises(HashbenchError, match=r"'audio'.*image, text"):
        method.encode(views[1], "audio")
    with pytest.raises(HashbenchError, match=r"'text'.*0 to 1"):
        Slow().fit(views).encode(views[1], "text")


def test_recording_the_objective_stops_the_clock():
    views, _ = toy()
    method = Slow().fit(views)
    assert method.objective_ == [3.0, 2.0]
    assert method.recording_seconds_ >= 0.04
    assert max(method.objective_seconds_) < 0.02


def test_a_second_fit_forgets_the_first():
    views, _ = toy()
    method = Slow().fit(views)
    method.codes_ = np.ones((1, 1), bool)
    method.fit(views)
    assert not hasattr(method, "codes_")
    assert method.objective_ == [3.0, 2.0]


def test_encode_is_centred_projection_and_sign():
    views, _ = toy()
    method = Slow(random_state=0).fit(views)
    expected = (views[1] - views[1].mean(axis=0)) @ method.projections_[1] >= 0
    assert np.array_equal(method.encode(views[1], 1), expected)


@pytest.mark.parametrize(
    ("X", "view", "facts"),
    [
        (np.zeros((3, 5)), 0, r"view 0.*\b5 columns.*\b12\b"),
        (np.zeros((3, 12)), 2, "view 2.*0 to 1"),
        (np.full((3, 12), np.inf), 0, "view 0.*inf.*row 0, column 0"),
        (np.zeros(12), 0, "view 0.*1 dimension"),
    ],
)
def test_encode_checks_its_input(X, view, facts):
    method = Slow().fit(toy()[0])
    with pytest.raises(HashbenchError, match=facts):
        method.encode(X, view)


def test_encode_needs_fit():
    with pytest.raises(NotFittedError, match="Slow"):
        Slow().encode(np.zeros((2, 3)), 0)
