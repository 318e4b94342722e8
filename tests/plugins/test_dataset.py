"""Splits: disjoint, seeded, named by their rows; data: equal if and only if they hash equally."""

from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from hashbench.core.errors import HashbenchError
from hashbench.plugins.dataset import Data, Dataset, GivenSplit, LastQuery, RandomQuery, Split


def data_of(n, given=()):
    rng = np.random.default_rng(n)
    labels = np.eye(2, dtype=np.uint8)[rng.integers(2, size=n)]
    return Data([rng.random((n, 3)), rng.random((n, 2))], labels, given=dict(given))


class Toy(Dataset):
    name = "toy"
    protocols: ClassVar = {
        "some": RandomQuery(0.3),
        "last": LastQuery(3),
        "few": RandomQuery(4, train=5),
    }

    def load(self):
        return data_of(20)


@given(n=st.integers(2, 200), query=st.floats(0.01, 0.99), seed=st.integers(0, 2**32))
def test_random_queries_and_database_partition_the_rows(n, query, seed):
    if not 1 <= round(query * n) < n:
        return
    split = RandomQuery(query)(data_of(n), np.random.default_rng(seed))
    assert sorted([*split.query, *split.database]) == list(range(n))
    assert len(split.query) == round(query * n)
    assert split.parts == ("seen",)


@given(st.data())
def test_a_trained_part_lies_in_the_database(draw):
    n = draw.draw(st.integers(4, 100))
    query = draw.draw(st.integers(1, n - 2))
    train = draw.draw(st.integers(1, n - query))
    for protocol in (RandomQuery(query, train), LastQuery(query, train)):
        split = protocol(data_of(n), np.random.default_rng(0))
        assert len(split.train) == train
        assert set(split.train) <= set(split.database)
        assert len(split.query) == query


def test_a_published_protocol_scores_its_whole_database_too():
    toy, data = Toy(), Toy().load()
    parts = {name: toy.split(data, name, 0).parts for name in toy.protocols}
    assert parts == {
        "some": ("seen",),
        "last": ("seen",),
        "few": ("unseen", "seen", "all"),
        "default": ("unseen", "seen"),
    }


def test_every_dataset_has_the_default_protocol():
    split = Toy().split(Toy().load(), "default", 0)
    assert (len(split.train), len(split.query), len(split.database)) == (8, 5, 15)


def test_one_seed_one_split():
    toy, data = Toy(), Toy().load()
    hashes = [toy.split(data, "some", seed).hash for seed in (0, 0, 1, 2)]
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 3


def test_last_rows_do_not_depend_on_the_seed():
    toy, data = Toy(), Toy().load()
    assert list(toy.split(data, "last", 0).query) == [17, 18, 19]
    assert toy.split(data, "last", 0).hash == toy.split(data, "last", 5).hash


def test_the_hash_tells_which_row_has_which_part():
    base = Split([0, 1], [2], [0, 1])
    others = [Split([1, 0], [2], [0, 1]), Split([0, 1], [2], [3]), Split([0], [1, 2], [0])]
    assert len({split.hash for split in (base, *others)}) == 4


@pytest.mark.parametrize(
    ("parts", "facts"),
    [
        (([0], [0], [1]), "row 0.*query.*train"),
        (([0], [1], [1]), "row 1.*query.*database"),
        (([0, 0], [1], [2]), "train.*twice"),
        (([], [1], [2]), "train.*empty"),
    ],
)
def test_a_split_that_leaks_cannot_be_made(parts, facts):
    with pytest.raises(HashbenchError, match=facts):
        Split(*parts)


def test_the_given_split():
    rows = {"train": np.arange(5), "query": np.arange(5, 8)}
    split = GivenSplit()(data_of(8, rows), np.random.default_rng(0))
    assert list(split.query) == [5, 6, 7]
    assert split.parts == ("seen",)
    with pytest.raises(HashbenchError, match=r"^split: .*without"):
        GivenSplit()(data_of(8), np.random.default_rng(0))


@pytest.mark.parametrize(
    ("protocol", "count"), [(RandomQuery(20), 20), (LastQuery(20), 20), (RandomQuery(0.001), 0)]
)
def test_too_many_or_too_few_queries_are_refused(protocol, count):
    with pytest.raises(HashbenchError, match=rf"\b{count} queries.*\b20 rows"):
        protocol(data_of(20), np.random.default_rng(0))


def test_an_unknown_protocol_is_refused():
    toy = Toy()
    with pytest.raises(HashbenchError, match=r"protocol.*toy.*'lasst'.*'last'"):
        toy.split(toy.load(), "lasst", 0)


def test_fingerprints_tell_data_apart():
    def fingerprint(**changes):
        data = data_of(6)
        for name, value in changes.items():
            setattr(data, name, value)
        return data.fingerprint

    image, text = data_of(6).views
    other = image.copy()
    other[5, 2] += 1e-9
    sparse = scipy.sparse.csr_array(text)
    wider = scipy.sparse.csr_array((sparse.data, sparse.indices, sparse.indptr), shape=(6, 9))
    prints = [
        fingerprint(),
        fingerprint(views=[other, text]),
        fingerprint(views=[image.astype(np.float32), text]),
        fingerprint(views=[text, image]),
        fingerprint(labels=1 - data_of(6).labels),
        fingerprint(views=[image, sparse]),
        fingerprint(views=[image, wider]),
    ]
    assert len(set(prints)) == len(prints)
    assert fingerprint() == prints[0]
    assert fingerprint(notes=["anything"]) == prints[0]


def test_a_dataset_without_parameters_has_none():
    assert Toy().get_params() == {}
    assert repr(Toy()) == "Toy()"
