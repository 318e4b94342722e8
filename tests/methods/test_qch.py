import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.methods.qch import QCH


def direct_objective(method, views, ridge):
    B = [np.where(codes, 1.0, -1.0) for codes in method.codes_]
    total = 0.0
    for X, W, b in zip(views, method.projections_, B, strict=True):
        Xc = X - X.mean(axis=0)
        penalty = ridge * np.square(Xc).sum() / X.shape[1]
        total += np.square(b - Xc @ W).sum() + penalty * np.square(W).sum()
    return total - method.alpha * sum(
        np.sum(B[m] * B[other]) for m in range(len(B)) for other in range(m)
    )


@pytest.mark.parametrize("dims", [(9, 6), (9, 6, 5), (200, 6)])
def test_recorded_objective_is_the_formula_and_never_rises(dims):
    views, _ = toy(n=120, dims=dims)
    method = QCH(n_bits=7, alpha=0.4, ridge=0.2, iterations=15, random_state=0).fit(views)
    assert method.objective_[-1] == pytest.approx(direct_objective(method, views, 0.2))
    assert (np.diff(method.objective_) <= 1e-6).all()
    assert method.objective_[-1] < method.objective_[0]


def test_codes_are_minimisers_given_the_rest():
    views, _ = toy(n=120, dims=(9, 6))
    method = QCH(n_bits=5, alpha=0.6, iterations=100, random_state=0).fit(views)
    B = [np.where(codes, 1.0, -1.0) for codes in method.codes_]
    for m, X in enumerate(views):
        pull = method.project(X, m) + 0.3 * B[1 - m]
        np.testing.assert_array_equal(method.codes_[m], pull >= 0)


def test_the_scale_of_a_view_changes_nothing():
    views, _ = toy(n=150, dims=(9, 6))
    plain = QCH(n_bits=5, random_state=0).fit(views)
    scaled = QCH(n_bits=5, random_state=0).fit([views[0] * 1024, views[1] / 64])
    for ours, theirs in zip(plain.codes_, scaled.codes_, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_large_weight_freezes_the_codes():
    views, _ = toy(n=120)
    short = QCH(n_bits=6, alpha=100.0, iterations=1, random_state=0).fit(views)
    long = QCH(n_bits=6, alpha=100.0, iterations=20, random_state=0).fit(views)
    np.testing.assert_array_equal(long.codes_[0], long.codes_[1])
    np.testing.assert_array_equal(short.codes_[1], long.codes_[1])
