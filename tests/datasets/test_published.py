"""The published datasets, where they are on this machine: they are what their authors say.

Set HASHBENCH_DATA to a folder with them; without it these tests skip.
"""

from pathlib import Path

import numpy as np
import pytest
import scipy.io

from hashbench.core.errors import HashbenchError
from hashbench.data.description import describe
from hashbench.data.formats import load_file, parse_file_selection
from hashbench.datasets.bdgp import BDGP
from hashbench.datasets.mirflickr import LABELS, TAGS, MIRFlickr25K, MIRFlickrSePH
from hashbench.datasets.nuswide import NUSWIDE, NUSWIDEDLFH, NUSWIDETop10, NUSWIDETop21
from hashbench.datasets.uci import UCIDigits
from hashbench.datasets.wiki import Wiki, WikiCNN
from hashbench.datasets.xmedia import XMedia
from hashbench.plugins.downloads import check, locate
from tests.helpers.data import needs_data


@needs_data
@pytest.mark.parametrize(
    "file", [*Wiki.files, *WikiCNN.files, *BDGP.files, *UCIDigits.files, TAGS, LABELS]
)
def test_checksums(file):
    assert check(file) == "ok"


@needs_data
class TestWiki:
    def test_the_standard_protocol(self):
        wiki = Wiki()
        found = describe(wiki, wiki.load())
        assert (found.rows, found.classes, found.protocol) == (2866, 10, "standard")
        assert [view.columns for view in found.views] == [128, 10]
        sizes = {split.protocol: (split.train, split.query) for split in found.splits}
        assert sizes == {"standard": (2173, 693), "paper": (2150, 716), "default": (1075, 716)}
        assert found.views[0].copies == 10
        (finding,) = found.findings
        assert finding.startswith("image: ")
        assert "3 (2239=1770, 2553=2094, 2715=623)" in finding
        assert found.chance == pytest.approx(0.1114, abs=1e-4)

    def test_label_names_by_the_authors_class_sizes(self):
        data = Wiki().load()
        sizes = dict(zip(data.label_names, data.labels.sum(axis=0, dtype=int), strict=True))
        assert sizes == {
            "art": 172, "biology": 360, "geography": 340, "history": 333, "literature": 267,
            "media": 236, "music": 237, "royalty": 185, "sport": 285, "warfare": 451,
        }  # fmt: skip

    def test_both_releases_hold_the_same(self):
        path = locate(Wiki.files[0], "wiki")
        other = path.with_name("WikiData.mat")
        if not other.exists():
            pytest.skip("the second release of Wiki is not here")
        first, second = load_file(path), load_file(other)
        for X, Y in zip(first.views, second.views, strict=True):
            np.testing.assert_allclose(X, Y)
        np.testing.assert_array_equal(first.labels, second.labels)

    def test_stronger_images_are_in_the_same_order(self):
        wiki, cnn = Wiki().load(), WikiCNN().load()
        np.testing.assert_array_equal(
            load_file(locate(WikiCNN.files[1], "wiki-cnn")).labels, wiki.labels
        )
        np.testing.assert_array_equal(cnn.views[1], wiki.views[1])
        assert cnn.views[0].shape == (2866, 128)
        assert WikiCNN().default_protocol() == "paper"


@needs_data
def test_bdgp():
    bdgp = BDGP()
    data = bdgp.load()
    found = describe(bdgp, data)
    assert list(data.labels.sum(axis=0, dtype=int)) == [500] * 5
    assert [view.columns for view in found.views] == [1750, 79]
    assert set(np.unique(data.views[1])) == {0.0, 1.0}
    assert found.chance == pytest.approx(0.203, abs=0.002)


@needs_data
def test_uci_digits_by_name_and_by_path_are_the_same():
    """A user's file has unit rows unless stated otherwise; a shipped one is as it is."""
    by_name = UCIDigits()
    path = locate(by_name.files[0], "uci-digits")
    _, by_path = parse_file_selection(str(path))
    assert by_path.load().fingerprint == by_name.load().fingerprint
    named, pathed = (
        describe(dataset, dataset.load(), preprocess="none") for dataset in (by_name, by_path)
    )
    assert named.split_hash == pathed.split_hash
    assert named.chance == pathed.chance == pytest.approx(0.104, abs=5e-4)
    assert named.views == pathed.views
    assert (named.rows, named.classes) == (2000, 10)


@needs_data
def test_mirflickr_tags_and_labels(monkeypatch, tmp_path):
    """Images come from elsewhere; random ones stand in for them here."""
    folder = tmp_path / "mirflickr25k"
    folder.mkdir()
    for file in (TAGS, LABELS):
        (folder / Path(file.path).name).symlink_to(locate(file, "mirflickr25k"))
    monkeypatch.setenv("HASHBENCH_DATA", str(tmp_path))
    mirflickr = MIRFlickr25K()
    with pytest.raises(HashbenchError, match=r"mirflickr25k-iall-vgg\.mat .*20015 x 4096"):
        mirflickr.load()
    images = np.random.default_rng(0).random((20015, 8), np.float32)
    with (folder / "mirflickr25k-iall-vgg.mat").open("wb") as stream:
        np.savez(stream, XAll=images)
    data = mirflickr.load()
    assert data.views[1].shape == (20015, 1386)
    assert data.labels.sum(axis=1).mean() == pytest.approx(3.78, abs=0.005)
    assert data.views[1].sum(axis=1).mean() == pytest.approx(4.64, abs=0.005)
    sizes = {
        protocol: [len(rows) for rows in (split.train, split.query, split.database)]
        for protocol in mirflickr.protocols
        for split in [mirflickr.split(data, protocol, 0)]
    }
    assert sizes["paper"] == [16012, 4003, 16012]
    assert sizes["last-2000"] == [18015, 2000, 18015]
    assert sizes["random-2000-train-10000"] == [10000, 2000, 18015]
    assert MIRFlickr25K(path=str(folder)).load().fingerprint == data.fingerprint


@pytest.mark.parametrize("selection", [NUSWIDE, NUSWIDETop21, NUSWIDETop10])
def test_nuswide_says_which_file_to_place_where(selection, monkeypatch, tmp_path):
    monkeypatch.setenv("HASHBENCH_DATA", str(tmp_path))
    with pytest.raises(HashbenchError) as error:
        selection().load()
    said = str(error.value)
    assert str(tmp_path / selection.files[0].path) in said
    assert str(selection.n_rows) in said


@pytest.mark.parametrize(("dataset", "rows"), [(NUSWIDETop10, 186577), (MIRFlickr25K, 20015)])
def test_data_of_another_size_are_refused(tmp_path, dataset, rows):
    path = tmp_path / "own.npz"
    np.savez(path, XAll=np.ones((30, 4)), YAll=np.ones((30, 4)), LAll=np.ones((30, 2)))
    with pytest.raises(HashbenchError, match=rf"{dataset.name}.*\b30 rows.*\b{rows}\b"):
        dataset(path=str(path)).load()


@pytest.mark.parametrize(
    ("dataset", "names"),
    [
        (MIRFlickrSePH, ("I_tr", "T_tr", "L_tr", "I_te", "T_te", "L_te")),
        (NUSWIDEDLFH, ("XDatabase", "YDatabase", "databaseL", "XTest", "YTest", "testL")),
        (XMedia, ("I_tr_CNN", "T_tr_BOW", "trImgCat", "I_te_CNN", "T_te_BOW", "teImgCat")),
    ],
)
def test_files_without_a_checksum_of_their_authors(dataset, names, tmp_path, monkeypatch):
    """The real files were never opened; made ones have the variables that their code reads."""
    (file,) = dataset.files
    assert file.git_blob in {
        "d6f0d522f7b48bee9ed2e7cee3937dc747698349",
        "3ff8caf57660904e25609d34fea8a284c692590b",
        "5f9a2f26b29da4a82274a8a842968c03e4a66f58",
    }
    assert "no licence" in file.content
    monkeypatch.setenv("HASHBENCH_DATA", str(tmp_path))
    path = tmp_path / file.path
    path.parent.mkdir()
    rng = np.random.default_rng(0)
    values = [
        array
        for rows in (20, 6)
        for array in (rng.random((rows, 5)), rng.random((rows, 4)), np.arange(rows)[:, None] % 3)
    ]
    scipy.io.savemat(path, dict(zip(names, values, strict=True)))
    found = dataset()
    data = found.load()
    split = found.split(data, found.default_protocol(), 0)
    assert (len(split.train), len(split.query), data.labels.shape) == (20, 6, (26, 3))
    assert check(file) == "wrong checksum"
