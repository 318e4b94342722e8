import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hashbench.linalg import graph
from hashbench.linalg.graph import nearest_rows, neighbour_graph


def direct(X, count):
    D = np.square(X[:, None] - X[None]).sum(axis=2)
    np.fill_diagonal(D, np.inf)
    nearest = np.argsort(D, axis=1, kind="stable")[:, : min(count, len(X) - 1)]
    return np.sort(nearest, axis=1)


# Small whole numbers: distances are exact, and ties and duplicates abound.
@given(
    X=st.integers(2, 60).flatmap(lambda n: arrays(np.float32, (n, 2), elements=st.integers(-2, 2))),
    count=st.integers(1, 6),
)
def test_nearest_rows_equal_a_stable_sort_of_all_distances(X, count):
    assert np.array_equal(nearest_rows(X, count), direct(X, count))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nearest_rows_block_by_block(monkeypatch, dtype):
    X = np.random.default_rng(0).standard_normal((150, 7)).astype(dtype) + 100
    monkeypatch.setattr(graph, "BLOCK_DISTANCES", 1000)

    assert np.array_equal(nearest_rows(X, 5), direct(X.astype(np.float64), 5))


def test_fewer_rows_than_neighbours():
    assert nearest_rows(np.zeros((1, 3)), 5).shape == (1, 0)
    assert np.array_equal(nearest_rows(np.zeros((3, 1)), 5), [[1, 2], [0, 2], [0, 1]])
    assert neighbour_graph(np.zeros((1, 3)), 5).nnz == 0


def test_graph_either_way_is_symmetric_and_binary():
    X = np.random.default_rng(1).standard_normal((60, 3))
    G = neighbour_graph(X, 4)
    assert np.array_equal(np.flatnonzero(G.toarray()[7]), nearest_rows(X, 4)[7])
    E = G.maximum(G.T).toarray()
    assert np.array_equal(E, np.maximum(G.toarray(), G.toarray().T))
    assert np.array_equal(E, E.T)
    assert set(np.unique(E)) == {0.0, 1.0}
