import numpy as np

from hashbench.checks.methods import toy
from hashbench.methods.lcmfh import LCMFH
from tests.methods.restated import lcmfh


def test_objective_equals_that_of_the_restatement():
    views, Y = toy(70, multilabel=True, seed=3)  # thresholds at zero would give other codes
    parameters = {"lam": 0.3, "iterations": 6}
    method = LCMFH(n_bits=7, random_state=4, **parameters).fit(views, Y)
    values = []
    codes, _ = lcmfh.restate(views, Y.astype(float), 7, 4, **parameters, record=values.append)
    assert np.array_equal(method.codes_, codes)
    np.testing.assert_allclose(method.objective_, values, rtol=1e-9)


def test_objective_never_rises():
    views, Y = toy(70, multilabel=True)
    objective = np.array(LCMFH(n_bits=10, random_state=0).fit(views, Y).objective_)
    assert (np.diff(objective) <= 1e-9 * objective[0]).all()
    assert objective[-1] < 0.9 * objective[0]


def test_codes_of_queries_depend_on_their_batch_only_with_batch_thresholds():
    views, Y = toy(70)
    inductive = LCMFH(random_state=0).fit(views, Y)
    transductive = LCMFH(random_state=0, batch_thresholds=True).fit(views, Y)
    shifted = views[0] + 3.0
    assert np.array_equal(transductive.encode(shifted, 0), inductive.encode(views[0], 0))
    assert not np.array_equal(inductive.encode(shifted, 0), inductive.encode(views[0], 0))


def test_absent_class_and_view_of_no_weight():
    views, Y = toy(70)
    method = LCMFH(lam=1.0, random_state=0).fit(views, np.hstack([Y, np.zeros((70, 1))]))
    assert all(np.isfinite(P).all() for P in method.projections_)
    assert len(np.unique(method.codes_, axis=0)) <= 4
