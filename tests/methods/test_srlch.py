import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.methods.fdch import FDCH
from hashbench.methods.srlch import SRLCH
from tests.methods.restated import fdch, srlch


@pytest.mark.parametrize(
    ("cls", "restated", "weights"),
    [(SRLCH, srlch, {"mu": 0.3, "mu_others": 0.2}), (FDCH, fdch, {"lam": 0.1})],
)
def test_objective_and_codes_equal_the_restated_ones(cls, restated, weights):
    views, Y = toy(70, multilabel=True)
    parameters = {"anchors": 20, "iterations": 3, **weights}
    method = cls(n_bits=6, random_state=5, **parameters).fit(views, Y)
    objective = []
    codes, _ = restated.restate(views, Y.astype(float), 6, 5, record=objective.append, **parameters)
    assert method.objective_ == pytest.approx(objective, rel=1e-9)
    assert np.array_equal(method.codes_, codes)


@pytest.mark.parametrize("cls", [SRLCH, FDCH])
@pytest.mark.parametrize("seed", range(3))
def test_objective_never_rises(cls, seed):
    views, Y = toy(70, multilabel=True)
    objective = np.array(cls(n_bits=12, anchors=20, random_state=seed).fit(views, Y).objective_)
    assert (np.diff(objective) <= 1e-9 * objective[0]).all()
    assert objective[-1] < objective[0]


def test_srlch_codes_are_a_vote_over_the_initial_signs_when_the_views_weigh_nothing():
    views, Y = toy(70)  # one class per row
    method = SRLCH(n_bits=9, anchors=20, mu=0.0, mu_others=0.0, random_state=5, iterations=1).fit(
        views, Y
    )
    rng = np.random.default_rng(5)
    for _ in views:
        rng.choice(70, 20, replace=False)
    start = np.where(rng.standard_normal((70, 9)) >= 0, 1.0, -1.0)
    vote = Y.T.astype(float) @ start >= 0
    assert np.array_equal(method.codes_, vote[Y.argmax(axis=1)])
