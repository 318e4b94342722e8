import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hashbench.linalg import cca, eigen, pca, singular, turns, upright


@settings(deadline=None)  # the first call imports scipy.linalg
@given(st.integers(1, 9), st.integers(0, 1000))
def test_eigenvectors_are_those_of_the_matrix_strongest_first(d, seed):
    A = np.random.default_rng(seed).standard_normal((d, d))
    A = A + A.T
    values, vectors = eigen(A)
    np.testing.assert_allclose(vectors * values @ vectors.T, A, atol=1e-10)
    assert (np.diff(values) <= 0).all()
    few, leading = eigen(A, max(1, d - 1))
    np.testing.assert_allclose(few, values[: len(few)], atol=1e-10)
    assert leading.shape == (d, len(few))


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 1000))
def test_singular_vectors_are_those_of_the_matrix(m, k, seed):
    A = np.random.default_rng(seed).standard_normal((m, k))
    left, values, right = singular(A)
    np.testing.assert_allclose(left * values @ right, A, atol=1e-10)
    assert (turns(left) == 1).all()


def test_the_sign_a_library_gives_does_not_matter():
    V = np.random.default_rng(0).standard_normal((5, 4))
    np.testing.assert_array_equal(upright(V), upright(V * [1, -1, -1, 1]))
    # rounding does not choose between entries of one size
    for noise in (1e-12, -1e-12):
        np.testing.assert_array_equal(turns(np.array([[1.0], [-1 + noise]])), [1])
        np.testing.assert_array_equal(turns(np.array([[-1.0], [1 + noise]])), [-1])
    assert turns(np.zeros((0, 3))).tolist() == [1, 1, 1]


@pytest.mark.parametrize("find", [lambda X, Y: pca(X, 3), lambda X, Y: cca(X, Y, 3).left])
def test_directions_are_upright(find):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((50, 6))
    found = find(X, X[:, :4] + rng.standard_normal((50, 4)))
    assert (turns(found) == 1).all()
