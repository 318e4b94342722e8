"""A path on the command line as a dataset: its name, its variables, its split."""

from pathlib import Path

import numpy as np
import pytest

from hashbench.core.errors import HashbenchError
from hashbench.data.formats import FileDataset, parse_file_selection
from hashbench.plugins.registry import discover

IMAGE, TEXT = np.random.default_rng(0).random((12, 6)), np.ones((12, 3))
LABELS = np.resize([1.0, 2.0, 3.0], (12, 1))


@pytest.fixture
def path(write):
    return write("mine.mat", "v5", {"Xv": IMAGE, "Xt": TEXT, "Y": LABELS})


@pytest.mark.parametrize(
    "text", ["wiki", "synthetic[rows=500]", "wiki[protocol=paper]", "all", "w*"]
)
def test_names_are_not_files(text):
    assert parse_file_selection(text) is None


def test_a_file_is_called_by_its_stem_or_as_the_user_says(path):
    assert parse_file_selection(f"{path}[image=Xv]")[0] == "mine"
    assert parse_file_selection(f"ours={path}")[0] == "ours"


def test_a_folder_may_have_an_equals_sign(path):
    folder = path.parent / "seed=1"
    folder.mkdir()
    moved = path.rename(folder / "mine.mat")
    assert parse_file_selection(str(moved))[0] == "mine"


def test_a_path_survives_a_change_of_folder(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    dataset = parse_file_selection("mine.mat")[1]
    assert Path(dataset.path) == path.resolve()


def test_a_file_of_another_kind_is_a_file_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert parse_file_selection("features.dat") is None  # the name of a dataset, perhaps
    Path("features.dat").write_bytes(IMAGE.tobytes())
    dataset = parse_file_selection("features.dat")[1]
    with pytest.raises(HashbenchError, match=r"features\.dat.*\.mat, .*\.npz"):
        dataset.load()


def test_named_variables(path):
    dataset = parse_file_selection(f"{path}[image=Xv,text=Xt,labels=Y,protocol=default]")[1]
    data = dataset.load()
    np.testing.assert_array_equal(data.views[0], IMAGE)
    assert data.labels.shape == (12, 3)
    assert dataset.default_protocol() == "default"
    assert "image=Xv, text=Xt, labels=Y" in data.notes[0]


def test_named_parts_are_a_split(write):
    variables = {"a": IMAGE, "b": TEXT, "c": LABELS, "d": IMAGE[:5] + 1, "e": TEXT[:5]}
    path = write("f.mat", "v5", {**variables, "f": LABELS[:5]})
    dataset = FileDataset(str(path), image="a+d", text="b+e", labels="c+f")
    assert dataset.default_protocol() == "given"
    split = dataset.split(dataset.load(), "given", 0)
    assert list(split.query) == [12, 13, 14, 15, 16]
    assert split.parts == ("seen",)


def test_parameters_give_the_dataset_back(path):
    dataset = parse_file_selection(f"ours={path}[image=Xv,text=Xt,labels=Y]")[1]
    again = FileDataset(**dataset.get_params())
    assert again.name == "ours"
    assert again.load().fingerprint == dataset.load().fingerprint


def test_files_are_no_plugin():
    assert FileDataset not in [plugin.cls for plugin in discover().datasets.values()]
