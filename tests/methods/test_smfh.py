import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.methods.smfh import SMFH
from tests.methods.restated import smfh


@pytest.mark.parametrize("dims", [(12, 8), (12, 8, 5), (90, 8)])  # 90: more columns than rows
def test_objective_equals_that_of_the_restatement(dims):
    views, Y = toy(70, dims=dims, multilabel=True)
    parameters = {"alpha": 0.4, "beta": 10.0, "gamma": 0.5, "ridge_scatter": 0.1}
    parameters |= {"iterations": 6, "tolerance": -np.inf}
    method = SMFH(n_bits=5, random_state=3, **parameters).fit(views, Y)
    values = []
    codes, encode = smfh.restate(views, Y.astype(float), 5, 3, **parameters, record=values.append)
    assert np.array_equal(method.codes_, codes)
    np.testing.assert_allclose(method.objective_, values, rtol=1e-7)
    for view, X in enumerate(views):
        assert (method.encode(X, view) == encode(X, view)).mean() > 0.999


def test_objective_never_rises_and_the_last_decrease_is_below_the_tolerance():
    views, Y = toy(100)
    method = SMFH(n_bits=8, random_state=0).fit(views, Y)
    falls = -np.diff(method.objective_)
    assert 1 < len(method.objective_) < 100
    assert (falls >= -1e-9 * method.objective_[0]).all()
    assert falls[-1] < 1
    assert (falls[:-1] >= 1).all()


def test_items_of_a_class_share_more_bits_than_others():
    views, Y = toy(120)
    codes = SMFH(n_bits=16, random_state=0).fit(views, Y).codes_
    equal = (codes[:, None] == codes[None]).mean(axis=2)
    same = Y.astype(int) @ Y.T > 0
    assert equal[same].mean() > equal[~same].mean() + 0.2
