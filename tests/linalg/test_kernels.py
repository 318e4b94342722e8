import numpy as np

from hashbench.linalg.kernels import anchor_maps


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
