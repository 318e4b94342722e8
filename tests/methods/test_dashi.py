import warnings

import numpy as np
import pytest
import scipy

from hashbench.checks.methods import toy
from hashbench.methods.dashi import DASHi
from hashbench.methods.dasht import DASHt

BOTH = pytest.mark.parametrize(("cls", "giver"), [(DASHi, 0), (DASHt, 1)])


@BOTH
@pytest.mark.parametrize("multilabel", [False, True])
def test_steps_equal_the_direct_formulas(cls, giver, multilabel):
    views, labels = toy(multilabel=multilabel)
    k, ridge = 6, 1e-4
    method = cls(n_bits=k, ridge=ridge, random_state=0).fit(views, labels)
    B = np.where(method.codes_, 1.0, -1.0)
    A, Z = (views[m] - views[m].mean(axis=0) for m in (giver, 1 - giver))
    L = labels - labels.mean(axis=0)

    # Step 2: least squares on the codes.
    P = np.linalg.solve(Z.T @ Z + ridge * np.eye(Z.shape[1]), Z.T @ B)
    np.testing.assert_allclose(method.projections_[1 - giver], P, rtol=1e-8)
    # Step 1: an orthogonal rotation of W diag(s) leaves W diag(s^2) W' as it is.
    left = A.T @ A + ridge * np.eye(A.shape[1])
    middle = np.linalg.solve(L.T @ L + ridge * np.eye(L.shape[1]), L.T @ A)
    values, W = scipy.linalg.eigh(A.T @ L @ middle, left)
    squares = (W[:, -k:] * values[-k:]) @ W[:, -k:].T
    rotated = method.projections_[giver]
    np.testing.assert_allclose(rotated @ rotated.T, squares, atol=1e-8 * np.abs(squares).max())
    # Codes are those of the view that gives them.
    assert np.array_equal(method.codes_, method.encode(views[giver], giver))


@BOTH
def test_regressed_views_agree_with_the_codes(cls, giver):
    views, labels = toy(n=300, dims=(12, 8, 6))
    method = cls(n_bits=16, random_state=0).fit(views, labels)
    for m, X in enumerate(views):
        agreement = (method.encode(X, m) == method.codes_).mean()
        assert agreement == 1 if m == giver else agreement > 0.8


def test_few_directions_are_spread_over_all_bits():
    views, labels = toy(n=200, classes=4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        codes = DASHi(n_bits=32, random_state=0).fit(views, labels).codes_
    assert np.isin(codes.mean(axis=0), (0, 1)).sum() == 0


def test_uncorrelated_labels_give_constant_bits_and_a_warning():
    views, labels = toy()
    with pytest.warns(UserWarning, match="all 8 bits are constant"):
        method = DASHt(n_bits=8, random_state=0).fit(views, np.ones_like(labels[:, :1]))
    assert method.codes_.all()
