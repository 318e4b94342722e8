import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.methods.pdh import PDH, decorrelate
from tests.methods.restated.pdh import restate


def correlated_values(n=400, k=8, shared=3.0, seed=0):
    rng = np.random.default_rng(seed)
    Z = shared * rng.standard_normal((n, 1)) + rng.standard_normal((n, k))
    return Z * rng.uniform(0.01, 10, size=k) + rng.standard_normal(k)


def repetition(B):
    correlations = np.corrcoef(B, rowvar=False)
    return np.abs(correlations[~np.eye(len(correlations), dtype=bool)]).mean()


def test_recorded_objective_is_the_formula():
    views, Y = toy(n=200, dims=(20, 15), classes=6)
    expected = []
    restate(views, Y, 8, 0, iterations=2, record=expected.append)
    method = PDH(n_bits=8, iterations=2, random_state=0).fit(views)
    np.testing.assert_allclose(method.objective_, expected, rtol=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_decorrelation_keeps_every_bit_itself(seed):
    Z = correlated_values(seed=seed)
    old, new = np.sign(Z - np.median(Z, axis=0)), decorrelate(Z)
    agreement = old.T @ new / len(Z)
    assert repetition(new) < 0.15 < 0.5 < repetition(old)
    # Bit i of the new code resembles bit i of the old one, and more than any other new bit does.
    assert (agreement.argmax(axis=1) == np.arange(8)).all()
    assert (np.diag(agreement) > 0.3).all()


def test_decorrelation_of_constant_and_repeated_columns():
    Z = correlated_values(k=4)
    Z = np.hstack([Z, Z[:, :1], np.full((len(Z), 1), 3.0)])
    B = decorrelate(Z)
    assert np.isin(B, [-1, 1]).all()
    np.testing.assert_array_equal(B[:, 0], B[:, 4])
    assert (B[:, 5] == 1).all()


def test_views_agree_bit_by_bit_and_bits_do_not_run_together():
    views, _ = toy(n=300, dims=(20, 15), classes=6)
    method = PDH(n_bits=8, random_state=0).fit(views)
    image, text = (np.where(method.encode(X, m), 1, -1) for m, X in enumerate(views))
    agreement = image.T @ text / 300
    assert np.diag(agreement).mean() > 0.5
    assert (agreement.argmax(axis=1) == np.arange(8)).mean() > 0.7
    assert repetition(text) < 0.5


def test_items_of_a_class_are_found():
    views, labels = toy(n=300, dims=(20, 15), classes=6)
    method = PDH(n_bits=16, random_state=0).fit(views)
    image, text = (np.where(method.encode(X, m), 1, -1) for m, X in enumerate(views))
    same = labels @ labels.T > 0
    nearest = np.argsort(-image @ text.T, axis=1, kind="stable")[:, :10]
    precision = np.take_along_axis(same, nearest, axis=1).mean()
    assert precision > 0.6 > 2 * same.mean()


def test_more_bits_than_correlated_directions_are_not_constant():
    views, _ = toy(n=200, dims=(20, 4))
    method = PDH(n_bits=24, random_state=0).fit(views)
    for m, X in enumerate(views):
        codes = method.encode(X, m)
        assert (codes.any(axis=0) & ~codes.all(axis=0)).all()
        assert len(np.unique(codes, axis=1).T) > 8


def test_columns_without_new_information_change_nothing():
    views, _ = toy(n=60, dims=(12, 10), classes=4)
    rng = np.random.default_rng(0)
    turns = [np.linalg.qr(rng.standard_normal((90, X.shape[1])))[0].T for X in views]
    wide = [X @ Q for X, Q in zip(views, turns, strict=True)]  # fewer rows than columns
    methods = [PDH(n_bits=4, random_state=0).fit(each) for each in (views, wide)]
    turned = np.sign(
        np.sum(methods[0].projections_[0] * (turns[0] @ methods[1].projections_[0]), 0)
    )
    for narrow, wider, Q in zip(*(method.projections_ for method in methods), turns, strict=True):
        expected = turned * (Q @ wider)  # a direction and its opposite are one direction
        np.testing.assert_allclose(narrow, expected, atol=1e-2 * np.abs(narrow).max())
