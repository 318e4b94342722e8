import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.methods.alech import ALECH
from tests.methods.restated import alech


def test_objective_equals_that_of_the_restatement():
    views, Y = toy(70, multilabel=True)
    # Under the default weights of 1e-4 and 1e-3 the labels alone make up the objective.
    parameters = {"alpha": 1e-2, "beta": 1e-1, "eta": 1e-2, "lam": 50.0}
    parameters |= {"anchors": 15, "anchors_others": 20, "iterations": 4}
    method = ALECH(n_bits=3, random_state=1, **parameters).fit(views, Y)
    values = []
    codes, encode = alech.restate(views, Y.astype(float), 3, 1, **parameters, record=values.append)
    assert np.array_equal(method.codes_, codes)
    np.testing.assert_allclose(method.objective_, values, rtol=1e-9)
    for view, X in enumerate(views):
        assert np.array_equal(method.encode(X, view), encode(X, view))


@pytest.mark.parametrize("n_bits", [3, 20])  # below and above the rank of the V-step
def test_objective_never_rises(n_bits):
    views, Y = toy(70, multilabel=True)
    method = ALECH(n_bits=n_bits, anchors=15, anchors_others=20, random_state=0)
    objective = np.array(method.fit(views, Y).objective_)
    assert (np.diff(objective[1:]) <= 1e-9 * objective[0]).all()


def test_bits_beyond_the_principal_directions_start_at_random():
    views, Y = toy(70)
    method = ALECH(n_bits=40, anchors_others=5, random_state=0).fit(views, Y)
    assert (method.codes_.any(axis=0) & ~method.codes_.all(axis=0)).mean() > 0.9
