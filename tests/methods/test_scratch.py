import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.methods.scratch import SCRATCH
from tests.methods.restated import scratch


@pytest.mark.parametrize("dims", [(12, 8), (12, 8, 5)])
def test_objective_equals_that_of_the_restatement(dims):
    views, Y = toy(70, dims=dims, multilabel=True)
    parameters = {"anchors": 20, "iterations": 5}
    method = SCRATCH(n_bits=6, random_state=2, **parameters).fit(views, Y)
    values = []
    codes, _ = scratch.restate(views, Y.astype(float), 6, 2, **parameters, record=values.append)
    assert np.array_equal(method.codes_, codes)
    np.testing.assert_allclose(method.objective_, values, rtol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_objective_never_rises(seed):
    views, Y = toy(70, multilabel=True)
    objective = np.array(SCRATCH(n_bits=12, anchors=30, random_state=seed).fit(views, Y).objective_)
    assert (np.diff(objective) <= 1e-9 * objective[0]).all()
