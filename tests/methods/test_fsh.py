import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.methods.fsh import FSH
from tests.methods.restated import fsh


@pytest.mark.parametrize("dims", [(12, 8), (60, 8)])  # 60: more columns than rows
def test_objective_equals_that_of_the_restatement(dims):
    views, Y = toy(50, dims=dims)
    method = FSH(n_bits=6, anchors=20, neighbours=4, iterations=5, random_state=1).fit(views)
    iterations = len(method.objective_)  # it may end early
    values = []
    codes, _ = fsh.restate(
        views, Y, 6, 1, anchors=20, neighbours=4, iterations=iterations, record=values.append
    )
    assert np.array_equal(method.codes_, codes)
    np.testing.assert_allclose(method.objective_, values, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("dims", [(12, 8), (12, 8, 5)])
def test_every_step_but_that_of_the_weights_descends(dims):
    for seed in range(4):
        views, _ = toy(n=200, dims=dims, seed=seed)
        # An exponent far below zero makes the weights constant from the second iteration on.
        method = FSH(n_bits=16, exponent=-1e300, random_state=seed).fit(views)
        objective = np.array(method.objective_[1:])
        assert len(objective) > 2
        assert (np.diff(objective) <= 1e-9 * np.abs(objective[:-1])).all()


def test_ends_when_nothing_changes():
    views, _ = toy(n=200)
    short = FSH(n_bits=8, random_state=0).fit(views)
    used = len(short.objective_)
    assert used < 100
    # The last iteration repeated the one before it, so leaving it out changes nothing.
    shorter = FSH(n_bits=8, random_state=0, iterations=used - 1).fit(views)
    np.testing.assert_array_equal(short.codes_, shorter.codes_)
    for one, other in zip(short.projections_, shorter.projections_, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_scale_of_a_row_does_not_matter():
    views, _ = toy(n=80)
    factors = np.random.default_rng(0).integers(1, 9, size=(80, 1)).astype(float)
    plain = FSH(n_bits=8, random_state=0).fit(views)
    scaled = FSH(n_bits=8, random_state=0).fit([views[0] * factors, views[1]])
    assert (plain.codes_ == scaled.codes_).mean() > 0.99
    assert (plain.encode(views[0], 0) == scaled.encode(views[0], 0)).mean() > 0.99
