import numpy as np
import pytest

from hashbench.linalg import cca, pca, scatter_whitening, whitening
from hashbench.linalg.cca import WIDE


def _views(n=300, seed=0):
    rng = np.random.default_rng(seed)
    common = rng.standard_normal((n, 3))
    X = common @ rng.standard_normal((3, 6)) + 0.5 * rng.standard_normal((n, 6))
    Y = common @ rng.standard_normal((3, 4)) + 0.5 * rng.standard_normal((n, 4))
    return X + 5, Y - 2


def test_agrees_with_the_generalised_eigenproblem():
    import scipy.linalg

    X, Y = _views()
    means = X.mean(axis=0), Y.mean(axis=0)
    A, B = X - means[0], Y - means[1]
    found = cca(X, Y, 4, ridge=1e-4, means=means)
    Cxx, Cyy, Cxy = A.T @ A + 1e-4 * np.eye(6), B.T @ B + 1e-4 * np.eye(4), A.T @ B
    values = scipy.linalg.eigh(Cxy @ np.linalg.solve(Cyy, Cxy.T), Cxx, eigvals_only=True)[::-1]
    np.testing.assert_allclose(found.correlations**2, values[:4], atol=1e-9)
    np.testing.assert_allclose(found.left.T @ Cxx @ found.left, np.eye(4), atol=1e-9)
    np.testing.assert_allclose(
        found.left.T @ Cxy @ found.right, np.diag(found.correlations), atol=1e-9
    )


def test_directions_beyond_the_rank_are_zero():
    X, Y = _views()
    Y[:, 3] = Y[:, 0]  # rank 3
    found = cca(X, Y, 8, means=(X.mean(axis=0), Y.mean(axis=0)))
    assert (found.left[:, 4:] == 0).all()
    assert (found.correlations[4:] == 0).all()
    assert (found.correlations[:3] > 0.1).all()


def test_whitening_of_a_singular_matrix_drops_its_null_space():
    X = np.random.default_rng(0).standard_normal((20, 3))
    C = np.hstack([X, X]).T @ np.hstack([X, X])
    M = whitening(C)
    assert M.shape == (6, 3)
    np.testing.assert_allclose(M.T @ C @ M, np.eye(3), atol=1e-9)


@pytest.mark.parametrize("rank", [WIDE, WIDE - 3])
def test_wide_views_are_whitened_by_triangles_up_to_a_rotation(rank):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, rank)) @ np.eye(rank, WIDE) + 1
    X[:, rank:] = X[:, : WIDE - rank]
    mean = X.mean(axis=0)
    C = (X - mean).T @ (X - mean)
    M = scatter_whitening(X, mean, 0.1)
    assert M.shape == (WIDE, rank)
    np.testing.assert_allclose(M.T @ (C + 0.1 * np.eye(WIDE)) @ M, np.eye(rank), atol=1e-9)
    assert (np.tril(M, -1) == 0).all() == (rank == WIDE)  # eigenvectors where rank is missing
    np.testing.assert_allclose(M @ M.T, whitening(C, ridge=0.1) @ whitening(C, ridge=0.1).T)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pca_finds_the_singular_vectors_and_zeroes_the_rest(dtype):
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((50, 2)) @ rng.standard_normal((2, 5)) + 1).astype(dtype)
    W = pca(X, 4, X.mean(axis=0))
    _, _, right = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(np.abs(np.diag(right[:2] @ W[:, :2])), 1, atol=1e-4)
    assert (W[:, 2:] == 0).all()
