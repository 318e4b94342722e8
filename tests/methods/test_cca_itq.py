import numpy as np
import pytest

from hashbench import HashbenchError
from hashbench.checks.methods import toy
from hashbench.linalg import correlated_directions, scatter_whitening
from hashbench.methods import cca_itq
from hashbench.methods.cca_itq import CCAITQ


def directions(views, k):
    ridge = 1e-4 * (len(views[0]) - 1)  # the method adds its ridge to the covariance
    means = [X.mean(axis=0) for X in views]
    whiteners = [scatter_whitening(X, mean, ridge) for X, mean in zip(views, means, strict=True)]
    return correlated_directions(views, k, means, whiteners)


@pytest.mark.parametrize("dims", [(9, 6), (9, 6, 7)])
def test_one_rotation_serves_all_views(dims):
    views, _ = toy(n=100, dims=dims)
    method = CCAITQ(n_bits=5, scaling="variance", random_state=0).fit(views)
    A, _ = directions(views, 5)
    rotations = [np.linalg.pinv(a) @ P for a, P in zip(A, method.projections_, strict=True)]
    np.testing.assert_allclose(rotations[0].T @ rotations[0], np.eye(5), atol=1e-8)
    for R in rotations[1:]:
        np.testing.assert_allclose(R, rotations[0], atol=1e-8)


def test_scalings():
    views, _ = toy(n=100, dims=(9, 6))
    A, correlations = directions(views, 5)
    expected = {
        "variance": np.ones(5),
        "correlation": correlations,
        "entry": 1 / np.abs(A[0]).max(axis=0),
    }
    for scaling, factors in expected.items():
        method = CCAITQ(n_bits=5, scaling=scaling, random_state=0).fit(views)
        for a, P in zip(A, method.projections_, strict=True):
            # P = A S R, and R R' = I for any rotation R.
            np.testing.assert_allclose(P @ P.T, (a * factors**2) @ a.T, atol=1e-9)


def test_the_rotation_lowers_the_quantisation_error():
    views, _ = toy(n=200, dims=(9, 6))
    errors = []
    for iterations in (0, 1, 5, 51):
        method = CCAITQ(n_bits=5, iterations=iterations, random_state=0).fit(views)
        V = np.vstack([method.project(X, m) for m, X in enumerate(views)])
        errors.append(np.square(np.where(V >= 0, 1, -1) - V).sum())
    assert (np.diff(errors) <= 1e-9 * errors[0]).all()
    assert errors[-1] < errors[0]


def test_more_bits_than_directions_are_all_in_use():
    views, _ = toy(n=200, dims=(12, 4))
    method = CCAITQ(n_bits=16, random_state=0).fit(views)
    balance = method.encode(views[0], 0).mean(axis=0)
    assert ((balance > 0.05) & (balance < 0.95)).all()


def test_noise_bits_fill_the_first_view_beyond_the_rank():
    views, _ = toy(n=200, dims=(12, 4))
    A, correlations = directions(views, 16)
    assert np.count_nonzero(correlations) == 4
    method = CCAITQ(n_bits=16, scaling="variance", noise_bits=True, random_state=0).fit(views)
    # P P' = A A' for any rotation. The second view has its four directions; the first view has
    # twelve more, and each has unit length among the whitened features.
    np.testing.assert_allclose(method.projections_[1] @ method.projections_[1].T, A[1] @ A[1].T)
    X = views[0] - views[0].mean(axis=0)
    extra = method.projections_[0] @ method.projections_[0].T - A[0] @ A[0].T
    assert np.isclose(np.trace((X.T @ X + 1e-4 * 199 * np.eye(12)) @ extra), 12)


def test_the_rotation_sees_projections_in_the_precision_of_the_features(monkeypatch):
    seen = []

    def itq(V, rng, iterations):
        seen.append(V.dtype)
        return np.eye(V.shape[1])

    monkeypatch.setattr(cca_itq, "itq", itq)
    views, _ = toy()
    CCAITQ(n_bits=5, random_state=0).fit([X.astype(np.float32) for X in views])
    assert seen == [np.float32]


def test_wrong_parameters_are_refused():
    views, _ = toy()
    with pytest.raises(HashbenchError, match="rotation_view"):
        CCAITQ(rotation_view=2).fit(views)
    with pytest.raises(HashbenchError, match="scaling"):
        CCAITQ(scaling="none").fit(views)
