import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hashbench.linalg import discrete_descent, signs


def test_zero_counts_as_plus_one():
    assert signs(np.array([-0.5, 0.0, -0.0, 2.0])).tolist() == [-1, 1, 1, 1]


def _energy(B, Q, H):
    return np.trace(B @ H @ B.T) - 2 * np.trace(B @ Q.T)


@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(1, 20))
def test_descent_never_raises_the_energy(seed, k, n):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((3, k))
    H, Q = root.T @ root, rng.standard_normal((n, k))
    B = signs(rng.standard_normal((n, k)))
    kept = B.copy()
    energies = [_energy(discrete_descent(B, Q, H, sweeps), Q, H) for sweeps in range(5)]
    assert (np.diff(energies) <= 1e-9).all()
    assert np.array_equal(B, kept)


def test_descent_ends_where_no_single_bit_helps():
    rng = np.random.default_rng(0)
    root = rng.standard_normal((4, 5))
    H, Q = root.T @ root, rng.standard_normal((8, 5))
    B = discrete_descent(signs(Q), Q, H, sweeps=100)
    for i, j in itertools.product(range(8), range(5)):
        other = B.copy()
        other[i, j] *= -1
        assert _energy(B, Q, H) <= _energy(other, Q, H) + 1e-9
