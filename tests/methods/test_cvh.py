import numpy as np
import pytest
import scipy

from hashbench import DeclinedError, HashbenchError
from hashbench.checks.methods import toy
from hashbench.methods.cca import CCA
from hashbench.methods.cvh import CVH


@pytest.mark.parametrize("variant", ["textbook", "released"])
def test_noise_bits_replace_only_the_constant_ones(variant):
    views, _ = toy(n=300, dims=(12, 5))
    with pytest.warns(UserWarning, match="noise"):
        method = CVH(n_bits=64, variant=variant, noise_bits=True, random_state=0).fit(views)
    shorter = CVH(n_bits=5, variant=variant).fit(views)
    codes = [method.encode(X, m) for m, X in enumerate(views)]
    for m, X in enumerate(views):
        np.testing.assert_array_equal(codes[m][:, :5], shorter.encode(X, m))
        assert codes[m][:, 5:].any(axis=0).all()
        assert not codes[m][:, 5:].all(axis=0).any()
    # The views draw them separately and agree on them by chance only, up to the 59 draws.
    assert abs((codes[0][:, 5:] == codes[1][:, 5:]).mean() - 0.5) < 0.1


def test_codes_are_those_of_cca_for_two_views_and_for_three():
    for dims in ((9, 6), (9, 6, 5)):
        views, _ = toy(n=100, dims=dims)
        one, other = CCA(n_bits=4).fit(views), CVH(n_bits=4).fit(views)
        for m, X in enumerate(views):
            np.testing.assert_array_equal(one.encode(X, m), other.encode(X, m))


def test_projections_minimise_the_distances_between_the_views():
    views, _ = toy(n=100, dims=(9, 6, 5))
    method = CVH(n_bits=4).fit(views)

    def distance(A):
        V = [(X - X.mean(axis=0)) @ a for X, a in zip(views, A, strict=True)]
        gram = sum(v.T @ v for v in V)
        # For any A the bits are made uncorrelated and of unit length: the constraint.
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


def test_released_variant_lacks_the_inverse():
    views, _ = toy(n=200, dims=(9, 6))
    X, Y = views
    Cxx, Cyy = X.T @ X + 1e-4 * np.eye(9), Y.T @ Y + 1e-4 * np.eye(6)
    Cxy = X.T @ Y
    a = scipy.linalg.eigh(Cxy @ Cyy @ Cxy.T, Cxx)[1][:, ::-1][:, :4]
    b = np.linalg.solve(Cyy, Cxy.T @ a)
    method = CVH(n_bits=4, ridge_covariance=0, ridge_scatter=1e-4, variant="released").fit(views)
    flips = np.sign((method.projections_[0] * a).sum(axis=0))  # a direction's sign is arbitrary
    for ours, theirs in zip(method.projections_, (a, b), strict=True):
        np.testing.assert_allclose(ours, theirs * flips, rtol=1e-5, atol=1e-8)


def test_wrong_variants_are_refused():
    views, _ = toy(dims=(9, 6, 5))
    with pytest.raises(DeclinedError, match="views"):
        CVH(variant="released").fit(views)
    with pytest.raises(HashbenchError, match="variant"):
        CVH(variant="bmc").fit(views)
