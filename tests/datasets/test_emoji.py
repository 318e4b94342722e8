"""The embedded emoji dataset: what it holds, and that its views say something of its labels."""

import numpy as np
import pytest

from hashbench.core.validation import check_labels, check_views
from hashbench.data import preprocessing
from hashbench.datasets.emoji import Emoji, EmojiMultilabel
from hashbench.plugins.registry import discover


@pytest.fixture(scope="module")
def data():
    return Emoji().load()


@pytest.fixture(autouse=True)
def nothing_but_the_package(monkeypatch, tmp_path):
    monkeypatch.delenv("HASHBENCH_DATA", raising=False)
    monkeypatch.chdir(tmp_path)


def test_both_variants_are_found_by_name():
    found = discover().datasets
    assert found["emoji"].cls is Emoji
    assert found["emoji-multilabel"].cls is EmojiMultilabel


def test_shapes_and_types(data):
    image, text = data.views
    assert image.shape == (1906, 400)
    assert image.dtype == np.float32
    assert text.shape == (1906, 1155)
    assert set(text.data) == {1.0}
    assert data.labels.shape == (1906, 9)
    check_views(data.views)
    check_labels(data.labels, data.n_rows)


def test_every_emoji_has_one_group(data):
    assert (data.labels.sum(axis=1) == 1).all()
    assert "smileys-emotion" in data.label_names
    assert "component" not in data.label_names
    share = data.labels.mean(axis=0)
    assert (share**2).sum() == pytest.approx(0.1287, abs=1e-4)  # precision of a random ranking


def test_the_order_of_rows_says_nothing_of_labels(data):
    """Neighbours share a group as often as any two rows: ties broken by row stay fair."""
    groups = data.labels.argmax(axis=1)
    assert (groups[1:] == groups[:-1]).mean() == pytest.approx(0.1287, abs=0.03)


def test_nothing_is_empty_or_constant(data):
    image, text = data.views[0], data.views[1].toarray()
    assert image.any(axis=1).all()
    assert (image.std(axis=0) > 0).all()
    assert text.any(axis=1).all()
    assert text.any(axis=0).all()


def test_items_belong_together(data):
    """Strings, words and labels are in one order: flags are flags in all of them."""
    assert len(data.strings) == len(set(data.strings)) == data.n_rows
    flag = data.label_names.index("flags")
    norway = data.strings.index("🇳🇴")
    svalbard = data.strings.index("🇸🇯")  # shows the flag of Norway
    assert data.labels[norway, flag] == 1
    assert np.array_equal(data.views[0][norway], data.views[0][svalbard])
    is_flag = data.labels[:, flag] == 1
    shared_word = data.views[1][np.flatnonzero(is_flag)].toarray().mean(axis=0).max()
    assert shared_word > 0.97  # nearly every flag has the word `flag`
    assert not is_flag[data.strings.index("😀")]


def test_multilabel_adds_the_subgroup(data):
    multilabel = EmojiMultilabel().load()
    assert np.array_equal(multilabel.labels[:, :9], data.labels)
    assert (multilabel.labels.sum(axis=1) == 2).all()
    assert multilabel.labels.shape[1] == len(multilabel.label_names) == 9 + 98
    assert len(set(multilabel.label_names)) == 9 + 98
    assert multilabel.fingerprint != data.fingerprint
    # What the note says: no subgroup is shared by two groups.
    together = multilabel.labels[:, :9].T.astype(int) @ multilabel.labels[:, 9:]
    assert ((together > 0).sum(axis=0) == 1).all()
    assert "group" in multilabel.notes[0]


def test_default_split_asks_a_quarter(data):
    emoji = Emoji()
    split = emoji.split(data, emoji.default_protocol(), seed=0)
    assert len(split.query) == round(0.25 * 1906)
    assert split.parts == ("unseen", "seen")
    rest = data.n_rows - len(split.query)
    assert (len(split.train), len(split.database)) == ((rest + 1) // 2, rest)


def test_a_linear_map_to_the_groups_beats_chance_by_far(data):
    """Both views predict the group of unseen emoji: the data are worth hashing."""
    emoji = Emoji()
    split = emoji.split(data, emoji.default_protocol(), seed=0)
    Y = data.labels.astype(np.float32)
    for X, declared, expected in zip(data.views, emoji.preprocessing, (0.65, 0.8), strict=True):
        transform = preprocessing.fit(declared, X, split.train)
        train, query = transform(X[split.train]), transform(X[split.query])
        ridge = train.T @ train + np.eye(train.shape[1], dtype=np.float32)
        weights = np.linalg.solve(ridge, train.T @ (Y[split.train] - Y[split.train].mean(axis=0)))
        scores = query @ weights + Y[split.train].mean(axis=0)
        accuracy = (scores.argmax(axis=1) == Y[split.query].argmax(axis=1)).mean()
        assert accuracy > expected  # the largest group alone gives 0.20
