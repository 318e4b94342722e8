import numpy as np
import pytest

import hashbench
from hashbench.checks.methods import toy
from hashbench.core.errors import HashbenchError
from hashbench.methods.lemon import LEMON
from research import fidelity
from tests.helpers.data import needs_data
from tests.methods.restated import lemon


def test_objective_equals_that_of_the_restatement():
    views, Y = toy(80, multilabel=True)
    parameters = {"alpha": 3.0, "beta": 2.0, "chunk_size": 25, "iterations": 3}
    method = LEMON(n_bits=3, random_state=2, **parameters).fit(views, Y)
    values = []
    codes, _ = lemon.restate(views, Y.astype(float), 3, 2, **parameters, record=values.append)
    assert np.array_equal(method.codes_, codes)
    np.testing.assert_allclose(method.objective_, values, rtol=1e-9)


def test_objective_falls_within_a_chunk():
    views, Y = toy(80, multilabel=True)
    # Under the default weights of 1e4 the rounding of other terms hides that of the rotation.
    method = LEMON(
        n_bits=12, alpha=10.0, beta=10.0, chunk_size=40, iterations=6, random_state=0
    ).fit(views, Y)
    for chunk in (method.objective_[:6], method.objective_[6:]):
        assert (np.diff(chunk) <= 1e-9 * chunk[0]).all()


def test_partial_fit_continues_where_fit_ended():
    views, Y = toy(80)
    whole = LEMON(chunk_size=20, random_state=1).fit(views, Y)
    parts = LEMON(chunk_size=20, random_state=1)
    for start in range(0, 80, 20):
        parts.partial_fit([X[start : start + 20] for X in views], Y[start : start + 20])
    assert np.array_equal(parts.codes_, whole.codes_)
    for one, other in zip(parts.projections_, whole.projections_, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_directions_below_the_rounding_of_float32_are_learned_from():
    rng = np.random.default_rng(0)
    _, Y = toy(200)
    strong = np.outer(rng.standard_normal(200), rng.standard_normal(10))
    X = (1000 * strong + 0.02 * rng.standard_normal((200, 10))).astype(np.float32)
    method = LEMON(n_bits=8, ridge_scatter=1e-3, random_state=0).fit([X, X], Y)
    wide = X.astype(float)
    W = lemon.regress(wide, np.where(method.codes_, 1.0, -1.0), 1e-3)
    np.testing.assert_allclose(wide @ method.projections_[0], wide @ W, atol=1e-3)


def test_later_chunks_give_a_class_nearly_the_code_it_has():
    views, Y = toy(400)
    codes = LEMON(chunk_size=100, random_state=0).fit(views, Y).codes_
    classes = Y.argmax(axis=1)
    for label in range(4):
        first = codes[:100][classes[:100] == label].mean(axis=0) > 0.5
        assert (codes[100:][classes[100:] == label] == first).mean() > 0.9


def state_bytes(method):
    def size(value):
        if isinstance(value, np.ndarray):
            return value.nbytes
        if isinstance(value, dict):
            return size(list(value.values()))
        return sum(map(size, value)) if isinstance(value, list) else 0

    return sum(size(value) for name, value in vars(method).items() if name != "codes_")


def test_memory_does_not_grow_with_the_chunks():
    views, Y = toy(80)
    method = LEMON(chunk_size=40, random_state=0).fit(views, Y)
    before = state_bytes(method)
    assert before > 0
    for _ in range(10):
        method.partial_fit(views, Y)
    assert state_bytes(method) == before
    assert len(method.codes_) == 80 * 11


def test_partial_fit_refuses_other_columns_and_other_classes():
    views, Y = toy(80)
    method = LEMON(random_state=0).fit(views, Y)
    with pytest.raises(HashbenchError, match="columns"):
        method.partial_fit([views[1], views[1]], Y)
    with pytest.raises(HashbenchError, match="classes"):
        method.partial_fit(views, Y[:, :3])


def test_a_chunk_has_at_least_one_item():
    with pytest.raises(HashbenchError, match="chunk_size"):
        LEMON(chunk_size=0).fit(*toy())


@needs_data
def test_one_chunk_and_eight_chunks_are_equally_good():
    train, query, train_labels, query_labels = fidelity.split_parts("wiki")

    def score(chunks):
        values = []
        for seed in range(5):
            method = LEMON(chunk_size=len(train_labels) // chunks, random_state=seed)
            method.fit(train, train_labels)
            for view in (0, 1):
                asked = method.encode(query[view], view)
                for database in (method.codes_, method.encode(train[1 - view], 1 - view)):
                    found = hashbench.evaluate(
                        asked, database, query_labels, train_labels, ["AP(ties=index)"]
                    )
                    values.append(found["AP(ties=index)"])
        return np.reshape(values, (5, 4)).mean(axis=0)

    one, eight = score(1), score(8)
    assert (np.abs(one - eight) < 0.03).all()
