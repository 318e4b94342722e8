import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.linalg.kernels import anchor_maps
from hashbench.methods.fdch import FDCH
from hashbench.methods.srlch import SRLCH


def test_srlch_equals_its_updates_written_out():
    views, Y = toy(70, multilabel=True)
    Y = Y.astype(float)
    method = SRLCH(n_bits=6, anchors=20, iterations=3, mu=0.3, mu_others=0.2, random_state=5).fit(
        views, Y
    )

    rng = np.random.default_rng(5)
    phi = []
    for X in views:
        U = X - X.mean(axis=0)
        U /= np.linalg.norm(U, axis=1, keepdims=True)
        A = U[np.sort(rng.choice(70, 20, replace=False))]
        D = np.square(U[:, None] - A[None]).sum(axis=2)
        phi.append(np.hstack([np.exp(-D / (2 * 0.6**2)), np.ones((70, 1))]))
    eye = np.eye(21)
    inverses = [np.linalg.inv(F.T @ F + r * eye) for F, r in zip(phi, (0.01, 0.1), strict=True)]
    B = np.where(rng.standard_normal((70, 6)) >= 0, 1.0, -1.0)
    for _ in range(3):
        P = [inv @ F.T @ B for inv, F in zip(inverses, phi, strict=True)]
        W = np.linalg.solve(Y.T @ Y + 0.1 * np.eye(4), Y.T @ B)
        B = np.where(Y @ W + 0.3 * phi[0] @ P[0] + 0.2 * phi[1] @ P[1] >= 0, 1.0, -1.0)
    assert np.array_equal(method.codes_, B > 0)
    for ours, inv, F in zip(method.projections_, inverses, phi, strict=True):
        np.testing.assert_allclose(ours, inv @ F.T @ B, rtol=1e-6, atol=1e-8)


def test_fdch_equals_its_updates_written_out():
    views, Y = toy(70, multilabel=True)
    Y = Y.astype(float)
    method = FDCH(n_bits=6, anchors=20, iterations=3, random_state=5).fit(views, Y)

    rng = np.random.default_rng(5)
    _, phi = anchor_maps(views, [20, 20], rng)
    B, t = np.where(rng.standard_normal((70, 6)) >= 0, 1.0, -1.0), np.zeros(6)
    for _ in range(3):
        P = [np.linalg.solve(F.T @ F + 0.01 * np.eye(20), F.T @ B) for F in phi]
        W = np.linalg.solve(Y.T @ Y + 0.1 * np.eye(4), Y.T @ (B - t))
        t = (B - Y @ W).sum(axis=0) / 70
        values = [F @ p for F, p in zip(phi, P, strict=True)]
        B = np.where(Y @ W + t + 0.5 * values[0] + 0.5 * values[1] >= 0, 1.0, -1.0)
    assert np.array_equal(method.codes_, B > 0)
    value = np.square(B - Y @ W - t).sum() + 0.1 * np.square(W).sum()
    for v, p in zip(values, P, strict=True):
        value += 0.5 * (np.square(B - v).sum() + 0.01 * np.square(p).sum())
    assert method.objective_[-1] == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("cls", [SRLCH, FDCH])
@pytest.mark.parametrize("seed", range(3))
def test_objective_never_rises(cls, seed):
    views, Y = toy(70, multilabel=True)
    objective = np.array(cls(n_bits=12, anchors=20, random_state=seed).fit(views, Y).objective_)
    assert (np.diff(objective) <= 1e-9 * objective[0]).all()
    assert objective[-1] < objective[0]


def test_srlch_codes_are_a_vote_over_the_initial_signs_when_the_views_weigh_nothing():
    views, Y = toy(70)  # one class a row
    method = SRLCH(n_bits=9, anchors=20, mu=0.0, mu_others=0.0, random_state=5, iterations=1).fit(
        views, Y
    )
    rng = np.random.default_rng(5)
    for _ in views:
        rng.choice(70, 20, replace=False)
    start = np.where(rng.standard_normal((70, 9)) >= 0, 1.0, -1.0)
    vote = Y.T.astype(float) @ start >= 0
    assert np.array_equal(method.codes_, vote[Y.argmax(axis=1)])
