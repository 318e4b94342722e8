import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.core.errors import HashbenchError
from hashbench.methods.cmfh import CMFH
from tests.methods.restated import cmfh


@pytest.mark.parametrize("variant", ["v1", "paper", "v2"])
@pytest.mark.parametrize(("n", "dims"), [(60, (12, 8)), (30, (40, 9)), (60, (12, 8, 5))])
def test_objective_equals_that_of_the_restatement(variant, n, dims):
    views, Y = toy(n, dims=dims)
    parameters = {"variant": variant, "lam": 0.4, "iterations": 7, "tolerance": -np.inf}
    method = CMFH(n_bits=5, random_state=2, **parameters).fit(views)
    values = []
    codes, encode = cmfh.restate(views, Y, 5, 2, **parameters, record=values.append)
    np.testing.assert_allclose(method.objective_, values, rtol=1e-8)
    # V nearly vanishes for some items when it collapses onto one direction.
    assert (method.codes_ == codes).mean() > 0.99
    for view, X in enumerate(views):
        assert (method.encode(X, view) == encode(X, view)).mean() > 0.99


@pytest.mark.parametrize("n_bits", [4, 16, 40])
def test_objective_of_the_paper_version_never_rises(n_bits):
    for seed in range(3):
        views, _ = toy(n=150, seed=seed)
        method = CMFH(n_bits, variant="paper", tolerance=-np.inf, iterations=60, random_state=seed)
        objective = np.array(method.fit(views).objective_)
        assert len(objective) == 60
        assert (np.diff(objective) <= 1e-8 * objective[:-1]).all()


def test_seeds_differ_by_a_rotation_only():
    views, _ = toy(n=200, dims=(20, 15))
    X = views[0] - views[0].mean(axis=0)
    found = []
    for seed in range(2):
        method = CMFH(6, variant="paper", iterations=3000, tolerance=1e-9, random_state=seed)
        W = method.fit(views).projections_[0]
        found.append((method.objective_[-1], X @ W @ W.T @ X.T))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-4)
    scale = np.abs(found[0][1]).max()
    np.testing.assert_allclose(found[0][1], found[1][1], atol=0.01 * scale)


def test_stops_by_the_sum_of_norms_and_v2_does_not():
    views, _ = toy()
    assert len(CMFH(n_bits=4, random_state=0).fit(views).objective_) < 500
    assert len(CMFH(n_bits=4, variant="v2", random_state=0).fit(views).objective_) == 25


def test_a_view_without_weight_does_no_harm():
    views, _ = toy()
    method = CMFH(n_bits=4, variant="paper", lam=1.0, random_state=0).fit(views)
    assert all(np.isfinite(W).all() for W in method.projections_)


def test_unknown_variant():
    with pytest.raises(HashbenchError, match="variant"):
        CMFH(variant="v3").fit(toy()[0])
