import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.methods.fddh import FDDH


def orthonormal(A):
    left, _, right = np.linalg.svd(A, full_matrices=False)
    return left @ right


@pytest.mark.parametrize("iterations", [1, 3])
def test_equals_the_updates_as_printed(iterations):
    views, Y = toy(70, multilabel=True)
    mu, gamma = 0.05, 2.0
    method = FDDH(
        n_bits=4, mu=mu, gamma=gamma, anchors=20, iterations=iterations, tolerance=0, random_state=3
    ).fit(views, Y)

    # Items as columns from here on. With a bit a class, no step leaves a direction open.
    rng = np.random.default_rng(3)
    rows = np.sort(rng.choice(70, 20, replace=False))
    kernels = []
    for X in views:
        D = np.square(X[:, None] - X[None]).sum(axis=2)
        kernels.append(np.exp(-D[rows] / D.mean()))
    B = np.where(rng.standard_normal((70, 4)) >= 0, 1.0, -1.0).T
    present = Y.T > 0
    T = Y.T.astype(float)
    pulled = B @ T.T
    for _ in range(iterations):
        C = orthonormal(pulled)
        R1, R2 = (orthonormal(K @ T.T @ C.T) for K in kernels)
        B = np.where(C @ T >= 0, 1.0, -1.0)
        T = C.T @ B + mu * C.T @ R1.T @ kernels[0] + mu * C.T @ R2.T @ kernels[1]
        T /= 1 + 2 * mu + gamma
        T = np.where(present, np.maximum(T, 1), np.minimum(T, 0))
        pulled = (B + mu * R1.T @ kernels[0] + mu * R2.T @ kernels[1]) @ T.T
    value = np.square(B - C @ T).sum() + gamma * np.square(T).sum()
    value += mu * np.square(kernels[0] - R1 @ C @ T).sum()
    value += mu * np.square(kernels[1] - R2 @ C @ T).sum()
    assert len(method.objective_) == iterations
    assert method.objective_[-1] == pytest.approx(value, rel=1e-9)
    assert np.array_equal(method.codes_, B.T > 0)
    for ours, K in zip(method.projections_, kernels, strict=True):
        theirs = np.linalg.solve(K @ K.T + 1e-4 * np.eye(20), K @ B.T)
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_objective_never_rises_with_a_bit_for_every_class(seed):
    views, Y = toy(70, multilabel=True)
    method = FDDH(n_bits=9, mu=0.1, gamma=1, anchors=20, tolerance=0, random_state=seed)
    objective = np.array(method.fit(views, Y).objective_)
    assert (np.diff(objective) <= 1e-9 * objective[0]).all()


def test_one_code_a_class_at_the_default_weights():
    views, Y = toy(70)
    codes = FDDH(n_bits=16, random_state=0).fit(views, Y).codes_
    assert len(np.unique(codes, axis=0)) == 4


def test_fewer_bits_than_classes_warn():
    views, Y = toy(70)
    with pytest.warns(UserWarning, match="3 bits cannot hold 4 orthogonal class codes"):
        FDDH(n_bits=3, random_state=0).fit(views, Y)
