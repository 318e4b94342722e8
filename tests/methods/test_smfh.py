import numpy as np
import pytest
import scipy

from hashbench.checks.methods import toy
from hashbench.methods.smfh import SMFH


def neighbours_either_way(X, count):
    D = np.square(X[:, None] - X[None]).sum(axis=2)
    np.fill_diagonal(D, np.inf)
    W = np.zeros_like(D)
    np.put_along_axis(W, np.argsort(D, axis=1, kind="stable")[:, :count], 1, axis=1)
    return np.maximum(W, W.T)


def direct(views, labels, k, weights, beta, gamma, ridge, iterations, rng):
    """The method as written, with the Laplacian and all residuals formed."""
    W = sum(neighbours_either_way(X, 5) for X in views) + labels @ labels.T
    laplacian = np.diag(W.sum(axis=1)) - W
    views = [X - X.mean(axis=0) for X in views]
    eye = np.eye(k)
    S = rng.random((len(labels), k))
    P = [rng.random((X.shape[1], k)) for X in views]
    objective = []
    for _ in range(iterations):
        U = [
            X.T @ S @ np.linalg.inv(S.T @ S + ridge / weight * eye)
            for X, weight in zip(views, weights, strict=True)
        ]
        A = 2 * (len(views) * beta + ridge) * eye
        C = np.zeros_like(S)
        for X, weight, u, p in zip(views, weights, U, P, strict=True):
            A += 2 * weight * u.T @ u
            C += 2 * (weight * X @ u + beta * X @ p)
        S = scipy.linalg.solve_sylvester(2 * gamma * laplacian, A, C)
        P = [np.linalg.solve(X.T @ X + ridge / beta * np.eye(X.shape[1]), X.T @ S) for X in views]
        value = gamma * np.trace(S.T @ laplacian @ S) + ridge * np.square(S).sum()
        for X, weight, u, p in zip(views, weights, U, P, strict=True):
            value += weight * np.square(X - S @ u.T).sum() + beta * np.square(S - X @ p).sum()
            value += ridge * (np.square(u).sum() + np.square(p).sum())
        objective.append(value)
    return S, P, objective


@pytest.mark.parametrize("multilabel", [False, True])
@pytest.mark.parametrize("dims", [(12, 8), (12, 8, 5), (90, 8)])
def test_equals_the_method_with_everything_formed(multilabel, dims):
    views, labels = toy(n=70, dims=dims, multilabel=multilabel)
    settings = {"beta": 10.0, "gamma": 0.5, "ridge": 0.1, "iterations": 6}
    weights = [0.4] + [0.6 / (len(dims) - 1)] * (len(dims) - 1)
    S, P, objective = direct(
        views, labels.astype(float), 5, weights, **settings, rng=np.random.default_rng(3)
    )
    method = SMFH(n_bits=5, alpha=0.4, tolerance=-np.inf, **settings, random_state=3)
    method.fit(views, labels)
    np.testing.assert_allclose(method.objective_, objective, rtol=1e-7)
    assert (method.codes_ == (S - S.mean(axis=0) >= 0)).all()
    for m, X in enumerate(views):
        np.testing.assert_allclose(method.projections_[m], P[m], atol=1e-6 * np.abs(P[m]).max())
        values = (X - X.mean(axis=0)) @ P[m] - S.mean(axis=0)
        assert (method.encode(X, m) == (values >= 0)).mean() > 0.999


def test_objective_never_rises_and_the_last_decrease_is_below_the_tolerance():
    views, labels = toy(n=100)
    method = SMFH(n_bits=8, random_state=0).fit(views, labels)
    falls = -np.diff(method.objective_)
    assert 1 < len(method.objective_) < 100
    assert (falls >= -1e-9 * method.objective_[0]).all()
    assert falls[-1] < 1
    assert (falls[:-1] >= 1).all()


def test_items_of_a_class_share_more_bits_than_others():
    views, labels = toy(n=120)
    codes = SMFH(n_bits=16, random_state=0).fit(views, labels).codes_
    equal = (codes[:, None] == codes[None]).mean(axis=2)
    same = labels.astype(int) @ labels.T > 0
    assert equal[same].mean() > equal[~same].mean() + 0.2
