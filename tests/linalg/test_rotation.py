import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashbench.linalg import itq, procrustes, random_rotation, signs, stiefel


@given(st.integers(1, 12), st.integers(0, 1000))
def test_random_rotation_is_orthogonal(k, seed):
    R = random_rotation(k, np.random.default_rng(seed))
    np.testing.assert_allclose(R.T @ R, np.eye(k), atol=1e-12)


@given(st.integers(2, 8), st.integers(0, 1000))
def test_no_rotation_beats_procrustes(k, seed):
    rng = np.random.default_rng(seed)
    V, B = rng.standard_normal((30, k)), rng.standard_normal((30, k))
    best = np.square(B - V @ procrustes(V.T @ B)).sum()
    for _ in range(5):
        assert best <= np.square(B - V @ random_rotation(k, rng)).sum() + 1e-9


@given(st.integers(1, 7), st.integers(1, 7), st.integers(0, 7), st.integers(0, 1000))
def test_procrustes_of_any_rank_is_orthonormal_and_best(m, k, rank, seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, k))
    R = procrustes(A)
    np.testing.assert_allclose(R.T @ R if m >= k else R @ R.T, np.eye(min(m, k)), atol=1e-10)
    best = np.linalg.svd(A, compute_uv=False).sum()
    assert np.trace(R.T @ A) == pytest.approx(best, abs=1e-9 + 1e-7 * best)


@pytest.mark.parametrize("rank", [0, 1, 4, 6])
def test_where_a_matrix_leaves_a_choice_the_last_rotation_decides(rank):
    rng = np.random.default_rng(rank)
    A = rng.standard_normal((8, rank)) @ rng.standard_normal((rank, 8))
    last = random_rotation(8, rng)
    found = procrustes(A, last)
    # of all that are best none is nearer: with other bases of the null spaces there are many
    left, _, right = np.linalg.svd(A)
    for _ in range(50):
        turn = random_rotation(8 - rank, rng)
        other = left[:, :rank] @ right[:rank] + left[:, rank:] @ turn @ right[rank:]
        assert np.linalg.norm(found - last) <= np.linalg.norm(other - last) + 1e-9
    # and rounding does not move it
    noise = 1e-14 * np.abs(A).max(initial=0) * rng.standard_normal(A.shape)
    np.testing.assert_allclose(procrustes(A + noise, last), found, atol=1e-8)


def test_procrustes_where_the_identity_breaks_no_tie():
    A = np.zeros((2, 2))
    A[0, 1] = 1  # the free directions are (0, 1) and (1, 0): the identity says nothing of them
    R = procrustes(A)
    np.testing.assert_allclose(np.abs(R), [[0, 1], [1, 0]], atol=1e-12)
    assert np.array_equal(R, procrustes(A))


@pytest.mark.parametrize("rank", [3, 1])
def test_rounding_does_not_move_what_stiefel_fills_in(rank):
    rng = np.random.default_rng(rank)
    Z = rng.standard_normal((40, rank)) @ rng.standard_normal((rank, 6))
    noise = 1e-15 * rng.standard_normal(Z.shape)
    one, two = (stiefel(M, np.random.default_rng(1)) for M in (Z, Z + noise))
    np.testing.assert_allclose(one, two, atol=1e-9)


def test_itq_never_raises_its_loss():
    V = np.random.default_rng(0).standard_normal((200, 6))
    losses = []
    for iterations in range(12):
        R = itq(V, np.random.default_rng(1), iterations)
        losses.append(np.square(signs(V @ R) - V @ R).sum())
    assert (np.diff(losses) <= 1e-9).all()
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("rank", [6, 4, 1, 0])
def test_stiefel_meets_its_constraints_whatever_the_rank(rank):
    rng = np.random.default_rng(rank)
    n, k = 50, 6
    Z = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, k)) + 2
    V = stiefel(Z, rng)
    np.testing.assert_allclose(V.T @ V, n * np.eye(k), atol=1e-8)
    np.testing.assert_allclose(V.sum(axis=0), 0, atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-2, 1e4, 1e9])
def test_stiefel_meets_its_constraints_whatever_the_scale(scale, dtype):
    rng = np.random.default_rng(0)
    n, k = 500, 64
    Z = scale * rng.standard_normal((n, 10)) @ rng.standard_normal((10, k)) + scale
    V = stiefel(Z.astype(dtype), rng)
    np.testing.assert_allclose(V.T @ V / n, np.eye(k), atol=1e-5)
    np.testing.assert_allclose(V.mean(axis=0), 0, atol=1e-5)


@pytest.mark.parametrize("weak", [1e-3, 1e-5, 1e-6])
def test_stiefel_keeps_weak_directions_orthogonal(weak):
    rng = np.random.default_rng(0)
    n, k = 60, 5
    Z = 1e4 * rng.standard_normal((n, k)) * [1, 1, 1, 1, weak] @ random_rotation(k, rng)
    V = stiefel(Z, rng)
    np.testing.assert_allclose(V.T @ V / n, np.eye(k), atol=1e-12)
    optimum = np.sqrt(n) * np.linalg.svd(Z - Z.mean(axis=0), compute_uv=False).sum()
    assert np.trace(Z.T @ V) == pytest.approx(optimum, rel=1e-9)


def test_stiefel_is_the_maximiser():
    rng = np.random.default_rng(5)
    Z = rng.standard_normal((40, 3))
    best = np.trace(Z.T @ stiefel(Z, rng))
    for _ in range(20):
        other = stiefel(rng.standard_normal((40, 3)), rng)
        assert np.trace(Z.T @ other) <= best + 1e-9


def test_stiefel_survives_fewer_rows_than_columns():
    V = stiefel(np.random.default_rng(0).standard_normal((4, 9)), np.random.default_rng(1))
    assert np.isfinite(V).all()
