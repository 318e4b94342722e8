import numpy as np
import pytest

from hashbench.base.errors import HashbenchError
from hashbench.checks.methods import toy
from hashbench.plugins.registry import discover

CMFH = discover().get("methods", "cmfh").cls


def direct(views, k, version, iterations, seed, weight=0.4, mu=100.0, gamma=0.01):
    """The alternation with V held as an (n, k) matrix, as the papers print it."""
    X = [v - v.mean(axis=0) for v in views]
    weights = [weight] + [(1 - weight) / (len(X) - 1)] * (len(X) - 1)
    rng, eye = np.random.default_rng(seed), np.eye(k)
    V = rng.random((len(X[0]), k))
    P = [rng.random((x.shape[1], k)) for x in X]
    coupling = [mu * w if version == "v2" else mu for w in weights]
    for _ in range(iterations):
        U = [
            x.T @ V @ np.linalg.inv(V.T @ V + gamma / (w if version == "paper" else 1) * eye)
            for x, w in zip(X, weights, strict=True)
        ]
        system = (sum(coupling) + gamma) * eye
        right = 0
        for x, w, c, u, p in zip(X, weights, coupling, U, P, strict=True):
            system = system + w * u.T @ u
            right = right + x @ (w * u + c * p)
        V = right @ np.linalg.inv(system)
        ridge = {"v1": gamma, "paper": gamma / mu, "v2": gamma / mu}[version]
        factor = 1 / mu**2 if version == "v2" else 1
        P = [factor * np.linalg.inv(x.T @ x + ridge * np.eye(x.shape[1])) @ (x.T @ V) for x in X]
    objective = gamma * np.square(V).sum()
    for x, w, c, u, p in zip(X, weights, coupling, U, P, strict=True):
        objective += w * np.square(x - V @ u.T).sum() + c * np.square(V - x @ p).sum()
        objective += gamma * (np.square(u).sum() + np.square(p).sum())
    return V, P, objective


@pytest.mark.parametrize("version", ["v1", "paper", "v2"])
@pytest.mark.parametrize(("n", "dims"), [(60, (12, 8)), (30, (40, 9)), (60, (12, 8, 5))])
def test_iterations_without_the_rows_equal_those_with_them(version, n, dims):
    views, _ = toy(n=n, dims=dims)
    method = CMFH(n_bits=5, variant=version, lam=0.4, iterations=7, tolerance=-1e9)
    method.set_params(random_state=2).fit(views)
    V, P, objective = direct(views, 5, version, 7, seed=2)
    assert method.objective_[-1] == pytest.approx(objective, rel=1e-8)
    sure = np.abs(V) > 1e-7 * np.abs(V).max()
    assert sure.mean() > 0.99
    assert np.array_equal(method.codes_[sure], V[sure] > 0)
    for ours, theirs in zip(method.projections_, P, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-6 * np.abs(theirs).max())


@pytest.mark.parametrize("n_bits", [4, 16, 40])
def test_the_paper_version_never_rises(n_bits):
    for seed in range(3):
        views, _ = toy(n=150, seed=seed)
        method = CMFH(n_bits=n_bits, variant="paper", tolerance=-1e9, iterations=60)
        objective = np.array(method.set_params(random_state=seed).fit(views).objective_)
        assert len(objective) == 60
        assert (np.diff(objective) <= 1e-8 * objective[:-1]).all()


def test_seeds_differ_by_a_rotation_only():
    views, _ = toy(n=200, dims=(20, 15))
    X = views[0] - views[0].mean(axis=0)
    found = []
    for seed in range(2):
        method = CMFH(n_bits=6, variant="paper", iterations=3000, tolerance=1e-9)
        W = method.set_params(random_state=seed).fit(views).projections_[0]
        found.append((method.objective_[-1], X @ W @ W.T @ X.T))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-4)
    scale = np.abs(found[0][1]).max()
    np.testing.assert_allclose(found[0][1], found[1][1], atol=0.01 * scale)


def test_stops_by_the_sum_of_norms_and_v2_does_not():
    views, _ = toy()
    assert len(CMFH(n_bits=4, random_state=0).fit(views).objective_) < 500
    assert len(CMFH(n_bits=4, variant="v2", random_state=0).fit(views).objective_) == 25


def test_a_view_without_weight_does_no_harm():
    views, _ = toy()
    method = CMFH(n_bits=4, variant="paper", lam=1.0, random_state=0).fit(views)
    assert all(np.isfinite(W).all() for W in method.projections_)


def test_unknown_variant():
    with pytest.raises(HashbenchError, match="found variant 'v3'; allowed: v1, paper, v2"):
        CMFH(variant="v3").fit(toy()[0])
