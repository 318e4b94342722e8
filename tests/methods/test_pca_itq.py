import numpy as np
import pytest

from hashbench import HashbenchError
from hashbench.checks.methods import toy
from hashbench.methods.pca_itq import PCAITQ


@pytest.mark.parametrize("view", [0, 1])
def test_the_coded_view_encodes_to_the_learned_codes(view):
    views, _ = toy(n=100, dims=(9, 6))
    method = PCAITQ(n_bits=6, view=view, random_state=0).fit(views)
    assert (method.encode(views[view], view) == method.codes_).mean() > 0.999
    W = method.projections_[view]
    np.testing.assert_allclose(W.T @ W, np.eye(6), atol=1e-9)  # A R with orthonormal A


def test_the_other_view_is_the_regression_with_an_intercept():
    views, _ = toy(n=100, dims=(9, 6))
    method = PCAITQ(n_bits=4, ridge=0.5, random_state=0).fit(views)
    X = views[0] - views[0].mean(axis=0)
    B = np.where(method.codes_, 1.0, -1.0)
    penalty = 0.5 * np.square(X).sum() / 9
    W = np.linalg.solve(X.T @ X + penalty * np.eye(9), X.T @ (B - B.mean(axis=0)))
    np.testing.assert_allclose(method.project(views[0], 0), X @ W + B.mean(axis=0), atol=1e-9)


def test_more_bits_than_columns_are_all_in_use():
    views, _ = toy(n=200, dims=(12, 4))
    codes = PCAITQ(n_bits=16, random_state=0).fit(views).codes_
    assert ((codes.mean(axis=0) > 0.05) & (codes.mean(axis=0) < 0.95)).all()


def test_a_view_that_is_not_there_is_named():
    with pytest.raises(HashbenchError, match="found view 2; allowed: 0 to 1"):
        PCAITQ(view=2).fit(toy()[0])
