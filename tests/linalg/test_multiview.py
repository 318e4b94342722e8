import numpy as np
import pytest
import scipy

from hashbench.checks.methods import toy
from hashbench.linalg import cca
from hashbench.linalg.cca import scatter_whitening
from hashbench.linalg.multiview import correlated_directions


def fitted(views, k, ridge=0.01):
    means = [X.mean(axis=0) for X in views]
    whiteners = [scatter_whitening(X, mean, ridge) for X, mean in zip(views, means, strict=True)]
    return correlated_directions(views, k, means, whiteners)


def direct(views, ridge):
    """The generalised eigenproblem of the stacked views, written out."""
    Z = np.hstack([X - X.mean(axis=0) for X in views])
    scatter = Z.T @ Z
    within = scipy.linalg.block_diag(
        *[(X - X.mean(axis=0)).T @ (X - X.mean(axis=0)) for X in views]
    )
    values, vectors = scipy.linalg.eigh(scatter - within, within + ridge * np.eye(len(within)))
    return values[::-1], vectors[:, ::-1]


def test_three_views_solve_the_stacked_eigenproblem():
    views, _ = toy(dims=(7, 5, 4))
    directions, correlations = fitted(views, 6)
    values, vectors = direct(views, 0.01)
    np.testing.assert_allclose(correlations, values[:6] / 2, atol=1e-9)
    ours, theirs = np.vstack(directions), vectors[:, :6] * np.sqrt(3)
    flips = np.sign((ours * theirs).sum(axis=0))
    np.testing.assert_allclose(ours, theirs * flips, atol=1e-7)


def test_two_views_are_cca_and_solve_the_same_eigenproblem():
    views, _ = toy(dims=(7, 5))
    directions, correlations = fitted(views, 4)
    found = cca(*views, 4, 0.01, tuple(X.mean(axis=0) for X in views))
    np.testing.assert_array_equal(directions[0], found.left)
    values, vectors = direct(views, 0.01)
    np.testing.assert_allclose(correlations, values[:4], atol=1e-9)
    cosines = np.einsum("ij,ij->j", np.vstack(directions), vectors[:, :4])
    lengths = np.linalg.norm(np.vstack(directions), axis=0) * np.linalg.norm(vectors[:, :4], axis=0)
    np.testing.assert_allclose(np.abs(cosines), lengths, rtol=1e-7)


@pytest.mark.parametrize("dims", [(7, 5), (7, 5, 4)])
@pytest.mark.parametrize("ridge", [0.0, 1e-4])
def test_a_direction_without_variance_is_no_direction(dims, ridge):
    views, _ = toy(dims=dims)
    # Rows that sum to one, as histograms do: a null direction that a ridge would lift.
    views[1] = np.abs(views[1]) / np.abs(views[1]).sum(axis=1, keepdims=True)
    directions, correlations = fitted(views, 40, ridge)
    rank = np.count_nonzero(correlations)
    assert rank <= sum(dims) - 1 if len(dims) == 3 else rank == 4
    for A in directions:
        assert (A[:, rank:] == 0).all()
        assert np.isfinite(A).all()


def test_views_without_any_variance_have_no_directions():
    for dims in ((3, 2), (3, 2, 2)):
        directions, correlations = fitted([np.ones((5, d)) for d in dims], 4, 0.0)
        assert not correlations.any()
        assert not any(A.any() for A in directions)


@pytest.mark.parametrize("dims", [(7, 5), (7, 5, 4)])
def test_whiteners_of_known_scatter_matrices_change_nothing(dims):
    views, _ = toy(dims=dims)
    means = [X.mean(axis=0) for X in views]
    scatters = [(X - mean).T @ (X - mean) for X, mean in zip(views, means, strict=True)]
    whiteners = [
        scatter_whitening(X, mean, 0.01, C)
        for X, mean, C in zip(views, means, scatters, strict=True)
    ]
    given, correlations = correlated_directions(views, 3, means, whiteners)
    found, others = fitted(views, 3)
    np.testing.assert_allclose(correlations, others, atol=1e-10)
    for one, other in zip(given, found, strict=True):
        np.testing.assert_allclose(np.abs(one), np.abs(other), atol=1e-8)
