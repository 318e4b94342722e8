import numpy as np
import pytest

from hashbench.linalg import (
    RBF,
    anchor_maps,
    mean_squared_distance,
    squared_distances,
    unit_rows,
)


def test_unit_rows_leaves_zero_rows_alone():
    X = np.array([[3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(unit_rows(X), [[0.6, 0.8], [0, 0]])


def test_mean_squared_distance_needs_no_pairs():
    X = np.random.default_rng(0).standard_normal((40, 3)) + 7
    assert mean_squared_distance(X) == pytest.approx(squared_distances(X, X).mean())


def test_rbf_is_the_formula_it_says():
    rng = np.random.default_rng(0)
    X, new = rng.standard_normal((30, 4)) + 2, rng.standard_normal((5, 4))
    anchors = X[:6]
    D = np.square(X[:, None] - anchors[None]).sum(axis=2)
    K = np.exp(-D / (2 * D.mean()))
    feature_map = RBF(anchors, mean=X.mean(axis=0))
    np.testing.assert_allclose(feature_map.fit_transform(X), K - K.mean(axis=0), atol=1e-12)
    fresh = np.exp(-np.square(new[:, None] - anchors[None]).sum(axis=2) / (2 * D.mean()))
    np.testing.assert_allclose(feature_map.transform(new), fresh - K.mean(axis=0), atol=1e-12)
    plain = RBF(anchors, width=3.0, centred=False)
    np.testing.assert_allclose(plain.fit_transform(X), np.exp(-D / 3), atol=1e-12)


def test_anchor_maps_equal_the_formula():
    rng = np.random.default_rng(0)
    views = [rng.standard_normal((40, 3)) + 5, rng.standard_normal((40, 6))]
    maps, features = anchor_maps(views, [7, 100], rng)
    assert [K.shape for K in features] == [(40, 7), (40, 40)]
    for X, phi, K in zip(views, maps, features, strict=True):
        A = phi.anchors
        assert all((a == X).all(axis=1).any() for a in A)
        D = np.array([[np.square(x - a).sum() for a in A] for x in X])
        direct = np.exp(-D / (2 * D.mean()))
        np.testing.assert_allclose(K, direct - direct.mean(axis=0), atol=1e-9)
        np.testing.assert_allclose(phi.transform(X), K, atol=1e-9)
