"""The embedded photographs with captions: what they hold, and how they are split."""

import numpy as np
import pytest

from hashbench import HashbenchError
from hashbench.core.validation import check_labels, check_views
from hashbench.datasets.coco import Coco


@pytest.fixture(scope="module")
def data():
    return Coco().load()


def test_views_labels_and_captions_have_the_documented_shapes(data):
    image, text = data.views
    assert (image.shape, image.dtype) == ((5000, 1280), np.float32)
    assert text.shape == (5000, 2000)
    assert set(text.data) == {1.0}
    assert data.labels.shape == (5000, 80)
    assert data.labels.sum(axis=1).mean() == pytest.approx(2.93, abs=0.01)
    assert "giraffe" in data.label_names
    assert len(data.strings) == 5000
    assert all(data.strings)
    check_views(data.views)
    check_labels(data.labels, 5000)


def test_labels_and_words_are_of_the_same_photographs(data):
    """Most captions of photographs with a giraffe name it, and hardly any other does."""
    giraffe = data.labels[:, data.label_names.index("giraffe")] == 1
    named = np.array(["giraffe" in caption.lower() for caption in data.strings])
    assert named[giraffe].mean() > 0.8
    assert named[~giraffe].mean() < 0.001


@pytest.mark.parametrize(
    ("options", "shapes"),
    [({"text": "wordllama"}, (1280, 256)), ({"image": "gist"}, (512, 2000))],
)
def test_other_features_are_options(options, shapes):
    assert tuple(X.shape[1] for X in Coco(**options).load().views) == shapes


def test_an_unknown_feature_is_named():
    with pytest.raises(HashbenchError, match=r"'bert'.*bow, wordllama"):
        Coco(text="bert").load()


@pytest.mark.parametrize("protocol", Coco.protocols)
@pytest.mark.parametrize("seed", range(3))
def test_rows_without_labels_are_never_queries(data, protocol, seed):
    split = Coco().split(data, protocol, seed)
    assert data.labels[split.query].any(axis=1).all()
    assert len(split.query) + len(split.database) == 5000
    assert not data.labels[split.database].any(axis=1).all()
