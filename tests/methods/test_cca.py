import warnings

import numpy as np
import pytest
import scipy

from hashbench import DeclinedError, HashbenchError
from hashbench.checks.methods import toy
from hashbench.methods.cca import CCA
from hashbench.methods.cvh import CVH


def test_codes_are_the_signs_of_the_textbook_directions():
    views, _ = toy(n=200, dims=(9, 6))
    X, Y = (view - view.mean(axis=0) for view in views)
    Cxx, Cyy = X.T @ X + 1e-4 * np.eye(9), Y.T @ Y + 1e-4 * np.eye(6)
    Cxy = X.T @ Y
    values, vectors = scipy.linalg.eigh(Cxy @ np.linalg.solve(Cyy, Cxy.T), Cxx)
    a = vectors[:, ::-1][:, :4]
    b = np.linalg.solve(Cyy, Cxy.T @ a) / np.sqrt(values[::-1][:4])
    method = CCA(n_bits=4).fit(views)
    ours = [method.encode(view, m) for m, view in enumerate(views)]
    theirs = [X @ a >= 0, Y @ b >= 0]
    for bit in range(4):  # a pair of directions may be flipped, but only together
        flips = {
            np.mean(mine[:, bit] != its[:, bit]) for mine, its in zip(ours, theirs, strict=True)
        }
        assert flips in ({0.0}, {1.0})


def test_bits_beyond_the_rank_are_constant_and_said_to_be():
    views, _ = toy(dims=(12, 5))
    with pytest.warns(UserWarning, match="5 correlated directions; 3 of 8 bits are constant"):
        method = CCA(n_bits=8).fit(views)
    for m, X in enumerate(views):
        codes = method.encode(X, m)
        assert (codes[:, 5:] == codes[0, 5:]).all()
        assert codes[:, :5].any(axis=0).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shorter = CCA(n_bits=5).fit(views)
    np.testing.assert_array_equal(shorter.encode(views[0], 0), method.encode(views[0], 0)[:, :5])


@pytest.mark.parametrize("variant", ["textbook", "released"])
def test_noise_bits_replace_the_constant_ones_alone(variant):
    views, _ = toy(n=300, dims=(12, 5))
    with pytest.warns(UserWarning, match="5 correlated directions; 59 of 64 bits are noise"):
        method = CVH(n_bits=64, variant=variant, noise_bits=True, random_state=0).fit(views)
    shorter = CVH(n_bits=5, variant=variant).fit(views)
    codes = [method.encode(X, m) for m, X in enumerate(views)]
    for m, X in enumerate(views):
        np.testing.assert_array_equal(codes[m][:, :5], shorter.encode(X, m))
        assert codes[m][:, 5:].any(axis=0).all()
        assert not codes[m][:, 5:].all(axis=0).any()
    # Drawn apart: the views agree on them by chance alone, up to the 59 draws.
    assert abs((codes[0][:, 5:] == codes[1][:, 5:]).mean() - 0.5) < 0.1


def test_cvh_is_cca_for_two_views_and_for_three():
    for dims in ((9, 6), (9, 6, 5)):
        views, _ = toy(n=100, dims=dims)
        one, other = CCA(n_bits=4).fit(views), CVH(n_bits=4).fit(views)
        for m, X in enumerate(views):
            np.testing.assert_array_equal(one.encode(X, m), other.encode(X, m))


def test_cvh_minimises_the_distances_between_the_views():
    views, _ = toy(n=100, dims=(9, 6, 5))
    method = CVH(n_bits=4).fit(views)

    def distance(A):
        V = [(X - X.mean(axis=0)) @ a for X, a in zip(views, A, strict=True)]
        gram = sum(v.T @ v for v in V)
        # Whatever A: bits made uncorrelated and of one length, as the constraint asks.
        root = np.linalg.inv(np.linalg.cholesky(gram)).T
        V = [v @ root for v in V]
        return sum(np.square(V[i] - V[j]).sum() for i in range(3) for j in range(i))

    best = distance(method.projections_)
    rng = np.random.default_rng(0)
    for step in (1e-4, 1e-2, 1.0):
        moved = [
            a + step * np.abs(a).max() * rng.standard_normal(a.shape) for a in method.projections_
        ]
        assert distance(moved) > best


def test_released_cvh_leaves_the_inverse_out():
    views, _ = toy(n=200, dims=(9, 6))
    X, Y = views
    Cxx, Cyy = X.T @ X + 1e-4 * np.eye(9), Y.T @ Y + 1e-4 * np.eye(6)
    Cxy = X.T @ Y
    a = scipy.linalg.eigh(Cxy @ Cyy @ Cxy.T, Cxx)[1][:, ::-1][:, :4]
    b = np.linalg.solve(Cyy, Cxy.T @ a)
    method = CVH(n_bits=4, variant="released").fit(views)
    for ours, theirs in zip(method.projections_, (a, b), strict=True):
        flips = np.sign((ours * theirs).sum(axis=0))
        np.testing.assert_allclose(ours, theirs * flips, rtol=1e-5, atol=1e-8)


def test_cvh_says_what_it_does_not_take():
    views, _ = toy(dims=(9, 6, 5))
    with pytest.raises(DeclinedError, match="two views"):
        CVH(variant="released").fit(views)
    with pytest.raises(HashbenchError, match="found variant 'bmc'; allowed: textbook, released"):
        CVH(variant="bmc").fit(views)
