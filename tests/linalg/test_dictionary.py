import numpy as np
import pytest

from hashbench.linalg.dictionary import bounded_basis


def problem(n=300, k=12, p=7, seed=0, scale=1.0, sparse=True):
    rng = np.random.default_rng(seed)
    S = rng.standard_normal((n, k))
    if sparse:
        S *= rng.random((n, k)) < 0.2
    atoms = rng.standard_normal((k, p)) * rng.uniform(0.1, 2, size=(k, 1)) * scale
    return S, S @ atoms + 0.1 * rng.standard_normal((n, p)), rng.standard_normal((k, p))


def assert_optimal(S, Z, B, atol):
    """The conditions of Karush, Kuhn and Tucker: enough, because the problem is convex."""
    lengths = np.linalg.norm(B, axis=1)
    assert (lengths <= 1 + 1e-12).all()
    gradient = S.T @ (S @ B - Z)
    multipliers = -np.vecdot(gradient, B)  # of rows on the bound
    inside = lengths < 1 - 1e-6
    np.testing.assert_allclose(gradient[inside], 0, atol=atol)
    assert (multipliers[~inside] >= -atol).all()
    residual = gradient + multipliers[:, None] * B
    np.testing.assert_allclose(residual[~inside], 0, atol=atol)
    return inside


@pytest.mark.parametrize("sparse", [True, False])
def test_solution_is_optimal(sparse):
    S, Z, start = problem(sparse=sparse)
    B = bounded_basis(S.T @ Z, S.T @ S, start, tolerance=1e-12, steps=100000)
    inside = assert_optimal(S, Z, B, atol=1e-6)
    assert inside.any()
    assert not inside.all()


@pytest.mark.parametrize("seed", range(3))
def test_the_default_tolerance_is_nearly_optimal(seed):
    S, Z, start = problem(k=40, seed=seed)
    best = bounded_basis(S.T @ Z, S.T @ S, start, tolerance=1e-12, steps=100000)
    usual = bounded_basis(S.T @ Z, S.T @ S, start)
    lowest = np.square(Z - S @ best).sum()
    assert np.square(Z - S @ usual).sum() <= lowest * 1.001
    again = bounded_basis(S.T @ Z, S.T @ S, best, steps=1)
    np.testing.assert_allclose(again, best, atol=1e-8)


def test_bounds_that_do_not_bind_leave_least_squares():
    S, Z, start = problem(scale=0.1)
    B = bounded_basis(S.T @ Z, S.T @ S, start, tolerance=1e-13, steps=100000)
    np.testing.assert_allclose(B, np.linalg.lstsq(S, Z, rcond=None)[0], atol=1e-8)


def test_unused_atoms_are_zero_and_repeated_ones_do_no_harm():
    S, Z, start = problem()
    S[:, 3], S[:, 5] = 0, S[:, 4]
    B = bounded_basis(S.T @ Z, S.T @ S, start, tolerance=1e-12, steps=100000)
    assert not B[3].any()
    assert_optimal(S, Z, B, atol=1e-6)


def test_fewer_rows_than_atoms():
    S, Z, start = problem(n=5, k=40)
    B = bounded_basis(S.T @ Z, S.T @ S, start, tolerance=1e-10, steps=100000)
    assert_optimal(S, Z, B, atol=1e-5)
