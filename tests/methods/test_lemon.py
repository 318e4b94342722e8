import os

import numpy as np
import pytest

import hashbench
from hashbench.base.errors import HashbenchError
from hashbench.checks.methods import toy
from hashbench.linalg import random_rotation, stiefel
from hashbench.methods.lemon import LEMON
from tools import fidelity


def signs(values):
    return np.where(values >= 0, 1.0, -1.0)


def direct(views, Y, k, chunks, seed, alpha=3.0, beta=2.0, gamma=0.1, xi=1.0, iterations=3):
    """Every chunk with the past's items at hand and the similarity formed."""
    rng = np.random.default_rng(seed)
    G = Y / np.linalg.norm(Y, axis=1, keepdims=True)
    S = 2 * G @ G.T - 1
    V_old, B_old = np.zeros((0, k)), np.zeros((0, k))
    values = []
    for rows in chunks:
        L, seen = Y[rows], slice(0, rows.stop)
        n = len(L)
        B, V = signs(rng.standard_normal((n, k))), rng.standard_normal((n, k))
        R = random_rotation(k, rng)
        for _ in range(iterations):
            V_all = np.vstack([V_old, V])
            P = np.linalg.solve(V_all.T @ V_all + gamma * np.eye(k), V_all.T @ Y[seen])
            Z = B @ R.T + beta * L @ P.T + alpha * k * S[rows, seen] @ np.vstack([B_old, B])
            V = stiefel(Z, rng)
            V_all = np.vstack([V_old, V])
            left, _, right = np.linalg.svd(np.vstack([B_old, B]).T @ V_all)
            R = (left @ right).T
            B = signs(alpha * k * S[rows, seen] @ V_all + V @ R)
            B_all = np.vstack([B_old, B])
            value = np.square(B_all - V_all @ R).sum() + gamma * np.square(P).sum()
            value += beta * np.square(Y[seen] - V_all @ P).sum()
            values.append(value + alpha * np.square(k * S[seen, seen] - V_all @ B_all.T).sum())
        V_old, B_old = V_all, B_all
    W = [np.linalg.solve(X.T @ X + xi * np.eye(X.shape[1]), X.T @ B_all) for X in views]
    return B_all > 0, W, values


def test_sums_stand_in_for_the_items_seen():
    views, Y = toy(80, multilabel=True)
    method = LEMON(n_bits=3, alpha=3.0, beta=2.0, iterations=3, chunk_size=25, random_state=2).fit(
        views, Y
    )
    chunks = [slice(0, 25), slice(25, 50), slice(50, 80)]
    codes, W, values = direct(views, Y.astype(float), 3, chunks, 2)
    assert np.array_equal(method.codes_, codes)
    np.testing.assert_allclose(method.objective_, values, rtol=1e-9)
    for ours, theirs in zip(method.projections_, W, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9)


def test_objective_falls_within_a_chunk():
    views, Y = toy(80, multilabel=True)
    # Under the default weights of 1e4 the rotation's term is lost in the rounding of the others.
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


def test_partial_fit_names_what_does_not_fit():
    views, Y = toy(80)
    method = LEMON(random_state=0).fit(views, Y)
    with pytest.raises(HashbenchError, match=r"found \[8, 8\] columns; fit saw \[12, 8\]"):
        method.partial_fit([views[1], views[1]], Y)
    with pytest.raises(HashbenchError, match="found 3 classes; fit saw 4"):
        method.partial_fit(views, Y[:, :3])
    with pytest.raises(HashbenchError, match="chunk_size: found 0"):
        LEMON(chunk_size=0).fit(views, Y)


@pytest.mark.skipif("HASHBENCH_DATA" not in os.environ, reason="HASHBENCH_DATA is not set")
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
