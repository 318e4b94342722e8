import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.methods import imh
from hashbench.methods.imh import IMH


def assert_same_projections(one, other, rtol):
    for ours, theirs in zip(one.projections_, other.projections_, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=rtol * np.abs(theirs).max())


def test_lanczos_and_the_dense_decomposition_find_the_same(monkeypatch):
    views, _ = toy(n=150, dims=(7, 5))
    dense = IMH(n_bits=4, random_state=0).fit(views)
    monkeypatch.setattr(imh, "DENSE_ROWS", 0)
    lanczos = IMH(n_bits=4, random_state=0).fit(views)
    assert_same_projections(lanczos, dense, rtol=1e-6)


def test_bits_are_thresholded_at_the_training_medians():
    views, _ = toy(n=101)
    method = IMH(n_bits=6, random_state=0).fit(views)
    for m, X in enumerate(views):
        np.testing.assert_array_equal(method.encode(X, m).sum(axis=0), 50)
        np.testing.assert_array_equal(method.encode(X[:1], m), method.encode(X, m)[:1])


def test_batch_medians_depend_on_the_batch():
    views, _ = toy(n=100)
    method = IMH(n_bits=6, batch_thresholds=True, random_state=0).fit(views)
    for rows in (20, 50, 100):
        np.testing.assert_array_equal(method.encode(views[0][:rows], 0).sum(axis=0), rows // 2)


def test_centring_and_skipping_belong_together():
    views, _ = toy(n=150, dims=(7, 5))
    # Rows that sum to one have the constant vector among their combinations.
    views = [np.exp(X) / np.exp(X).sum(axis=1, keepdims=True) for X in views]
    raw = IMH(n_bits=3, random_state=0).fit(views)
    centred = IMH(n_bits=3, centred=True, skip=0, random_state=0).fit(views)
    trivial = IMH(n_bits=1, skip=0, random_state=0).fit(views)
    values = trivial.project(views[0], 0)
    assert values.std() < 0.02 * np.sqrt(1 / 150)  # a unit vector over 150 rows, nearly constant
    for m, X in enumerate(views):
        agree = (raw.encode(X, m) == centred.encode(X, m)).mean(axis=0)
        assert (np.maximum(agree, 1 - agree) > 0.9).all()


def test_bits_beyond_the_features_are_constant_and_warned_about():
    views, _ = toy(n=200, dims=(7, 5))
    with pytest.warns(UserWarning, match="constant"):
        method = IMH(n_bits=16, random_state=0).fit(views)
    codes = method.encode(views[0], 0)
    assert (codes[:, 11:] == codes[0, 11:]).all()
    assert np.allclose(codes[:, :11].mean(axis=0), 0.5)


def test_the_spectral_problem_is_that_of_the_sample():
    views, _ = toy(n=400, dims=(7, 5))
    method = IMH(n_bits=3, max_rows=100, random_state=0).fit(views)
    rows = np.sort(np.random.default_rng(0).choice(400, 100, replace=False))
    sampled = IMH(n_bits=3, random_state=0).fit([X[rows] for X in views])
    assert_same_projections(method, sampled, rtol=1e-9)
    np.testing.assert_array_equal(method.encode(views[0], 0).sum(axis=0), 200)  # medians of all
