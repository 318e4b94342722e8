import numpy as np
import pytest

from hashbench.base.errors import HashbenchError
from hashbench.checks.methods import toy
from hashbench.linalg import unit_rows
from hashbench.methods import seph
from hashbench.methods.seph import SePH


def direct_affinities(Y, labels):
    """P, Q and n, as whole matrices."""
    G = unit_rows(labels.astype(np.float64))
    P, N = G @ G.T, 1 / (1 + np.square(Y[:, None] - Y[None]).sum(axis=2) / 4)
    for matrix in (P, N):
        np.fill_diagonal(matrix, 0)
    return P / P.sum(), N / N.sum(), N


def direct_value(Y, labels):
    """KL(P || Q) without the entropy of P."""
    P, Q, _ = direct_affinities(Y, labels)
    return -np.sum(P[P > 0] * np.log(Q[P > 0]))


@pytest.mark.parametrize("multilabel", [False, True])
@pytest.mark.parametrize("tile", [7, 16, 1000])
def test_tiles_sum_to_the_gradient_and_the_divergence(monkeypatch, multilabel, tile):
    _, labels = toy(n=50, multilabel=multilabel)
    labels[:3] = 0
    labels = labels[np.lexsort(labels.T)]
    Y = np.random.default_rng(0).standard_normal((50, 6))
    monkeypatch.setattr(seph, "TILE", tile)
    gradient, value = seph._divergence(Y, unit_rows(labels.astype(np.float32)))
    P, Q, N = direct_affinities(Y, labels)
    expected = np.einsum("ij,ijk->ik", (P - Q) * N, Y[:, None] - Y[None])
    np.testing.assert_allclose(gradient, expected, atol=1e-5 * np.abs(expected).max())
    assert value == pytest.approx(direct_value(Y, labels), rel=1e-6)


def test_gradient_is_the_slope_of_the_divergence():
    _, labels = toy(n=20, multilabel=True)
    rng = np.random.default_rng(1)
    Y, direction = rng.standard_normal((2, 20, 5))
    gradient, _ = seph._divergence(Y, unit_rows(labels.astype(np.float32)))
    ahead, behind = (direct_value(Y + t * direction, labels) for t in (1e-4, -1e-4))
    assert np.sum(gradient * direction) == pytest.approx((ahead - behind) / 2e-4, rel=1e-4)


def test_tiles_without_a_common_label_are_not_attracted(monkeypatch):
    labels = np.repeat(np.eye(4, dtype=np.float32), 8, axis=0)
    added = []
    monkeypatch.setattr(seph, "TILE", 8)
    monkeypatch.setattr(seph, "_add", lambda *tile: added.append(tile))
    seph._divergence(np.zeros((32, 3)), labels)
    assert len(added) == 10 + 4  # all tiles repel; those of a class with itself attract


def test_the_iterate_of_the_smallest_cost_gives_the_codes():
    views, labels = toy()
    method = SePH(n_bits=6, iterations=40, random_state=3).fit(views, labels)
    # The same descent, with whole matrices.
    rng, order, n = np.random.default_rng(3), np.lexsort(labels.T), len(labels)
    Y = 1e-4 * rng.standard_normal((n, 6))
    change, gains, costs, iterates = np.zeros_like(Y), np.ones_like(Y), [], []
    a = 0.01 / (6 * n)
    for _ in range(40):
        P, Q, N = direct_affinities(Y, labels[order])
        divergence = direct_value(Y, labels[order])
        gradient = np.einsum("ij,ijk->ik", (P - Q) * N, Y[:, None] - Y[None])
        gradient += 2 * a * (np.abs(Y) - 1) * np.sign(Y)
        gains = np.where(np.sign(gradient) != np.sign(change), gains + 0.2, gains * 0.8)
        gains = np.maximum(gains, 0.01)
        change = 0.5 * change - 500 * gains * gradient
        Y = Y + change - (Y + change).mean(axis=0)
        costs.append(divergence + a * np.square(np.abs(Y) - 1).sum())
        iterates.append(Y)
    np.testing.assert_allclose(method.objective_, costs, rtol=1e-3)
    expected = iterates[int(np.argmin(costs))] >= 0
    assert (method.codes_[order] == expected).mean() > 0.99


def test_items_of_a_class_share_a_code():
    views, labels = toy(n=120)
    codes = SePH(n_bits=16, random_state=0).fit(views, labels).codes_
    classes = [np.unique(codes[labels[:, c] == 1], axis=0) for c in range(4)]
    assert [len(found) for found in classes] == [1, 1, 1, 1]
    assert len(np.unique(codes, axis=0)) == 4


@pytest.mark.parametrize("dims", [(12, 8), (12, 8, 5)])
def test_pairs_join_posteriors_by_the_prior(dims):
    views, labels = toy(n=80, dims=dims)
    method = SePH(n_bits=12, anchors=20, random_state=0).fit(views, labels)
    one, zero = 1.0, 1.0
    for m, X in enumerate(views):
        posterior = 1 / (1 + np.exp(-method.project(X, m)))
        one, zero = one * posterior, zero * (1 - posterior)
    prior = method.codes_.mean(axis=0)
    others = len(views) - 1
    assert np.array_equal(
        method.encode_pairs(views), one / prior**others >= zero / (1 - prior) ** others
    )


def test_a_constant_bit_has_no_prior_and_no_division_by_zero():
    views, labels = toy(n=1)
    method = SePH(n_bits=4, random_state=0).fit(views, labels)
    assert np.array_equal(method.prior_log_odds_, np.zeros(4))
    assert np.array_equal(method.encode_pairs(views), method.codes_)


@pytest.mark.parametrize("anchors", ["kmeans", "random"])
def test_kernel_points(anchors):
    views, labels = toy()
    method = SePH(n_bits=4, anchor_kind=anchors, anchors=20, random_state=0).fit(views, labels)
    rows = []
    for m, X in enumerate(views):
        points = method.maps_[m].anchors + X.mean(axis=0)
        D = np.square(X[:, None] - points[None]).sum(axis=2)
        if anchors == "random":
            rows.append(D.argmin(axis=0))
            assert D.min(axis=0).max() < 1e-20
        else:
            nearest = D.argmin(axis=1)
            means = [X[nearest == j].mean(axis=0) for j in range(20)]
            np.testing.assert_allclose(points, means, atol=1e-10)
    if anchors == "random":
        assert np.array_equal(*rows), "the views have different kernel points"


def test_regressions_may_be_left_unfinished():
    views, labels = toy(n=80)
    optimal, stopped, finished = (
        SePH(n_bits=4, anchors=20, regression_steps=steps, random_state=0).fit(views, labels)
        for steps in (None, 2, 2000)
    )
    np.testing.assert_array_equal(optimal.codes_, stopped.codes_)
    for m, X in enumerate(views):
        np.testing.assert_allclose(finished.project(X, m), optimal.project(X, m), atol=0.05)
        assert np.abs(stopped.project(X, m) - optimal.project(X, m)).max() > 0.5


def test_items_beyond_the_maximum_are_encoded_as_pairs():
    views, labels = toy(n=90)
    method = SePH(n_bits=8, max_rows=40, anchors=15, random_state=5).fit(views, labels)
    trained = np.sort(np.random.default_rng(5).choice(90, 40, replace=False))
    others = np.setdiff1d(np.arange(90), trained)
    assert np.array_equal(method.codes_[others], method.encode_pairs(views)[others])
    # The same random numbers, on the sample alone: the rest had no part in it.
    rng = np.random.default_rng(5)
    rng.choice(90, 40, replace=False)
    alone = SePH(n_bits=8, anchors=15, random_state=rng)
    alone.fit([X[trained] for X in views], labels[trained])
    assert np.array_equal(method.codes_[trained], alone.codes_)
    assert np.array_equal(method.encode(views[0], 0), alone.encode(views[0], 0))


def test_bad_input_is_named():
    views, labels = toy()
    with pytest.raises(HashbenchError, match="unknown anchor_kind of seph 'mean'; did you"):
        SePH(anchor_kind="mean").fit(views, labels)
    three, labels = toy(dims=(12, 8, 5))
    method = SePH(n_bits=4, iterations=2, random_state=0)
    with pytest.raises(HashbenchError, match="encode needs fit first"):
        method.encode_pairs(three)
    with pytest.raises(HashbenchError, match="views: found 2; fit saw 3"):
        method.fit(three, labels).encode_pairs(three[:2])
