import numpy as np
import pytest

from hashbench.base import shelf
from hashbench.linalg import RBF, gram
from hashbench.linalg.kernels import anchor_maps, training_features


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


@pytest.mark.parametrize("centred", [False, True])
def test_features_and_their_products_are_shared(tmp_path, monkeypatch, centred):
    monkeypatch.setattr(shelf, "WORTH", 0.0)
    X = np.random.default_rng(0).standard_normal((40, 3)).astype(np.float32)
    X.flags.writeable = False
    plain = RBF(X[:7], centred=centred)
    cold = plain.fit_transform(X), gram(plain.fit_transform(X))
    maps = []
    for found in (0, 2):  # the features and their Gram matrix
        with shelf.opened(tmp_path / "statistics", [X]):
            assert len(list(tmp_path.rglob("*.json"))) == found
            maps.append(RBF(X[:7], centred=centred))
            K = training_features(maps[-1], X)
            assert K.tobytes() == cold[0].tobytes()
            assert gram(K).tobytes() == cold[1].tobytes()
            with pytest.raises(ValueError, match="read-only"):
                K[0] = 0
    assert len(list(tmp_path.rglob("*.json"))) == 2
    for phi in maps:
        assert phi.width == plain.width
        assert phi.transform(X[:5]).tobytes() == plain.transform(X[:5]).tobytes()


def test_other_anchors_and_widths_are_other_features(tmp_path, monkeypatch):
    monkeypatch.setattr(shelf, "WORTH", 0.0)
    X = np.random.default_rng(0).standard_normal((40, 3))
    with shelf.opened(tmp_path / "statistics", [X]):
        maps = [RBF(X[:7]), RBF(X[:8]), RBF(X[:7], 2.0), RBF(X[:7], 3.0), RBF(X[:7], centred=False)]
        maps.append(RBF(X[:7], mean=X.mean(axis=0)))
        grams = [gram(training_features(phi, X)) for phi in maps]
    assert len(list(tmp_path.rglob("*.json"))) == 2 * len(maps)
    assert len({each.tobytes() for each in grams[:5]}) == 5
