import numpy as np
import pytest
import scipy

from hashbench.base.errors import DeclinedError
from hashbench.checks.methods import toy
from hashbench.methods.cmssh import CMSSH, _draw_pairs, _leading, _search, _thresholds


def weighted_pairs(rng, n, m, count):
    i, j = rng.integers(n, size=count), rng.integers(m, size=count)
    w = rng.random(count)
    return i, j, w / w.sum(), rng.choice([-1.0, 1.0], size=count)


@pytest.mark.parametrize(("dx", "dt"), [(7, 4), (30, 40), (1, 3)])
def test_directions_are_the_singular_vectors_of_the_weighted_covariance(dx, dt):
    rng = np.random.default_rng(0)
    X, T = rng.standard_normal((30, dx)) + 1, rng.standard_normal((25, dt)) - 2
    i, j, w, s = weighted_pairs(rng, 30, 25, 200)
    mx, mt = w @ X[i], w @ T[j]
    C = sum(ws * np.outer(X[a] - mx, T[b] - mt) for ws, a, b in zip(w * s, i, j, strict=True))
    Omega = scipy.sparse.csr_matrix((w * s, (i, j)), shape=(30, 25))
    p, q = _leading(X, T, Omega, [mx, mt], rng)
    assert np.linalg.norm(p) == pytest.approx(1)
    assert np.linalg.norm(q) == pytest.approx(1)
    assert p @ C @ q == pytest.approx(np.linalg.svd(C, compute_uv=False)[0], rel=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_search_beats_every_threshold(seed):
    rng = np.random.default_rng(seed)
    u, c = rng.standard_normal(40).round(1), rng.standard_normal(40)  # with ties
    a, value = _search(u, c)
    assert np.sum(c * np.where(u + a >= 0, 1, -1)) == pytest.approx(value)
    levels = np.unique(u)
    for cut in (levels[1:] + levels[:-1]) / 2:
        assert abs(np.sum(c * np.where(u - cut >= 0, 1, -1))) <= abs(value) + 1e-12


def test_agreement_is_that_of_the_pairs():
    rng = np.random.default_rng(0)
    i, j, w, s = weighted_pairs(rng, 30, 25, 200)
    u, v = rng.standard_normal(30), rng.standard_normal(25)
    Omega = scipy.sparse.csr_matrix((w * s, (i, j)), shape=(30, 25))
    a, b, r = _thresholds(u, v, Omega, 0.0, 0.0)
    direct = np.sum(w * s * np.where(u[i] + a >= 0, 1, -1) * np.where(v[j] + b >= 0, 1, -1))
    assert r == pytest.approx(direct)


def test_half_the_pairs_share_a_class():
    _, Y = toy(100, multilabel=True)
    Y = Y.astype(float)
    Y[:5] = 0
    i, j, s = _draw_pairs(Y, 2000, np.random.default_rng(0))
    alike = (np.sum(Y[i] * Y[j], axis=1) > 0) | (i == j)
    assert np.array_equal(alike, s > 0)
    assert 0.45 < (s > 0).mean() < 0.55
    assert len(np.unique(i)) == len(np.unique(j)) == 100


def test_every_bit_lowers_the_exponential_loss():
    views, Y = toy(100)
    method = CMSSH(n_bits=20, random_state=0).fit(views, Y)
    assert (np.diff([1.0, *method.objective_]) < 0).all()
    # The loss, from the codes of the pairs alone.
    rng = np.random.default_rng(0)
    i, j, s = _draw_pairs(Y.astype(float), method.pairs, rng)
    bits = [np.where(method.encode(X, m), 1, -1) for m, X in enumerate(views)]
    margins = s[:, None] * bits[0][i] * bits[1][j]
    w, loss = np.full(len(s), 1 / len(s)), 1.0
    for t in range(20):
        r = w @ margins[:, t]
        w = w * np.exp(-0.5 * np.log((1 + r) / (1 - r)) * margins[:, t])
        loss *= w.sum()
        w /= w.sum()
        assert method.objective_[t] == pytest.approx(loss)


def test_three_views_are_declined():
    views, Y = toy(40, dims=(5, 6, 7))
    with pytest.raises(DeclinedError, match="found 3 views"):
        CMSSH().fit(views, Y)


@pytest.mark.parametrize("n", [1, 40])
def test_one_class_has_no_pairs_that_differ(n):
    views, _ = toy(n)
    method = CMSSH(n_bits=4, random_state=0).fit(views, np.ones((n, 1)))
    # All pairs are alike: to agree on every one, all items need the same code, but for the one
    # that a threshold has to leave on its other side.
    first, second = (method.encode(X, m) for m, X in enumerate(views))
    assert (first == second[::-1]).mean() > 0.85
