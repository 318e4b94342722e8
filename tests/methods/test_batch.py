import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.methods.batch import BATCH
from tests.methods.restated import batch


def test_objective_equals_that_of_the_restatement():
    views, Y = toy(70, multilabel=True)
    parameters = {"omega": 5.0, "anchors": 20, "anchors_others": 30, "iterations": 4}
    method = BATCH(n_bits=4, random_state=1, **parameters).fit(views, Y)
    values = []
    codes, _ = batch.restate(views, Y.astype(float), 4, 1, **parameters, record=values.append)
    assert np.array_equal(method.codes_, codes)
    np.testing.assert_allclose(method.objective_, values, rtol=1e-9)


@pytest.mark.parametrize("n_bits", [3, 20])  # below and above the rank of the V-step
def test_objective_never_rises(n_bits):
    views, Y = toy(70, multilabel=True)
    method = BATCH(n_bits=n_bits, anchors=20, anchors_others=30, random_state=0)
    objective = np.array(method.fit(views, Y).objective_)
    assert (np.diff(objective) <= 1e-9 * objective[0]).all()
    assert objective[-1] < objective[0]
