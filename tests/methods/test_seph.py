import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from hashbench.checks.methods import toy
from hashbench.core.errors import HashbenchError
from hashbench.methods import seph
from hashbench.methods.seph import SePH
from tests.methods.restated.seph import affinity_loss, learn_codes


@pytest.mark.parametrize("multilabel", [False, True])
@pytest.mark.parametrize("tile", [7, 16, 1000])
def test_objective_and_codes_do_not_depend_on_the_tiles(monkeypatch, multilabel, tile):
    views, labels = toy(n=50, multilabel=multilabel)
    labels[:3] = 0
    monkeypatch.setattr(seph, "TILE", tile)
    method = SePH(n_bits=6, iterations=6, random_state=3).fit(views, labels)
    codes, costs = learn_codes(labels.astype(float), 6, np.random.default_rng(3), 6, alpha=0.01)
    np.testing.assert_allclose(method.objective_, costs, rtol=1e-5)
    np.testing.assert_array_equal(method.codes_, codes)


def test_the_iterate_with_the_smallest_cost_gives_the_codes():
    views, labels = toy(multilabel=True)
    settings = {"n_bits": 6, "step_length": 5000.0, "random_state": 3}
    method = SePH(iterations=40, **settings).fit(views, labels)
    best = int(np.argmin(method.objective_)) + 1
    assert best < 40, "the last iterate is the best one"
    stopped = SePH(iterations=best, **settings).fit(views, labels)
    np.testing.assert_array_equal(method.codes_, stopped.codes_)


def test_the_gradient_is_the_slope_of_the_objective():
    _, labels = toy(n=20, multilabel=True)
    Y, direction = np.random.default_rng(1).standard_normal((2, 20, 5))
    _, gradient = affinity_loss(Y, labels)
    ahead, behind = (affinity_loss(Y + t * direction, labels)[0] for t in (1e-4, -1e-4))
    assert np.sum(gradient * direction) == pytest.approx((ahead - behind) / 2e-4, rel=1e-6)


def test_items_of_a_class_share_a_code():
    views, labels = toy(n=120)
    codes = SePH(n_bits=16, random_state=0).fit(views, labels).codes_
    classes = [np.unique(codes[labels[:, c] == 1], axis=0) for c in range(4)]
    assert [len(found) for found in classes] == [1, 1, 1, 1]
    assert len(np.unique(codes, axis=0)) == 4


@pytest.mark.parametrize("dims", [(12, 8), (12, 8, 5)])
def test_codes_of_pairs_combine_the_posteriors_of_the_views(dims):
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


def test_the_log_odds_of_a_constant_bit_are_zero():
    views, labels = toy(n=1)
    method = SePH(n_bits=4, random_state=0).fit(views, labels)
    assert np.array_equal(method.prior_log_odds_, np.zeros(4))
    assert np.array_equal(method.encode_pairs(views), method.codes_)


@pytest.mark.parametrize("anchors", ["kmeans", "random"])
def test_kernel_points_are_centroids_or_the_same_rows_of_all_views(anchors):
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


def test_regressions_stop_after_the_given_steps():
    views, labels = toy(n=80)
    optimal, stopped, finished = (
        SePH(n_bits=4, anchors=20, regression_steps=steps, random_state=0).fit(views, labels)
        for steps in (None, 2, 2000)
    )
    np.testing.assert_array_equal(optimal.codes_, stopped.codes_)
    for m, X in enumerate(views):
        np.testing.assert_allclose(finished.project(X, m), optimal.project(X, m), atol=0.05)
        assert np.abs(stopped.project(X, m) - optimal.project(X, m)).max() > 0.5


def test_items_beyond_max_rows_are_encoded_as_pairs():
    views, labels = toy(n=90)
    method = SePH(n_bits=8, max_rows=40, anchors=15, random_state=5).fit(views, labels)
    trained = np.sort(np.random.default_rng(5).choice(90, 40, replace=False))
    others = np.setdiff1d(np.arange(90), trained)
    assert np.array_equal(method.codes_[others], method.encode_pairs(views)[others])
    # A fit on the sample alone, with the same random numbers, gives the same codes.
    rng = np.random.default_rng(5)
    rng.choice(90, 40, replace=False)
    alone = SePH(n_bits=8, anchors=15, random_state=rng)
    alone.fit([X[trained] for X in views], labels[trained])
    assert np.array_equal(method.codes_[trained], alone.codes_)
    assert np.array_equal(method.encode(views[0], 0), alone.encode(views[0], 0))


def test_an_unknown_kind_of_anchors_is_refused():
    views, labels = toy()
    with pytest.raises(HashbenchError, match="anchor_kind"):
        SePH(anchor_kind="mean").fit(views, labels)


def test_pairs_need_a_fitted_method_and_all_views():
    views, labels = toy(dims=(12, 8, 5))
    method = SePH(n_bits=4, iterations=2, random_state=0)
    with pytest.raises(NotFittedError):
        method.encode_pairs(views)
    with pytest.raises(HashbenchError, match="views"):
        method.fit(views, labels).encode_pairs(views[:2])
