import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.linalg.kernels import anchor_maps
from hashbench.methods.alech import ALECH


def direct(views, Y, k, iterations, seed):
    """The updates with the n x n similarity formed, items as columns."""
    rng = np.random.default_rng(seed)
    n = len(Y)
    alpha, beta, eta, lamb, eye = 1e-2, 1e-1, 1e-2, 50.0, np.eye(k)
    _, (K1, K2) = anchor_maps(views, [15, 20], rng)
    G = Y / np.linalg.norm(Y, axis=1, keepdims=True)
    S = 2 * G @ G.T - 1
    L = Y
    _, vectors = np.linalg.eigh(K2.T @ K2)
    directions = vectors[:, ::-1][:, :k]
    largest = directions[np.abs(directions).argmax(axis=0), np.arange(k)]
    V = (K2 @ (directions * np.sign(largest))).T
    P = np.eye(Y.shape[1])
    W = P @ L.T @ V.T @ np.linalg.inv(V @ V.T + lamb * eye)
    for _ in range(iterations):
        B = np.where(alpha * k * V @ S + beta * V >= 0, 1.0, -1.0)
        P = (W @ V @ L + L.T @ L) @ np.linalg.inv(2 * L.T @ L + eta * np.eye(Y.shape[1]))
        W = P @ L.T @ V.T @ np.linalg.inv(V @ V.T + eta * eye)
        Z = W.T @ P @ L.T + beta * B + alpha * k * B @ S
        left, _, right = np.linalg.svd(Z - Z.mean(axis=1, keepdims=True), full_matrices=False)
        V = np.sqrt(n) * left @ right
    value = np.square(W @ V - P @ L.T).sum() + np.square(L.T - P @ L.T).sum()
    value += eta * (np.square(W).sum() + np.square(P).sum())
    value += beta * np.square(B - V).sum() + alpha * np.square(k * S - V.T @ B).sum()
    F = [
        np.linalg.inv(B @ B.T + lamb * eye)
        @ (k * B @ S @ K + lamb * B @ K)
        @ np.linalg.pinv(K.T @ K)
        for K in (K1, K2)
    ]
    return B.T > 0, F, value


@pytest.mark.parametrize("iterations", [1, 4])
def test_equals_the_updates_with_the_similarity_formed(iterations):
    views, Y = toy(70, multilabel=True)
    method = ALECH(
        n_bits=3,
        alpha=1e-2,
        beta=1e-1,
        eta=1e-2,
        lam=50.0,
        anchors=15,
        anchors_others=20,
        iterations=iterations,
        random_state=1,
    ).fit(views, Y)
    codes, F, value = direct(views, Y.astype(float), 3, iterations, 1)
    assert np.array_equal(method.codes_, codes)
    assert method.objective_[-1] == pytest.approx(value, rel=1e-9)
    for ours, theirs in zip(method.projections_, F, strict=True):
        np.testing.assert_allclose(ours, theirs.T, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("n_bits", [3, 20])  # below and above the rank of the V-step
def test_objective_never_rises(n_bits):
    views, Y = toy(70, multilabel=True)
    method = ALECH(n_bits=n_bits, anchors=15, anchors_others=20, random_state=0)
    objective = np.array(method.fit(views, Y).objective_)
    assert (np.diff(objective[1:]) <= 1e-9 * objective[0]).all()


def test_bits_beyond_the_principal_directions_start_at_random():
    views, Y = toy(70)
    method = ALECH(n_bits=40, anchors_others=5, random_state=0).fit(views, Y)
    assert (method.codes_.any(axis=0) & ~method.codes_.all(axis=0)).mean() > 0.9
