import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.core.errors import HashbenchError
from hashbench.methods.dch import DCH
from tests.methods.restated.dch import restate


def test_relaxed_codes_depend_on_the_labels_alone():
    views, Y = toy(80, (9, 6), 5, multilabel=True)
    method = DCH(n_bits=8, random_state=0).fit(views, Y)
    _, groups = np.unique(Y, axis=0, return_inverse=True)
    for group in range(groups.max() + 1):
        assert len(np.unique(method.codes_[groups == group], axis=0)) == 1


@pytest.mark.parametrize("anchors", [0, 20])
@pytest.mark.parametrize("code_step", ["relaxed", "discrete"])
def test_the_weight_of_the_views_acts_as_in_the_paper(code_step, anchors):
    views, Y = toy(80, (9, 6), 5, multilabel=True)
    parameters = {"mu": 0.05, "code_step": code_step, "anchors": anchors, "iterations": 3}
    method = DCH(n_bits=8, random_state=0, **parameters).fit(views, Y)
    objective = []
    codes, encode = restate(views, Y.astype(float), 8, 0, record=objective.append, **parameters)
    assert method.objective_ == pytest.approx(objective)
    assert np.array_equal(method.codes_, codes)
    for view, X in enumerate(views):
        assert np.array_equal(method.encode(X, view), encode(X, view))


@pytest.mark.parametrize("anchors", [0, 20])
@pytest.mark.parametrize("seed", range(5))
def test_discrete_objective_never_rises(seed, anchors):
    views, Y = toy(80, (9, 6), 5, multilabel=True)
    method = DCH(
        n_bits=12, mu=0.05, code_step="discrete", anchors=anchors, iterations=8, random_state=seed
    ).fit(views, Y)
    objective = np.array(method.objective_)
    assert (np.diff(objective) <= 1e-9 * objective[0]).all()


def test_the_relaxed_objective_may_rise():
    views, Y = toy(80, (9, 6), 5, multilabel=True)
    objective = np.array(DCH(n_bits=12, iterations=8, random_state=0).fit(views, Y).objective_)
    assert (np.diff(objective) > 1e-9 * objective[0]).any()
    assert "rise" in DCH.objective_note


def test_an_unknown_code_step_is_refused():
    views, Y = toy(80, (9, 6), 5, multilabel=True)
    with pytest.raises(HashbenchError, match="code_step"):
        DCH(code_step="relax").fit(views, Y)
