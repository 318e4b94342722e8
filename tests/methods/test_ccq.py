import numpy as np
import pytest

from hashbench import HashbenchError
from hashbench.checks.methods import toy
from hashbench.methods.ccq import CCQ
from tests.methods.restated.ccq import greedy, restate


def fitted(n=300, dims=(9, 6), **parameters):
    views, _ = toy(n=n, dims=dims)
    return CCQ(random_state=0, iterations=12, **parameters).fit(views), views


@pytest.mark.parametrize("n_bits", [8, 16])  # codebooks with fewer words than rows, and with more
def test_objective_and_vectors_follow_the_formulas(n_bits):
    views, Y = toy(n=300, dims=(20, 6))
    expected = []
    parameters = {"lam": 0.3, "iterations": 6}
    _, vectors = restate(views, Y, n_bits, 0, record=expected.append, **parameters)
    method = CCQ(n_bits=n_bits, random_state=0, **parameters).fit(views)
    np.testing.assert_allclose(method.objective_, expected, rtol=1e-6)
    for view, X in enumerate(views):
        for role in ("query", "database"):
            np.testing.assert_allclose(
                method.vectors(X, view, role), vectors(X, view, role), rtol=1e-4, atol=1e-5
            )


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


def test_more_iterations_lower_the_objective():
    method, _ = fitted(n_bits=16)
    assert method.objective_[-1] < method.objective_[0]


def test_the_fit_stops_by_the_first_value_of_the_objective():
    views, _ = toy(n=300, dims=(9, 6))
    first, *_, last = CCQ(n_bits=8, random_state=0, iterations=11).fit(views).objective_
    fallen = first - last
    # The fall is less than this fraction of the first value and more than that of the last.
    tolerance = (fallen / first + fallen / last) / 2
    assert tolerance * first > fallen > tolerance * last
    method = CCQ(n_bits=8, random_state=0, iterations=30, tolerance=tolerance).fit(views)
    assert len(method.objective_) == 11


def test_learned_vectors_come_from_all_views_together():
    method, views = fitted(n_bits=16)
    Z = sum(
        (X - X.mean(axis=0)) @ P for X, P in zip(views, method.projections_, strict=True)
    ) / len(views)
    V = greedy([Z], method.codebooks_, [1]) @ np.vstack(method.codebooks_)
    np.testing.assert_allclose(method.vectors_[:, :-1], V, atol=1e-5)


def test_a_ridge_of_zero_is_refused():
    with pytest.raises(HashbenchError, match="ridge"):
        fitted(ridge_scatter=0)
