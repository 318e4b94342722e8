import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.methods.acq import ACQ


@pytest.mark.parametrize("dims", [(9, 6), (9, 6, 5)])
@pytest.mark.parametrize("eta", [0.0, 0.3, 1.0, 2.0])
def test_objective_never_rises(dims, eta):
    views, _ = toy(n=120, dims=dims)
    method = ACQ(n_bits=5, eta=eta, iterations=30, random_state=0).fit(views)
    objective = np.array(method.objective_)
    assert (np.diff(objective) <= 1e-9 * objective[0]).all()
    assert objective[-1] < objective[0]


def test_recorded_objective_is_the_formula():
    views, _ = toy(n=120, dims=(9, 6))
    method = ACQ(n_bits=5, eta=0.3, iterations=200, random_state=0).fit(views)
    # After so many iterations neither step moves: codes and projections belong together.
    B = [np.where(codes, 1.0, -1.0) for codes in method.codes_]
    P = [method.project(X, m) for m, X in enumerate(views)]
    direct = sum(np.square(b - p).sum() for b, p in zip(B, P, strict=True))
    direct += 0.3 * (np.square(B[0] - P[1]).sum() + np.square(B[1] - P[0]).sum())
    assert method.objective_[-1] == pytest.approx(direct)


def test_projections_have_unit_variance_and_are_rotated():
    views, _ = toy(n=400, dims=(9, 6))
    method = ACQ(n_bits=4, ridge=1e-7, random_state=0).fit(views)
    for m, X in enumerate(views):
        P = method.project(X, m)
        np.testing.assert_allclose(P.T @ P / 400, np.eye(4), atol=1e-5)


def test_the_scale_of_a_view_changes_nothing():
    views, _ = toy(n=150, dims=(9, 6))
    plain = ACQ(n_bits=5, random_state=0).fit(views)
    scaled = ACQ(n_bits=5, random_state=0).fit([views[0] * 1024, views[1] / 64])
    for ours, theirs in zip(plain.codes_, scaled.codes_, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_equal_weights_give_both_views_the_same_codes():
    views, _ = toy(n=100)
    first, second = ACQ(n_bits=5, random_state=0).fit(views).codes_
    np.testing.assert_array_equal(first, second)


def test_rotations_are_coupled():
    views, _ = toy(n=300, dims=(9, 6))
    agreements = []
    for eta in (0.0, 1.0):
        method = ACQ(n_bits=4, eta=eta, random_state=0).fit(views)
        codes = [method.encode(X, m) for m, X in enumerate(views)]
        agreements.append((codes[0] == codes[1]).mean())
    assert agreements[1] >= agreements[0]
    assert agreements[1] > 0.75
