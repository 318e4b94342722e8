"""Files that people have besides those of papers: parquet in shards, own names, more views."""

import numpy as np
import pandas as pd
import pytest

from hashbench.data.formats import load_file, parse_file_selection

RNG = np.random.default_rng(0)
IMAGE, TEXT, AUDIO = RNG.random((30, 6)), RNG.random((30, 4)), RNG.random((30, 3))
CLASSES = [[0], [1, 2], [2]] * 10
LABELS = np.array([[1, 0, 0], [0, 1, 1], [0, 0, 1]] * 10)
NAMES = "[image=image_embedding,text=text_embedding,labels=labels]"
PARTS = {"train": slice(0, 20), "test": slice(20, 30)}


def frame(rows, labels=CLASSES):
    return pd.DataFrame(
        {
            "image": [{"bytes": b"a picture", "path": "a.png"}] * len(IMAGE[rows]),
            "caption": [f"caption {k}" for k in range(30)][rows],
            "image_embedding": list(IMAGE[rows].astype(np.float32)),
            "text_embedding": list(TEXT[rows]),
            "labels": list(labels)[rows],
        }
    )


def write_shards(folder, parts, count=2):
    """Write a table for each part of the split, in shards with the names of Hugging Face."""
    folder.mkdir(exist_ok=True)
    for part, rows in parts.items():
        for k, piece in enumerate(np.array_split(np.arange(30)[rows], count)):
            table = frame(slice(piece[0], piece[-1] + 1))
            table.to_parquet(folder / f"{part}-{k:05}-of-{count:05}.parquet")


@pytest.mark.parametrize("place", ["", "data", "data/test-00001-of-00002.parquet"])
def test_shards_with_a_split(tmp_path, place):
    write_shards(tmp_path / "data", PARTS | {"validation": slice(5, 9)})
    dataset = parse_file_selection(f"{tmp_path / place}{NAMES}")[1]
    data = dataset.load()
    assert dataset.default_protocol() == "given"
    np.testing.assert_allclose(data.views[0], IMAGE, rtol=1e-6)
    np.testing.assert_array_equal(data.views[1], TEXT)
    np.testing.assert_array_equal(data.labels, LABELS)
    assert list(data.given["query"]) == list(range(20, 30))
    assert "train.image (20 struct)" in data.notes[1]  # pictures are not read


def test_shards_without_a_split(tmp_path):
    write_shards(tmp_path, {"train": slice(0, 30)}, count=3)
    for path in (tmp_path, tmp_path / "train-00001-of-00003.parquet"):
        data = parse_file_selection(f"{path}{NAMES}")[1].load()
        np.testing.assert_array_equal(data.views[1], TEXT)
        assert data.given == {}


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (CLASSES, ()),
        ([["a", "b", "c"][k] for [k, *_] in CLASSES], ("a", "b", "c")),
        ([[["a", "b", "c"][k] for k in classes] for classes in CLASSES], ("a", "b", "c")),
        (LABELS, ()),
        ([k % 3 for k in range(30)], ()),
        ([[k % 3, 3 + k % 2] for k in range(30)], ()),
    ],
)
def test_labels_of_every_form(tmp_path, labels, names):
    frame(slice(0, 30), labels).to_parquet(tmp_path / "f.parquet")
    data = parse_file_selection(f"{tmp_path}/f.parquet{NAMES}")[1].load()
    sets = [{each} if np.ndim(each) == 0 else set(each) for each in labels]
    if labels is LABELS:
        sets = [set(np.flatnonzero(row)) for row in LABELS]
    classes = sorted(set.union(*sets))
    expected = [[name in row for name in classes] for row in sets]
    np.testing.assert_array_equal(data.labels, expected)
    assert data.label_names == names


def test_lists_of_different_lengths_are_no_view(tmp_path, refused):
    table = frame(slice(0, 30))
    table["image_embedding"] = [list(row)[: 3 + k % 2] for k, row in enumerate(IMAGE)]
    table.to_parquet(tmp_path / "f.parquet")
    line = refused(f"{tmp_path}/f.parquet{NAMES}")
    assert all(fact in line for fact in ("f.parquet", "image_embedding", "3 to 4 entries")), line
    table.loc[4, "image_embedding"] = None
    table.to_parquet(tmp_path / "f.parquet")
    assert "0 to 4 entries" in refused(f"{tmp_path}/f.parquet{NAMES}")
    assert "image (30 struct)" in refused(f"{tmp_path}/f.parquet")


@pytest.mark.parametrize("version", ["v5", "v7.3"])
def test_three_views_with_names_of_their_own(write, version):
    own = {"gist": IMAGE, "words": TEXT, "mfcc": AUDIO, "gnd": np.arange(30.0)[:, None] % 3}
    path = write("own.mat", version, own)
    data = load_file(path, {"views": "gist+words+mfcc"})
    assert data.view_names == ("gist", "words", "mfcc")
    np.testing.assert_array_equal(data.views[2], AUDIO)
    assert data.labels.shape == (30, 3)
    cells = write("cells.mat", version, {"X": [IMAGE, TEXT, AUDIO], "y": own["gnd"]})
    _, dataset = parse_file_selection(f"{cells}[views=X{{1}}+X{{2}}+X{{3}}]")
    assert [X.shape[1] for X in dataset.load().views] == [6, 4, 3]


def test_a_third_view_is_used_or_refused(write, refused, tmp_path):
    arrays = {"image": IMAGE, "text": TEXT, "audio": AUDIO, "labels": LABELS}
    path = write("mine.npz", "npz", arrays)
    for name, array in arrays.items():
        (tmp_path / "folder").mkdir(exist_ok=True)
        np.save(tmp_path / "folder" / f"{name}.npy", array)
    for source in (path, tmp_path / "folder"):
        line = refused(source)
        assert all(fact in line for fact in ("audio (30 x 3", "[views=image+text+audio]")), line
        three = parse_file_selection(f"{source}[views=image+text+audio]")[1].load()
        np.testing.assert_array_equal(three.views[2], AUDIO)
        two = parse_file_selection(f"{source}[views=image+text]")[1].load()
        assert two.view_names == ("image", "text")
    cells = write("cells.mat", "v5", {"X": [IMAGE, TEXT, AUDIO], "y": np.arange(30.0)[:, None] % 3})
    assert "[views=X{1}+X{2}+X{3}]" in refused(cells)
    parts = {
        f"{name}.{view}": array for name in ("train", "test") for view, array in arrays.items()
    }
    assert "[views=image+text+audio]" in refused(write("parts.npz", "npz", parts))


def test_other_matrices_are_no_third_view(write):
    others = {"ids": np.arange(30)[:, None], "vocabulary": RNG.random((4, 9)), "mean": TEXT[:1]}
    path = write("f.npz", "npz", {"image": IMAGE, "text": TEXT, "labels": LABELS, **others})
    assert len(load_file(path).views) == 2


def test_a_file_with_names_of_its_own_says_how_to_name_them(write, refused):
    line = refused(write("own.mat", "v5", {"gist": IMAGE, "words": TEXT, "mfcc": AUDIO}))
    assert all(fact in line for fact in ("gist (30 x 6 double)", "views=NAME+NAME+NAME")), line


def test_a_folder_in_a_role_is_named_as_one(tmp_path, refused, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "raw" / "images").mkdir(parents=True)
    line = refused("ours=image:raw/images,text:t.npy,labels:y.npy")
    assert all(fact in line for fact in ("image", "'raw/images' is a folder", ".npy")), line


def test_a_folder_without_known_files_lists_them(tmp_path, refused):
    for name in ("feats.npy", "tags.npy"):
        np.save(tmp_path / name, IMAGE)
    line = refused(tmp_path)
    assert all(fact in line for fact in (str(tmp_path), "feats.npy, tags.npy", "labels:FILE")), line


def test_a_folder_with_one_file_is_that_file(tmp_path):
    np.savez(tmp_path / "mine.npz", image=IMAGE, text=TEXT, labels=LABELS)
    np.testing.assert_array_equal(load_file(tmp_path).views[1], TEXT)
