import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.linalg import random_rotation
from hashbench.linalg.kernels import anchor_maps
from hashbench.methods.scratch import SCRATCH


def direct(views, Y, k, iterations, seed):
    """The updates as printed, with items as columns and every matrix written out."""
    rng = np.random.default_rng(seed)
    lam, alpha, mu, gamma, eye = 0.5, 500.0, 1000.0, 5.0, np.eye(k)
    _, features = anchor_maps(views, [20, 20], rng)
    X1, X2 = (K.T for K in features)
    L = Y.T
    V = rng.standard_normal((len(Y), k)).T
    R = random_rotation(k, rng)
    for _ in range(iterations):
        B = np.where(R @ V >= 0, 1.0, -1.0)
        U1, U2 = (lam * X @ V.T @ np.linalg.inv(lam * V @ V.T + gamma * eye) for X in (X1, X2))
        C = alpha * L @ V.T @ np.linalg.inv(alpha * V @ V.T + gamma * eye)
        W1, W2 = (
            mu * V @ X.T @ np.linalg.inv(mu * X @ X.T + gamma * np.eye(len(X))) for X in (X1, X2)
        )
        left = lam * (U1.T @ U1 + U2.T @ U2) + alpha * C.T @ C + R.T @ R + (2 * mu + gamma) * eye
        right = lam * (U1.T @ X1 + U2.T @ X2) + mu * (W1 @ X1 + W2 @ X2) + alpha * C.T @ L
        V = np.linalg.solve(left, right + R.T @ B)
        S1, values, S2 = np.linalg.svd(B @ V.T)
        r = int((values > 1e-8 * values[0]).sum())
        # Where bits agree on all items, some directions are free: there, the best of the last R.
        T1, _, T2 = np.linalg.svd(S1[:, r:].T @ R @ S2[r:].T)
        R = S1[:, :r] @ S2[:r] + S1[:, r:] @ T1 @ T2 @ S2[r:]
    value = lam * (np.square(X1 - U1 @ V).sum() + np.square(X2 - U2 @ V).sum())
    value += mu * (np.square(V - W1 @ X1).sum() + np.square(V - W2 @ X2).sum())
    value += alpha * np.square(L - C @ V).sum() + np.square(B - R @ V).sum()
    value += gamma * sum(np.square(M).sum() for M in (U1, U2, W1, W2, C, V))
    return B.T > 0, [(R @ W1).T, (R @ W2).T], value


@pytest.mark.parametrize("iterations", [1, 5])
def test_equals_the_updates_as_printed(iterations):
    views, Y = toy(70, multilabel=True)
    method = SCRATCH(n_bits=6, anchors=20, iterations=iterations, random_state=2).fit(views, Y)
    codes, projections, value = direct(views, Y.astype(float), 6, iterations, 2)
    assert np.array_equal(method.codes_, codes)
    for ours, theirs in zip(method.projections_, projections, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8)
    assert method.objective_[-1] == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_objective_never_rises(seed):
    views, Y = toy(70, multilabel=True)
    objective = np.array(SCRATCH(n_bits=12, anchors=30, random_state=seed).fit(views, Y).objective_)
    assert (np.diff(objective) <= 1e-9 * objective[0]).all()
