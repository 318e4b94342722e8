import numpy as np
import pytest

from hashbench import DeclinedError
from hashbench.checks.methods import toy
from hashbench.methods.cmssh import CMSSH, _search
from tests.methods.restated.cmssh import draw_pairs


def first_bit(dims):
    """Return a fit of one bit, its views and its pairs."""
    views, Y = toy(100, dims=dims)
    method = CMSSH(n_bits=1, pairs=400, random_state=0).fit(views, Y)
    return method, views, draw_pairs(Y.astype(float), 200, np.random.default_rng(0))


@pytest.mark.parametrize("dims", [(7, 4), (30, 40), (1, 3)])
def test_directions_are_the_singular_vectors_of_the_weighted_covariance(dims):
    method, views, (i, j, s) = first_bit(dims)
    X, T = views[0][i], views[1][j]
    C = (X - X.mean(axis=0)).T @ (s[:, None] * (T - T.mean(axis=0)))
    p, q = (W[:, 0] for W in method.projections_)
    assert np.linalg.norm(p) == pytest.approx(1)
    assert np.linalg.norm(q) == pytest.approx(1)
    assert abs(p @ C @ q) == pytest.approx(np.linalg.svd(C, compute_uv=False)[0], rel=1e-3)


def test_no_other_threshold_agrees_better():
    method, views, (i, j, s) = first_bit((7, 4))
    u, v = (method.project(X, m)[:, 0] for m, X in enumerate(views))
    best = np.mean(s * side(u, 0)[i] * side(v, 0)[j])
    for cut in np.unique(u[i])[1:]:
        assert abs(np.mean(s * side(u, cut)[i] * side(v, 0)[j])) <= best + 1e-12
    for cut in np.unique(v[j])[1:]:
        assert abs(np.mean(s * side(u, 0)[i] * side(v, cut)[j])) <= best + 1e-12


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_threshold_separates_values_that_differ_by_rounding(dtype):
    u = np.array([1, 1, 2, 2], dtype)
    u[1] = np.nextafter(u[1], dtype(2))
    c = np.array([-3.0, 1, 1, 1])  # a threshold between the first two would agree best
    offset, value = _search(u, c)
    assert -offset == pytest.approx(1.5)
    assert value == pytest.approx(4)


def side(values, cut):
    return np.where(values >= cut, 1, -1)


@pytest.mark.parametrize("multilabel", [False, True])
def test_every_bit_lowers_the_exponential_loss(multilabel):
    views, Y = toy(100, multilabel=multilabel)
    method = CMSSH(n_bits=20, pairs=2000, random_state=0).fit(views, Y)
    assert (np.diff([1.0, *method.objective_]) < 0).all()
    # The loss follows from the codes of the pairs.
    i, j, s = draw_pairs(Y.astype(float), 1000, np.random.default_rng(0))
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
    with pytest.raises(DeclinedError, match="views"):
        CMSSH().fit(views, Y)


@pytest.mark.parametrize("n", [1, 40])
def test_one_class_has_no_pairs_that_differ(n):
    views, _ = toy(n)
    method = CMSSH(n_bits=4, random_state=0).fit(views, np.ones((n, 1)))
    # All pairs are alike: to agree on every one, all items need the same code, but a threshold
    # has to leave one item on its other side.
    first, second = (method.encode(X, m) for m, X in enumerate(views))
    assert (first == second[::-1]).mean() > 0.85


def test_items_without_a_class_are_similar_to_themselves_only():
    views, _ = toy(60, dims=(12, 12))
    views[1] = views[0] + 1
    method = CMSSH(n_bits=1, random_state=0).fit(views, np.zeros((60, 1)))
    first, second = (method.encode(X, m)[:, 0] for m, X in enumerate(views))
    agree = first[:, None] == second[None]
    assert np.diag(agree).mean() > 0.9
    assert agree[~np.eye(60, dtype=bool)].mean() < 0.55
