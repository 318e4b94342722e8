import numpy as np
import pytest

from hashbench.linalg.clustering import multiview_kmeans


def blobs(rng, centres, n=90, noise=0.1):
    truth = rng.integers(len(centres), size=n)
    return truth, centres[truth] + noise * rng.standard_normal((n, centres.shape[1]))


def same_partition(a, b):
    pairs = set(zip(a.tolist(), b.tolist(), strict=True))
    return len(pairs) == len(set(a.tolist())) == len(set(b.tolist()))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_views_that_each_see_half_are_put_together(dtype):
    rng = np.random.default_rng(0)
    truth, X = blobs(rng, np.array([[0.0, 0], [4, 0], [0, 4]]))
    views = [X[:, :1].astype(dtype), X[:, 1:].astype(dtype)]
    found = [multiview_kmeans(views, 3, np.random.default_rng(seed)) for seed in range(10)]
    # k-means may stick in a local optimum; from most starts it does not.
    assert sum(same_partition(truth, assigned) for assigned in found) >= 6


def test_an_outlier_does_not_move_a_centroid():
    rng = np.random.default_rng(1)
    truth, X = blobs(rng, np.array([[0.0], [3.0]]))
    X[0] = 40.0
    found = [multiview_kmeans([X, X], 2, np.random.default_rng(seed)) for seed in range(10)]
    assert sum(same_partition(truth[1:], assigned[1:]) for assigned in found) >= 6


def test_equal_rows_and_more_clusters_than_rows():
    rng = np.random.default_rng(0)
    assert len(set(multiview_kmeans([np.ones((20, 3))] * 2, 4, rng))) == 1
    assert multiview_kmeans([np.arange(6.0).reshape(2, 3)] * 2, 5, rng).shape == (2,)
