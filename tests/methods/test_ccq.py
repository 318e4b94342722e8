import numpy as np
import pytest

from hashbench import HashbenchError
from hashbench.checks.methods import toy
from hashbench.methods.ccq import CCQ, _codebooks, _nearest_words, _objective


def fitted(n=300, dims=(9, 6), **parameters):
    views, _ = toy(n=n, dims=dims)
    return CCQ(random_state=0, iterations=12, **parameters).fit(views), views


@pytest.mark.parametrize("sizes", [[4, 4, 2], [64, 64]])  # over the words, over the rows
def test_codebooks_equal_the_least_squares_over_one_hot_codes(sizes):
    rng = np.random.default_rng(0)
    Z = [rng.standard_normal((40, 3)) for _ in range(2)]
    words = [np.column_stack([rng.integers(s, size=40) for s in sizes]) for _ in range(2)]
    weights = [1.0, 0.3]
    system, right = 1e-3 * np.eye(sum(sizes)), 0
    for z, chosen, weight in zip(Z, words, weights, strict=True):
        B = np.hstack([np.eye(s)[chosen[:, j]] for j, s in enumerate(sizes)])
        system, right = system + weight * B.T @ B, right + weight * B.T @ z
    found = _codebooks(Z, words, weights, sizes, 1e-3)
    assert [len(C) for C in found] == sizes
    np.testing.assert_allclose(np.vstack(found), np.linalg.solve(system, right), atol=1e-8)


def test_shared_words_are_nearest_to_both_views_at_once():
    rng = np.random.default_rng(0)
    Z = [rng.standard_normal((50, 3)) for _ in range(2)]
    books = [rng.standard_normal((8, 3)) for _ in range(2)]
    found = _nearest_words((Z[0] + 0.5 * Z[1]) / 1.5, books)
    rest = [z.copy() for z in Z]
    for j, C in enumerate(books):
        distances = [np.square(r[:, None] - C).sum(axis=2) for r in rest]
        direct = (distances[0] + 0.5 * distances[1]).argmin(axis=1)
        np.testing.assert_array_equal(found[:, j], direct)
        rest = [r - C[direct] for r in rest]


@pytest.mark.parametrize("n_bits", [1, 8, 12, 16])
def test_database_vectors_are_sums_of_words(n_bits):
    method, views = fitted(n_bits=n_bits)
    words = 1
    for C in method.codebooks_:
        words *= len(C)
    assert words == 2**n_bits
    assert method.item_bytes == n_bits / 8
    V = method.vectors(views[0], 0, "database")
    sums = method.codebooks_[0]
    for C in method.codebooks_[1:]:
        sums = (sums[:, None] + C).reshape(-1, C.shape[1])
    for v in V[:5]:
        assert np.abs(sums - v[:-1]).max(axis=1).min() < 1e-5
    np.testing.assert_allclose(V[:, -1], -np.square(V[:, :-1]).sum(axis=1), rtol=1e-5)


def test_scores_order_the_database_as_distances_do():
    method, views = fitted(n_bits=16)
    q = method.vectors(views[1][:7], 1, "query")
    database = method.vectors(views[0], 0, "database")
    X = views[1][:7] - views[1].mean(axis=0)
    direct = np.square((X @ method.projections_[1])[:, None] - database[:, :-1]).sum(axis=2)
    scores = q @ database.T
    np.testing.assert_allclose(scores - scores[:, :1], direct[:, :1] - direct, atol=1e-3)


def test_objective_without_a_pass_is_the_formula():
    rng = np.random.default_rng(0)
    X = [rng.standard_normal((30, d)) for d in (5, 4)]
    V = rng.standard_normal((30, 3))
    R = [np.linalg.qr(rng.standard_normal((x.shape[1], 3)))[0] for x in X]
    direct = np.square(X[0] - V @ R[0].T).sum() + 0.3 * np.square(X[1] - V @ R[1].T).sum()
    S = [x.T @ V for x in X]
    assert _objective([np.square(x).sum() for x in X], [1, 0.3], R, S, V) == pytest.approx(direct)


def test_more_iterations_lower_the_objective():
    method, _ = fitted(n_bits=16)
    assert method.objective_[-1] < method.objective_[0]


def test_learned_vectors_come_from_all_views_together():
    method, views = fitted(n_bits=16)
    Z = sum(
        (X - X.mean(axis=0)) @ P for X, P in zip(views, method.projections_, strict=True)
    ) / len(views)
    words = _nearest_words(Z, method.codebooks_)
    V = sum(C[words[:, j]] for j, C in enumerate(method.codebooks_))
    np.testing.assert_allclose(method.vectors_[:, :-1], V, atol=1e-5)


def test_no_ridge_is_refused():
    with pytest.raises(HashbenchError, match="found ridge 0; allowed: above 0"):
        fitted(ridge=0)
