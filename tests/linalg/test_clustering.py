import numpy as np
import pytest
from sklearn.cluster import KMeans

from hashbench.linalg import kmeans
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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kmeans_finds_what_scikit_learn_finds(dtype):
    rng = np.random.default_rng(2)
    X = (100 + rng.standard_normal((400, 6))).astype(dtype)
    rows = rng.choice(400, 40, replace=False)
    theirs = KMeans(40, init=X[rows], n_init=1, max_iter=100, tol=0).fit(X)
    found = kmeans(X, X[rows])
    assert found.dtype == dtype
    np.testing.assert_allclose(found, theirs.cluster_centers_, atol=1e-4)


def test_a_cluster_that_loses_its_rows_takes_the_farthest_one():
    # Both starts lie at 0: the first centroid gets all rows, the second one the outlier.
    X = np.array([[0.0], [0.0], [1.0], [9.0]])
    np.testing.assert_allclose(kmeans(X, X[:2]), [[1 / 3], [9]])


def test_kmeans_of_equal_rows_ends():
    assert np.array_equal(kmeans(np.ones((20, 3)), np.ones((4, 3))), np.ones((4, 3)))
