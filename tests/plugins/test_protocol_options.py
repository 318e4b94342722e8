"""Options that make protocols harder, on data small enough to look at."""

from typing import ClassVar

import numpy as np
import pytest

from hashbench.core.errors import HashbenchError
from hashbench.data.prepare import SplitRequest, make_split, training_labels
from hashbench.plugins.dataset import Data, Dataset, RandomQuery
from hashbench.plugins.protocol import Protocol, wrong_labels


class Toy(Dataset):
    """Sixty rows of five classes."""

    name = "toy"
    protocols: ClassVar = {"random": RandomQuery(0.25), "part": RandomQuery(0.25, 15)}

    def load(self):
        rng = np.random.default_rng(0)
        labels = np.eye(5, dtype=np.uint8)[np.arange(60) % 5]
        return Data([rng.random((60, 3)), rng.random((60, 2))], labels)


@pytest.fixture
def toy():
    plugin = Toy()
    return plugin, plugin.load()


def split_of(toy, protocol, seed=0):
    return make_split(*toy, SplitRequest(Protocol.parse(protocol), seed))


@pytest.mark.parametrize(
    "protocol",
    [
        Protocol("random"),
        Protocol("random", unseen_classes=0.2),
        Protocol(rows=(("query", "500"), ("train", "0.5")), label_noise=0.25, label_fraction=0.1),
    ],
    ids=str,
)
def test_the_text_of_a_protocol_parses_back(protocol):
    assert Protocol.parse(str(protocol)) == protocol


def test_only_options_that_change_something_are_written():
    assert (
        str(Protocol("random", unseen_classes=0.2, label_noise=0)) == "random; unseen_classes=0.2"
    )
    assert "20%" in Protocol("random", label_noise=0.2).describe_options()
    assert "20%" not in Protocol("random", label_noise=0.1).describe_options()


@pytest.mark.parametrize(
    ("settings", "facts"),
    [
        ({"label_noise": 1.5}, r"label_noise.* 1\.5\b.*0 to 1"),
        ({"unseen_classes": 1}, r"unseen_classes.* 1\b.*below 1"),
        ({"label_fraction": 0}, r"label_fraction.* 0\b.*above 0"),
        ({"label_noise": "much"}, "label_noise.*'much'"),
    ],
)
def test_values_that_are_no_share_are_refused(settings, facts):
    with pytest.raises(HashbenchError, match=facts):
        Protocol.select(settings, "random")


def test_unseen_classes_are_asked_and_never_trained_on(toy):
    labels = toy[1].labels
    plain, split = split_of(toy, "random"), split_of(toy, "random; unseen_classes=0.4")
    asked = set(np.flatnonzero(labels[split.query].any(axis=0)))
    trained = set(np.flatnonzero(labels[split.train].any(axis=0)))
    assert len(trained) == 3
    assert not asked & trained
    assert asked
    np.testing.assert_array_equal(split.database, plain.database)
    assert set(split.query) < set(plain.query)
    other = split_of(toy, "random; unseen_classes=0.4", seed=1)
    assert other.hash != split.hash
    assert split.parts == ("all",)


def test_noise_moves_labels_of_training_rows_only(toy):
    request = SplitRequest(Protocol("random", label_noise=0.2), 3)
    split = make_split(*toy, request)
    labels, labelled = training_labels(toy[1], split, request)
    true = toy[1].labels[split.train]
    wrong = (labels != true).any(axis=1)
    assert wrong.sum() == round(0.2 * len(true))
    assert (labels.sum(axis=1) == 1).all()
    assert not (labels & true)[wrong].any()
    assert labelled is None
    plain = split_of(toy, "random", 3)
    np.testing.assert_array_equal(plain.train, split.train)
    assert plain.hash != split.hash  # the same rows, and yet another split


def test_many_labels_keep_their_number():
    labels = (np.random.default_rng(0).random((40, 8)) < 0.4).astype(np.uint8)
    wrong = wrong_labels(labels, 1.0, 0)
    few = labels.sum(axis=1) <= 4
    np.testing.assert_array_equal(wrong.sum(axis=1)[few], labels.sum(axis=1)[few])
    assert not (wrong & labels).any()


def test_few_rows_are_labelled(toy):
    request = SplitRequest(Protocol("random", label_fraction=0.2), 0)
    split = make_split(*toy, request)
    labels, labelled = training_labels(toy[1], split, request)
    assert len(labelled) == 9
    assert len(labels) == len(split.train) == 45


def test_a_class_too_many_is_refused(toy):
    data = toy[1]
    data.labels[:] = 1  # every row has every class: nothing is left to train on
    with pytest.raises(HashbenchError, match=r"unseen_classes=0\.2.*\b0 training rows"):
        split_of(toy, "random; unseen_classes=0.2")


class Copied(Toy):
    """Query rows of a text view that stands in the database, too."""

    name = "copied"
    protocols: ClassVar = {"paper": RandomQuery(0.25)}

    def load(self):
        data = super().load()
        data.views[1] = np.repeat(data.views[1][:20], 3, axis=0)  # every text three times
        return data


@pytest.mark.parametrize(
    ("protocol", "drops"),
    [
        ("default", True),
        ("default; copies=keep", False),
        ("paper", False),
        ("paper; copies=drop", True),
        ("query=15", True),
    ],
)
def test_queries_that_equal_a_row_of_the_database_do_not_count(protocol, drops):
    plugin = Copied()
    data = plugin.load()
    split = make_split(plugin, data, SplitRequest(Protocol.parse(protocol), 0))
    if not drops:
        assert split.copies.size == 0
        return
    text = data.views[1]
    expected = [(text[split.database] == text[row]).all(axis=1).any() for row in split.query]
    assert any(expected)
    np.testing.assert_array_equal(split.copies, [np.zeros(len(split.query), bool), expected])


def test_copies_are_kept_or_dropped():
    with pytest.raises(HashbenchError, match=r"copies.*'maybe'.*keep, drop"):
        Protocol.select({"copies": "maybe"}, "default")
    assert str(Protocol.select({"copies": "keep"}, "default")) == "default; copies=keep"
    assert Protocol.parse("default; copies=keep,label_noise=0.5").copies == "keep"
