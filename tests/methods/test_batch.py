import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.linalg.kernels import anchor_maps
from hashbench.methods.batch import BATCH


def direct(views, Y, k, iterations, seed):
    """The updates with the n x n label similarity formed."""
    rng = np.random.default_rng(seed)
    n = len(Y)
    _, (K1, K2) = anchor_maps(views, [20, 30], rng)
    G = Y / np.linalg.norm(Y, axis=1, keepdims=True)
    similarity = k * G @ G.T
    B = np.where(rng.standard_normal((n, k)) >= 0, 1.0, -1.0)
    V = rng.standard_normal((n, k))
    weights = (0.05, 0.05, 0.9)
    for _ in range(iterations):
        inverse = np.linalg.inv(V.T @ V + 1e-3 * np.eye(k))
        U = [inverse @ V.T @ M for M in (K1, K2, Y)]
        Z = similarity @ B + 0.01 * B
        Z += sum(w * M @ u.T for w, M, u in zip(weights, (K1, K2, Y), U, strict=True))
        left, _, right = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)
        V = np.sqrt(n) * left @ right
        B = np.where(similarity @ V + 0.01 * V >= 0, 1.0, -1.0)
    value = np.square(similarity - V @ B.T).sum() + 0.01 * np.square(B - V).sum()
    for w, M, u in zip(weights, (K1, K2, Y), U, strict=True):
        value += w * (np.square(M - V @ u).sum() + 1e-3 * np.square(u).sum())
    W = [np.linalg.solve(K.T @ K + 0.01 * np.eye(K.shape[1]), K.T @ B) for K in (K1, K2)]
    return B > 0, W, value


@pytest.mark.parametrize("iterations", [1, 4])
def test_equals_the_updates_with_the_similarity_formed(iterations):
    views, Y = toy(70, multilabel=True)
    method = BATCH(
        n_bits=4, anchors=20, anchors_others=30, iterations=iterations, random_state=1
    ).fit(views, Y)
    codes, W, value = direct(views, Y.astype(float), 4, iterations, 1)
    assert np.array_equal(method.codes_, codes)
    for ours, theirs in zip(method.projections_, W, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8)
    assert method.objective_[-1] == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("n_bits", [3, 20])  # below and above the rank of the V-step
def test_objective_never_rises(n_bits):
    views, Y = toy(70, multilabel=True)
    method = BATCH(n_bits=n_bits, anchors=20, anchors_others=30, random_state=0)
    objective = np.array(method.fit(views, Y).objective_)
    assert (np.diff(objective) <= 1e-9 * objective[0]).all()
    assert objective[-1] < objective[0]
