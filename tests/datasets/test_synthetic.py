"""Made-up data: sizes as asked, a signal that can be turned up, presets that stay on disk."""

import errno
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

from hashbench.core.errors import HashbenchError, StorageError
from hashbench.datasets.synthetic import (
    Synthetic,
    SyntheticMIRFlickr,
    SyntheticNUSWIDE,
    SyntheticWiki,
)

PRESETS = (SyntheticWiki, SyntheticMIRFlickr, SyntheticNUSWIDE)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def class_accuracy(data, view):
    """Share of rows whose nearest class mean, taken from the other half, is their own."""
    X, classes = data.views[view], data.labels.argmax(axis=1)
    half = len(X) // 2
    means = np.stack([X[:half][classes[:half] == c].mean(axis=0) for c in np.unique(classes)])
    distances = ((X[half:, None] - means) ** 2).sum(axis=2)
    return (distances.argmin(axis=1) == classes[half:]).mean()


def test_sizes():
    data = Synthetic(rows=50, image_dim=7, text_dim=5, classes=3).load()
    assert [X.shape for X in data.views] == [(50, 7), (50, 5)]
    assert data.labels.shape == (50, 3)
    assert (data.labels.sum(axis=1) == 1).all()


def test_the_signal_grows_with_the_ratio():
    for view in (0, 1):
        scores = [class_accuracy(Synthetic(rows=800, snr=snr).load(), view) for snr in (0, 0.05, 1)]
        assert scores[0] == pytest.approx(1 / 8, abs=0.06)
        assert scores[0] + 0.1 < scores[1] < scores[2] - 0.1


def test_the_ratio_is_that_of_the_variances():
    noise, both = (Synthetic(rows=20_000, snr=snr).load().views[0].var() for snr in (0, 3))
    assert noise == pytest.approx(1, abs=0.02)
    assert both == pytest.approx(4, rel=0.25)  # class centres are few: a sample of 8


def test_views_of_one_item_have_more_in_common_than_their_class():
    data = Synthetic(rows=2000, classes=1, snr=2.0).load()
    image, text = (X - X.mean(axis=0) for X in data.views)
    common = np.linalg.norm(image.T @ text)
    shuffled = np.linalg.norm(image.T @ text[np.random.default_rng(0).permutation(2000)])
    assert common > 2 * shuffled


@pytest.mark.parametrize("asked", [1.0, 2.5, 8.0])
def test_labels_per_row(asked):
    labels = Synthetic(rows=5000, labels_per_row=asked).load().labels
    assert labels.any(axis=1).all()
    assert labels.sum(axis=1).mean() == pytest.approx(asked, abs=0.08)


def test_seeds():
    prints = [Synthetic(rows=20, seed=seed).load().fingerprint for seed in (0, 0, 1)]
    assert prints[0] == prints[1] != prints[2]


@pytest.mark.parametrize(
    ("name", "value"),
    [("rows", 0), ("rows", 2.5), ("classes", 0), ("labels_per_row", 9), ("snr", -1)],
)
def test_impossible_sizes_are_refused(name, value):
    with pytest.raises(HashbenchError, match=rf"{name}.* {value}\b"):
        Synthetic(**{name: value}).load()


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_is_written_once_and_mapped(preset, cache, monkeypatch):
    first = preset(rows=300).load()
    monkeypatch.setattr("hashbench.datasets.synthetic.Generator.block", None)
    again = preset(rows=300).load()
    assert isinstance(again.views[0], np.memmap)
    assert again.views[0].shape == (300, 4096)
    assert again.views[1].shape == (300, preset.text_dim)
    assert first.fingerprint == again.fingerprint


def test_presets_have_the_labels_and_tags_of_the_originals():
    mirflickr, nuswide = SyntheticMIRFlickr(rows=3000).load(), SyntheticNUSWIDE(rows=3000).load()
    assert mirflickr.labels.sum(axis=1).mean() == pytest.approx(3.8, abs=0.15)
    assert nuswide.labels.sum(axis=1).mean() == pytest.approx(2.4, abs=0.15)
    tags = mirflickr.views[1]
    assert set(tags.data) == {1.0}
    assert tags.sum(axis=1).mean() == pytest.approx(4.6, abs=0.4)
    assert tags.sum(axis=1).min() >= 1
    topics = SyntheticWiki(rows=300).load().views[1]
    np.testing.assert_allclose(topics.sum(axis=1), 1, rtol=1e-5)


def test_blocks_join_without_a_seam(monkeypatch):
    monkeypatch.setattr("hashbench.datasets.synthetic.BLOCK_ROWS", 64)
    data = SyntheticMIRFlickr(rows=150).load()
    assert data.views[0].shape[0] == data.views[1].shape[0] == data.n_rows == 150
    assert np.isfinite(data.views[0]).all()
    assert data.views[0][-1].std() == pytest.approx(1, abs=0.1)


def test_features_never_stand_in_memory_whole(monkeypatch):
    monkeypatch.setattr("hashbench.datasets.synthetic.BLOCK_ROWS", 128)
    SyntheticNUSWIDE(rows=1).load()  # imports have a memory of their own
    tracemalloc.start()
    try:
        image = SyntheticNUSWIDE(rows=4000).load().views[0]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert image.nbytes > 65e6
    assert peak < 0.2 * image.nbytes


def test_a_broken_write_leaves_nothing(cache, monkeypatch):
    def fail(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("hashbench.datasets.synthetic.Generator.block", fail)
    with pytest.raises(KeyboardInterrupt):
        SyntheticWiki(rows=10).load()
    assert [path for path in cache.rglob("*") if path.is_file()] == []


def test_a_full_disk_is_reported_before_writing(monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=10**6))
    with pytest.raises(HashbenchError, match=r"synthetic-wiki.*0\.0 GB.*0\.1 GB"):
        SyntheticWiki().load()


def test_a_disk_that_fills_up_while_writing_is_reported(cache, monkeypatch):
    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("numpy.save", full)
    with pytest.raises(StorageError, match=r"synthetic-wiki-rows10.*No space"):
        SyntheticWiki(rows=10).load()
    assert [path for path in cache.rglob("*") if path.is_file()] == []


def test_full_sizes_are_those_of_the_papers():
    sizes = [(p.n_rows, p.image_dim, p.text_dim, p.classes) for p in PRESETS]
    assert sizes == [(2866, 4096, 10, 10), (20015, 4096, 1386, 24), (196776, 4096, 1000, 21)]
    assert all(p.synthetic for p in PRESETS)
