"""Data on their way to cells."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy

from hashbench.core.codes import unpack
from hashbench.core.errors import HashbenchError, StorageError
from hashbench.core.io import new_folder, writing
from hashbench.core.records import from_json
from hashbench.data.memory_maps import open_data, save_data, write_rows
from hashbench.data.prepare import (
    Prepared,
    SplitRequest,
    load_dataset,
    make_split,
    prepare_split,
)
from hashbench.data.splits import StoredSplit
from hashbench.plugins.dataset import Data, Dataset, GivenSplit, RandomQuery
from hashbench.plugins.protocol import Protocol
from hashbench.plugins.registry import Plugin, Registry

ROWS = 40


def make_data(given: bool = False) -> Data:
    rng = np.random.default_rng(0)
    text = scipy.sparse.random(ROWS, 9, density=0.3, format="csr", rng=rng, dtype=np.float32)
    labels = np.zeros((ROWS, 3), np.uint8)
    labels[np.arange(ROWS), rng.integers(3, size=ROWS)] = 1
    own = {"train": np.arange(5, 30), "query": np.arange(5), "database": np.arange(5, ROWS)}
    return Data(
        views=[rng.standard_normal((ROWS, 6)), text],
        labels=labels,
        strings=[f"item {i}" for i in range(ROWS)],
        given=own if given else {},
    )


class Toy(Dataset):
    name = "toy"
    protocols = {"random": RandomQuery(0.25), "given": GivenSplit()}  # noqa: RUF012
    preprocessing = ("l2,centre", "none")

    def load(self) -> Data:
        return make_data(given=True)


@pytest.fixture
def registry():
    return Registry(datasets={"toy": Plugin("datasets", "toy", Toy, None, "test")})


def made(registry, folder, request, steps=("l2,centre", "none")):
    dataset = {"plugin": "toy", "params": []}
    facts = load_dataset(registry, folder, folder / "cache", dataset, [request])
    prepare_split(
        registry, folder, folder / "cache", dataset, facts["fingerprint"], request, steps, "split"
    )
    return facts, Prepared.open(folder / "cache" / "split")


def test_maps_hold_the_rows_of_the_split_preprocessed_on_training_rows(registry, tmp_path):
    request = {"protocol": {"name": "random"}, "seed": 3, "train_rows": None}
    facts, prepared = made(registry, tmp_path, request)
    data = make_data(given=True)
    split = make_split(Toy(), data, from_json(SplitRequest, request))
    unit = data.views[0] / np.linalg.norm(data.views[0], axis=1, keepdims=True)
    expected = unit - unit[split.train].mean(axis=0)
    np.testing.assert_allclose(prepared.train[0], expected[split.train], atol=1e-12)
    np.testing.assert_allclose(prepared.query[0], expected[split.query], atol=1e-12)
    assert np.array_equal(prepared.query[1], data.views[1].toarray()[split.query])
    assert np.array_equal(prepared.train_labels, data.labels[split.train])
    assert prepared.train[0].dtype == np.float64
    assert prepared.train[1].dtype == np.float32
    assert facts["fingerprint"] == data.fingerprint


def test_maps_are_read_only(registry, tmp_path):
    _, prepared = made(
        registry, tmp_path, {"protocol": {"name": "random"}, "seed": 0, "train_rows": None}
    )
    for views in (prepared.train, prepared.query, prepared.database):
        with pytest.raises(ValueError, match="read-only"):
            views[0][0, 0] = 1


def test_training_rows_are_stored_once_if_the_database_begins_with_them(registry, tmp_path):
    _, same = made(
        registry, tmp_path, {"protocol": {"name": "random"}, "seed": 0, "train_rows": None}
    )
    assert np.shares_memory(same.database[0], same.train[0])
    (tmp_path / "half").mkdir()
    request = {"protocol": {"name": "default"}, "seed": 0, "train_rows": None}
    _, half = made(registry, tmp_path / "half", request)
    assert np.shares_memory(half.database[0], half.train[0])
    assert [len(part[0]) for part in (half.train, half.query, half.database)] == [15, 10, 30]
    (tmp_path / "other").mkdir()
    request = {"protocol": {"name": "given"}, "seed": 0, "train_rows": None}
    _, other = made(registry, tmp_path / "other", request)
    assert [len(part[0]) for part in (other.train, other.query, other.database)] == [25, 5, 35]


def test_a_cap_takes_some_training_rows_and_leaves_the_database(registry, tmp_path):
    request = {"protocol": {"name": "random"}, "seed": 0, "train_rows": 7}
    _, prepared = made(registry, tmp_path, request)
    assert [len(part[0]) for part in (prepared.train, prepared.query, prepared.database)] == [
        7, 10, 30,
    ]  # fmt: skip
    whole = make_split(Toy(), make_data(), SplitRequest(Protocol("random"), 0))
    some = make_split(Toy(), make_data(), SplitRequest(Protocol("random"), 0, 7))
    assert set(some.train) < set(whole.train)
    assert np.array_equal(some.database, whole.database)
    assert some.parts == whole.parts
    assert some.is_seen.all()  # seen are the rows that the protocol trains on
    assert (
        make_split(Toy(), make_data(), SplitRequest(Protocol("random"), 0, 30)).hash == whole.hash
    )


def test_what_measures_need_is_kept_with_the_split(registry, tmp_path):
    facts, _ = made(
        registry, tmp_path, {"protocol": {"name": "random"}, "seed": 1, "train_rows": None}
    )
    kept = StoredSplit.load(tmp_path / f"{facts['splits'][0]}.npz")
    data = make_data()
    assert np.array_equal(unpack(kept.query_labels, 3), data.labels[kept.query] == 1)
    assert np.array_equal(unpack(kept.database_labels, 3), data.labels[kept.database] == 1)
    assert list(kept.query_strings) == [f"item {i}" for i in kept.query]
    assert kept.view_names == ("image", "text")


def test_an_emptied_cache_is_filled_again(registry, tmp_path):
    request = {"protocol": {"name": "random"}, "seed": 0, "train_rows": None}
    dataset = {"plugin": "toy", "params": []}
    facts = load_dataset(registry, tmp_path, tmp_path / "first", dataset, [request])
    arguments = (registry, tmp_path, tmp_path / "second", dataset)
    prepare_split(*arguments, facts["fingerprint"], request, ["none", "none"], "split")
    assert len(Prepared.open(tmp_path / "second" / "split").train) == 2
    with pytest.raises(HashbenchError, match=rf"toy.*fingerprint {facts['fingerprint']}"):
        prepare_split(
            registry, tmp_path, tmp_path / "third", dataset, "another", request, ["none"] * 2, "s"
        )


def test_data_survive_the_cache(tmp_path):
    data = make_data(given=True)
    save_data(data, tmp_path)
    again = open_data(tmp_path)
    assert again.fingerprint == data.fingerprint
    assert again.given.keys() == data.given.keys()


def test_maps_are_pointed_to_and_parts_of_maps_are_not(tmp_path):
    np.save(tmp_path / "big.npy", np.arange(float(2 * ROWS * 6)).reshape(2 * ROWS, 6))
    whole = np.load(tmp_path / "big.npy", mmap_mode="r")
    data = make_data()
    data.labels = np.vstack([data.labels, data.labels])
    data.views = [whole, np.ascontiguousarray(whole)]
    (tmp_path / "one").mkdir()
    save_data(data, tmp_path / "one")
    assert not (tmp_path / "one" / "view_0.npy").exists()
    assert open_data(tmp_path / "one").fingerprint == data.fingerprint
    part = make_data()
    part.views = [whole[ROWS:], whole[:ROWS, ::-1]]
    (tmp_path / "two").mkdir()
    save_data(part, tmp_path / "two")
    assert open_data(tmp_path / "two").fingerprint == part.fingerprint


@pytest.mark.parametrize(
    ("change", "facts"),
    [
        ({"views": [np.ones((3, 2))]}, "toy.*1 view.*2 names"),
        ({"views": [np.ones((ROWS, 2)), np.ones((ROWS - 1, 2))]}, r"toy.*\[40, 39\] rows"),
        ({"labels": np.full((ROWS, 3), 2)}, "labels.*0 and 1"),
    ],
)
def test_data_that_do_not_belong_together_are_refused(
    registry, tmp_path, monkeypatch, change, facts
):
    data = make_data()
    for name, value in change.items():
        setattr(data, name, value)
    monkeypatch.setattr(Toy, "load", lambda self: data)
    with pytest.raises(HashbenchError, match=facts):
        load_dataset(registry, tmp_path, tmp_path / "cache", {"plugin": "toy", "params": []}, [])


def test_a_folder_that_fails_leaves_nothing(tmp_path):
    def fail() -> None:
        with new_folder(tmp_path / "made") as folder:
            (folder / "half").write_text("x")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_an_error_and_no_kill():
    """The device /dev/full refuses every byte."""
    with pytest.raises(StorageError, match=r"/dev/full.*No space"):
        write_rows(iter([np.ones((1 << 16, 4))]), Path("/dev/full"), 1 << 16)


def test_wherever_preparing_runs_out_of_space_no_cell_is_blamed(registry, small_disk):
    """What a cell fails of is kept, and not tried again; a full disk must not be among it."""
    request = {"protocol": {"name": "given"}, "seed": 0, "train_rows": None}
    dataset = {"plugin": "toy", "params": []}
    full = 0
    for kilobytes in range(4, 200, 4):  # a page more each time
        disk = small_disk(kilobytes)
        arguments = (registry, disk, disk / "cache", dataset)
        try:
            facts = load_dataset(*arguments, [request])
            prepare_split(*arguments, facts["fingerprint"], request, ("none", "none"), "split")
        except StorageError as error:
            assert "No space" in str(error)  # noqa: PT017
            full += 1
        else:
            break
    assert full > 10
    assert Prepared.open(disk / "cache" / "split").train[0].shape == (25, 6)


def test_a_write_that_ends_early_without_a_reason_names_the_likely_one(tmp_path):
    facts = r"out: .*7 requested and 3 written.*disk"
    with pytest.raises(StorageError, match=facts), writing(tmp_path / "out"):
        raise OSError("7 requested and 3 written")  # as numpy does
