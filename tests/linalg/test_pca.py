import numpy as np
import pytest

from hashbench.linalg import pca, principal, row_coordinates
from hashbench.linalg.cca import scatter_whitening


def rows(n, d, dtype=np.float64, seed=0):
    return (np.random.default_rng(seed).standard_normal((n, d)) + 2).astype(dtype)


@pytest.mark.parametrize("shape", [(40, 9), (9, 40)])
@pytest.mark.parametrize("centred", [False, True])
def test_principal_directions_are_the_eigenvectors_of_the_scatter(shape, centred):
    X = rows(*shape)
    mean = X.mean(axis=0) if centred else None
    Z = X - (mean if centred else 0)
    values, vectors = principal(X, mean)
    assert len(values) == 9 - (centred and shape[0] == 9)  # rows less their mean say one less
    np.testing.assert_allclose(values, np.linalg.eigvalsh(Z.T @ Z)[::-1][: len(values)])
    np.testing.assert_allclose(Z.T @ Z @ vectors, values * vectors, atol=1e-9 * values[0])
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(values)), atol=1e-9)
    largest = np.abs(vectors).argmax(axis=0)
    assert (vectors[largest, range(len(values))] > 0).all()


@pytest.mark.parametrize("shape", [(40, 9), (6, 40)])
def test_directions_beyond_the_rank_are_zero(shape):
    X = rows(*shape, np.float32)
    X[:, 3:] = X[:, :3] @ np.ones((3, shape[1] - 3), np.float32)
    found = pca(X, 7)
    assert found.shape == (shape[1], 7)
    np.testing.assert_allclose(found.T @ found, np.diag([1.0] * 3 + [0] * 4), atol=1e-5)
    assert not found[:, 3:].any()


@pytest.mark.parametrize("relative", [False, True])
def test_few_rows_are_whitened_in_the_space_they_span(relative):
    X = rows(12, 50)
    mean = X.mean(axis=0)
    C = (X - mean).T @ (X - mean)
    M = scatter_whitening(X, mean, 0.3, relative=relative)
    ridge = 0.3 * np.trace(C) / 50 if relative else 0.3
    assert M.shape == (50, 11)
    np.testing.assert_allclose(M.T @ (C + ridge * np.eye(50)) @ M, np.eye(11), atol=1e-9)


def test_equal_rows_have_one_zero_column():
    F, mean, E = row_coordinates(np.ones((5, 9)), np.ones(9))
    assert np.array_equal(F, np.zeros((5, 1)))
    assert np.array_equal(mean, [0])
    assert E.shape == (9, 1)


def test_many_rows_stay_as_they_are():
    X = rows(40, 9)
    F, mean, E = row_coordinates(X, X.mean(axis=0))
    assert F is X
    assert np.array_equal(mean, X.mean(axis=0))
    assert E is None


def test_few_rows_keep_their_products_in_fewer_columns():
    X = rows(9, 40)
    Z = X - X.mean(axis=0)
    F, mean, E = row_coordinates(X, X.mean(axis=0))
    assert F.shape == (9, 8)
    assert not mean.any()
    np.testing.assert_allclose(F @ F.T, Z @ Z.T, atol=1e-9)
    np.testing.assert_allclose(F @ E.T, Z, atol=1e-9)
