import numpy as np
import pytest
import scipy

from hashbench.checks.methods import toy
from hashbench.linalg.graph import neighbour_graph
from hashbench.linalg.sylvester import Laplacian, sylvester


def problem(multilabel=False, seed=0):
    views, labels = toy(n=90, multilabel=multilabel)
    labels[:5] = 0  # rows without a label
    labels = np.hstack([labels, np.zeros((len(labels), 1))])  # a label without rows
    graphs = [neighbour_graph(X, 5) for X in views]
    graph = sum(G.maximum(G.T) for G in graphs)
    W = graph.toarray() + labels @ labels.T
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((6, 6))
    C = rng.standard_normal((90, 6))
    dense = np.diag(W.sum(axis=1)) - W
    return Laplacian(graph, labels), dense, root @ root.T + 0.1 * np.eye(6), C


@pytest.mark.parametrize("multilabel", [False, True])
def test_product_equals_the_dense_laplacian(multilabel):
    laplacian, dense, _, C = problem(multilabel)
    np.testing.assert_allclose(laplacian.product(C), dense @ C, atol=1e-10)
    assert np.abs(laplacian.product(np.ones((90, 1)))).max() < 1e-10


@pytest.mark.parametrize("multilabel", [False, True])
@pytest.mark.parametrize("weight", [0.0, 1.0, 1000.0])
def test_solution_equals_the_dense_one(multilabel, weight):
    laplacian, dense, A, C = problem(multilabel)
    S = sylvester(A, laplacian, weight, C)
    expected = scipy.linalg.solve_sylvester(weight * dense, A, C)
    np.testing.assert_allclose(S, expected, atol=1e-7 * np.abs(expected).max())


def test_a_solution_as_start_is_kept():
    laplacian, _, A, C = problem()
    S = sylvester(A, laplacian, 1.0, C)
    again = sylvester(A, laplacian, 1.0, C, start=S, tolerance=1e-8, iterations=0)
    np.testing.assert_allclose(again, S, atol=1e-12)
    closer = sylvester(A, laplacian, 1.0, C, start=S)
    np.testing.assert_allclose(closer, S, atol=1e-8)


def test_nothing_on_the_right_gives_nothing():
    laplacian, _, A, C = problem()
    C[:, 0] = 0
    assert not sylvester(A, laplacian, 1.0, np.zeros_like(C)).any()
    assert np.isfinite(sylvester(np.eye(6), laplacian, 1.0, C)).all()
