import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.methods.lcmfh import LCMFH


def direct(views, Y, n_bits, iterations, seed, weight=0.5, mu=10.0, gamma=0.001):
    """The updates with every product over the items written out."""
    rng = np.random.default_rng(seed)
    X1, X2 = (X - X.mean(axis=0) for X in views)
    G = Y / np.linalg.norm(Y, axis=1, keepdims=True)
    eye = np.eye(n_bits)
    Z = rng.random((Y.shape[1], n_bits))
    P1, P2 = (rng.random((X.shape[1], n_bits)) for X in views)
    for _ in range(iterations):
        V = G @ Z
        U1 = X1.T @ V @ np.linalg.inv(V.T @ V + gamma / weight * eye)
        U2 = X2.T @ V @ np.linalg.inv(V.T @ V + gamma / (1 - weight) * eye)
        right = weight * X1 @ U1 + (1 - weight) * X2 @ U2 + mu * X1 @ P1 + mu * X2 @ P2
        left = weight * U1.T @ U1 + (1 - weight) * U2.T @ U2 + (2 * mu + gamma) * eye
        Z = np.linalg.inv(G.T @ G) @ G.T @ right @ np.linalg.inv(left)
        P1, P2 = (
            np.linalg.solve(X.T @ X + gamma / mu * np.eye(X.shape[1]), X.T @ G @ Z)
            for X in (X1, X2)
        )
    V = G @ Z
    value = weight * np.square(X1 - V @ U1.T).sum() + (1 - weight) * np.square(X2 - V @ U2.T).sum()
    value += mu * (np.square(V - X1 @ P1).sum() + np.square(V - X2 @ P2).sum())
    value += gamma * sum(np.square(M).sum() for M in (U1, U2, P1, P2, V))
    return (P1, P2), V.mean(axis=0) <= V, value


@pytest.mark.parametrize("iterations", [1, 6])
def test_class_space_equals_the_updates_over_all_items(iterations):
    views, Y = toy(70, multilabel=True)
    method = LCMFH(n_bits=7, lam=0.3, iterations=iterations, random_state=4).fit(views, Y)
    P, codes, value = direct(views, Y.astype(float), 7, iterations, 4, weight=0.3)
    for ours, theirs in zip(method.projections_, P, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9)
    assert np.array_equal(method.codes_, codes)
    assert method.objective_[-1] == pytest.approx(value, rel=1e-9)


def test_objective_never_rises():
    views, Y = toy(70, multilabel=True)
    objective = np.array(LCMFH(n_bits=10, random_state=0).fit(views, Y).objective_)
    assert (np.diff(objective) <= 1e-9 * objective[0]).all()
    assert objective[-1] < 0.9 * objective[0]


def test_codes_of_queries_depend_on_their_batch_only_when_asked_to():
    views, Y = toy(70)
    inductive = LCMFH(random_state=0).fit(views, Y)
    transductive = LCMFH(random_state=0, batch_thresholds=True).fit(views, Y)
    shifted = views[0] + 3.0
    assert np.array_equal(transductive.encode(shifted, 0), inductive.encode(views[0], 0))
    assert not np.array_equal(inductive.encode(shifted, 0), inductive.encode(views[0], 0))


def test_absent_class_and_view_of_no_weight():
    views, Y = toy(70)
    method = LCMFH(lam=1.0, random_state=0).fit(views, np.hstack([Y, np.zeros((70, 1))]))
    assert all(np.isfinite(P).all() for P in method.projections_)
    assert len(np.unique(method.codes_, axis=0)) <= 4
