"""Statistics that fits share: the same bytes, honest times, and nothing believed unchecked."""

from __future__ import annotations

import time

import numpy as np
import pytest

from hashbench.base import shelf
from hashbench.linalg import Ridge, column_means, cross, gram
from hashbench.linalg.products import outer_gram


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A folder, and a view that nobody writes to; everything is worth keeping."""
    monkeypatch.setattr(shelf, "WORTH", 0.0)
    X = np.random.default_rng(0).standard_normal((300, 7)).astype(np.float32)
    X.flags.writeable = False
    return tmp_path / "statistics", X


def counted(value):
    """Return a function that makes a value, and how often it was called."""
    calls = []

    def make():
        calls.append(1)
        time.sleep(0.05)
        return (value.copy(),)

    return make, calls


def test_what_was_made_is_found_and_charged(kept):
    folder, X = kept
    make, calls = counted(np.arange(6.0))
    with shelf.opened(folder, [X]) as first:
        shelf.fetch("something", [X], [], make)
    with shelf.opened(folder, [X]) as second:
        (found,) = shelf.fetch("something", [X], [], make)
    assert len(calls) == 1
    np.testing.assert_array_equal(found, np.arange(6.0))
    assert first.owed <= 0  # keeping it took time that is no training
    assert 0.03 < second.owed < 0.2


def test_what_is_found_inside_is_charged_to_what_is_made(kept):
    folder, X = kept
    make, _ = counted(np.ones(2))
    with shelf.opened(folder, [X]):
        shelf.fetch("inner", [X], [], make)
    with shelf.opened(folder, [X]):
        shelf.fetch("outer", [X], [], lambda: shelf.fetch("inner", [X], [], make))
    with shelf.opened(folder, [X]) as third:
        shelf.fetch("outer", [X], [], make)
    assert third.owed > 0.03


def test_other_arrays_and_other_means_are_something_else(kept):
    folder, X = kept
    make, calls = counted(np.ones(1))
    other = X.copy()
    with shelf.opened(folder, [X]):
        for rows, more in (([X], []), ([X[:200]], []), ([other], []), ([X], [np.zeros(7)]),
                           ([X], [None]), ([X], [np.ones(7)])):  # fmt: skip
            shelf.fetch("something", rows, more, make)
    assert len(calls) == 6


def test_rows_that_are_made_as_they_are_read_are_not_known(kept):
    folder, X = kept

    class Rows:
        shape, dtype = X.shape, X.dtype

    make, calls = counted(np.arange(6.0))
    with shelf.opened(folder, [X]):
        for _ in range(2):
            shelf.fetch("something", [Rows()], [], make)
    assert len(calls) == 2


@pytest.mark.parametrize("damage", ["cut", "changed", "record", "gone"])
def test_damage_is_made_again(kept, damage):
    folder, X = kept
    make, calls = counted(np.arange(6.0))
    with shelf.opened(folder, [X]):
        shelf.fetch("something", [X], [], make)
    file, record = next(folder.glob("*.npy")), next(folder.glob("*.json"))
    if damage == "cut":
        file.write_bytes(file.read_bytes()[:-8])
    elif damage == "changed":
        file.write_bytes(file.read_bytes()[:-1] + b"\x01")
    elif damage == "record":
        record.write_text('{"seconds": []')
    else:
        file.unlink()
    with shelf.opened(folder, [X]):
        (found,) = shelf.fetch("something", [X], [], make)
    assert len(calls) == 2
    np.testing.assert_array_equal(found, np.arange(6.0))


def test_changing_what_was_found_changes_nothing_for_others(kept):
    folder, X = kept
    with shelf.opened(folder, [X]):
        kept_gram = gram(X).copy()
        gram(X)[:] = 0
        np.testing.assert_array_equal(gram(X), kept_gram)


def test_a_folder_that_cannot_be_written_costs_nothing(kept):
    folder, X = kept
    folder.write_text("in the way")
    with shelf.opened(folder, [X]):
        np.testing.assert_array_equal(gram(X), gram(X))


def test_a_shelf_without_arrays_is_closed(kept):
    """Cold fits share nothing, also not what is told apart by what it is made of alone."""
    folder, X = kept
    make, calls = counted(np.ones(1))
    for _ in range(2):
        with shelf.opened(folder, []) as closed:
            shelf.fetch("something", [], [X], make)
    assert len(calls) == 2
    assert closed.owed == 0
    assert not folder.exists()


def test_products_are_the_same_bytes_found_or_made(kept):
    folder, X = kept
    T = np.random.default_rng(1).standard_normal((300, 3)).astype(np.float32)
    means = column_means([X, T])
    cold = gram(X, means[0]), cross(X, T, *means), outer_gram(X, means[0])
    for _ in range(2):
        with shelf.opened(folder, [X, T]):
            assert column_means([X])[0].tobytes() == means[0].tobytes()
            assert gram(X, means[0]).tobytes() == cold[0].tobytes()
            assert cross(X, T, *means).tobytes() == cold[1].tobytes()
            assert outer_gram(X, means[0]).tobytes() == cold[2].tobytes()
    assert len(list(folder.glob("*.json"))) == 4


def test_a_regression_with_few_rows_finds_its_products_too(kept):
    folder, X = kept
    wide = np.ascontiguousarray(X.T)
    cold = Ridge(wide, 0.5).solve(X[:7])
    for _ in range(2):
        with shelf.opened(folder, [wide]):
            assert Ridge(wide, 0.5).solve(X[:7]).tobytes() == cold.tobytes()
    assert len(list(folder.glob("*.json"))) == 1


def test_what_is_too_large_is_not_kept(kept, monkeypatch):
    folder, X = kept
    monkeypatch.setattr(shelf, "MOST", 8)
    with shelf.opened(folder, [X]):
        np.testing.assert_array_equal(gram(X), gram(X))
    assert not list(folder.glob("*"))
