"""Splits that a selection asks for, in counts, shares, files and the papers' permutations."""

import numpy as np
import pytest

from hashbench.core.errors import HashbenchError
from hashbench.data.prepare import SplitRequest, make_split
from hashbench.execution.grid import select_datasets
from hashbench.execution.study import Study
from hashbench.plugins.dataset import Data, Dataset
from hashbench.plugins.protocol import Protocol
from hashbench.plugins.registry import discover


class Toy(Dataset):
    name = "toy"

    def load(self):
        rng = np.random.default_rng(0)
        return Data([rng.random((100, 3)), rng.random((100, 2))], np.arange(100) % 4)


def split(text, seed=0, given=()):
    data = Toy().load()
    data.given = dict(given)
    return make_split(Toy(), data, SplitRequest(Protocol.parse(text), seed))


def sizes(found):
    return len(found.train), len(found.query), len(found.database)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("query=20", (40, 20, 80)),
        ("query=0.1", (45, 10, 90)),
        ("query=20,train=30", (30, 20, 80)),
        ("query=20,train=0.5", (40, 20, 80)),
        ("query=20,database=40", (20, 20, 40)),
        ("query=20,train=10,database=40", (10, 20, 40)),
        ("train=15", (15, 25, 75)),
        ("query=20,train=30,permutation=1814", (30, 20, 80)),
        ("query=20,permutation=1814", (80, 20, 80)),
    ],
)
def test_counts_and_shares(text, expected):
    assert sizes(split(text)) == expected
    assert split(text).hash == split(text).hash
    moved = "permutation" not in text
    assert (split(text, seed=1).hash != split(text).hash) == moved


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("default", ("unseen", "seen")),
        ("query=20", ("unseen", "seen")),
        ("query=20,train=30", ("unseen", "seen")),
        ("query=20,train=30,permutation=1814", ("unseen", "seen", "all")),
        ("query=20,permutation=1814", ("seen",)),
        ("default; unseen_classes=0.3", ("all",)),
        ("default; label_fraction=0.1", ("unseen", "seen")),
    ],
)
def test_parts_of_the_database_are_scored(text, parts):
    assert split(text).parts == parts


@pytest.mark.parametrize("text", ["default", "query=20", "query=20,train=30"])
def test_half_of_the_database_is_unseen(text):
    found = split(text)
    train, database = set(found.train), found.database
    assert set(database) == set(range(100)) - set(found.query)
    assert set(database[found.positions("seen")]) == train
    assert set(database[found.positions("unseen")]) == set(database) - train
    assert list(found.positions("all")) == list(range(len(database)))
    assert np.array_equal(database[: len(train)], found.train)  # stored once, see prepare


def test_the_first_and_the_last_rows():
    assert list(split("query=last-5").query) == [95, 96, 97, 98, 99]
    assert list(split("query=first-5").query) == [0, 1, 2, 3, 4]


def test_files_of_row_numbers(tmp_path):
    np.save(tmp_path / "q.npy", [5, 3, 9])
    (tmp_path / "t.txt").write_text("10\n11\n12\n")
    found = split(f"query={tmp_path}/q.npy,train={tmp_path}/t.txt")
    assert list(found.query) == [5, 3, 9]
    assert list(found.train) == [10, 11, 12]
    assert sizes(found) == (3, 3, 97)
    np.save(tmp_path / "t.npy", [3, 4])
    with pytest.raises(HashbenchError, match=r"row 3.*query.*train"):
        split(f"query={tmp_path}/q.npy,train={tmp_path}/t.npy")


def test_the_datas_own_split_is_kept_where_nothing_is_said():
    given = {"train": np.arange(50), "query": np.arange(50, 60), "database": np.arange(60, 100)}
    found = split("train=7", given=given)
    assert list(found.query) == list(range(50, 60))
    assert list(found.database) == list(range(60, 100))
    assert set(found.train) <= set(range(50))


def test_a_permutation_is_that_of_the_papers():
    """numpy.random.seed(1814); permutation: queries first, then training rows."""
    np.random.seed(1814)  # noqa: NPY002
    order = np.random.permutation(100)  # noqa: NPY002
    found = split("query=20,train=30,permutation=1814")
    assert set(found.query) == set(order[:20])
    assert set(found.train) == set(order[20:50])
    assert set(found.database) == set(order[20:])


def test_a_selection_says_it_and_tables_print_it():
    choice = select_datasets(Study(datasets=("wiki[query=500,train=0.5]",)), discover())[0]
    assert str(choice.protocol) == "query=500,train=0.5"
    assert choice.label == "wiki[query=500,train=0.5]"
    choice = select_datasets(
        Study(datasets=("wiki[preprocess=image:l2,text:centre+l2]",)), discover()
    )[0]
    assert choice.preprocess == "image:l2,text:centre+l2"
    assert choice.label == "wiki[preprocess=image:l2,text:centre+l2]"
