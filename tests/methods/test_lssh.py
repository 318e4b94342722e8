import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.linalg.lasso import lasso
from hashbench.methods.lssh import LSSH
from tests.helpers.emoji import emoji_part
from tests.methods.restated.lssh import restate

SMALL = {"n_bits": 6, "atoms": 40, "components": 10, "iterations": 5, "random_state": 0}


def unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def features(views):
    """Both views as the method sees them, written out."""
    image, *texts = (v - v.mean(axis=0) for v in views)
    values, vectors = np.linalg.eigh(image.T @ image)
    strongest = vectors[:, np.argsort(values)[::-1][:10]]
    return unit(image @ strongest), [unit(t) for t in texts]


@pytest.fixture(scope="module", params=[(16, 8), (16, 8, 5)])
def fitted(request):
    views, _ = toy(n=120, dims=request.param)
    return views, LSSH(**SMALL).fit(views)


def assert_nearly_all(codes, values):
    """Check the codes where single precision can tell the sign of a value."""
    sure = np.abs(values) > 1e-3 * np.abs(values).max()
    assert sure.mean() > 0.9
    assert np.array_equal(codes[sure], values[sure] > 0)


def test_codes_follow_the_hash_functions(fitted):
    views, method = fitted
    expected, T = features(views)
    B, R, U = method.dictionary_, method.link_, method.bases_
    # The sign of a principal component is arbitrary: take over the fitted ones.
    X = unit((views[0] - views[0].mean(axis=0)) @ method.components_)
    np.testing.assert_allclose(np.abs(X), np.abs(expected), atol=1e-8)
    linked = lasso(B, X, 0.2) @ R
    assert_nearly_all(method.encode(views[0], 0), linked)
    for m, (t, u) in enumerate(zip(T, U, strict=True)):
        values = t @ u.T @ np.linalg.inv(u @ u.T + 2 * np.eye(6))
        assert_nearly_all(method.encode(views[m + 1], m + 1), values)
    right = 2 * linked + sum(t @ u.T for t, u in zip(T, U, strict=True))
    pairs = right @ np.linalg.inv(sum(u @ u.T for u in U) + 2 * np.eye(6))
    assert_nearly_all(method.codes_, pairs)


def test_atoms_are_bounded(fitted):
    _, method = fitted
    for rows in (method.dictionary_, method.link_, *method.bases_):
        assert (np.linalg.norm(rows, axis=1) <= 1 + 1e-6).all()


def test_training_lowers_the_objective(fitted):
    _, method = fitted
    assert len(method.objective_) == 5
    assert method.objective_[-1] < 0.9 * method.objective_[0]


def test_recorded_objective_is_the_formula():
    views, labels, _ = emoji_part()
    parameters = {"gamma": 0.6, "atoms": 20, "iterations": 3}
    expected = []
    restate(views, labels, 6, 0, record=expected.append, **parameters)
    method = LSSH(n_bits=6, random_state=0, **parameters).fit(views)
    np.testing.assert_allclose(method.objective_, expected, rtol=1e-3)


def test_max_rows_limits_the_rows_that_learn_the_dictionary():
    views, _ = toy(n=120, dims=(16, 8))
    method = LSSH(**SMALL, max_rows=50).fit(views)
    assert method.codes_.shape == (120, 6)
    whole = LSSH(**SMALL).fit(views)
    assert not np.array_equal(method.dictionary_, whole.dictionary_)
    # A limit of all rows changes nothing.
    same = LSSH(**SMALL, max_rows=120).fit(views)
    np.testing.assert_array_equal(same.dictionary_, whole.dictionary_)
