"""The archive: packing folders of results, reading the table, codes, stale rows and changes."""

import dataclasses
import gzip
import lzma
import shutil

import pandas as pd
import pytest

import hashbench as package
from hashbench.analysis.archive import ABOUT, TABLE, coverage, read_about, read_archive
from hashbench.api.archive import pull
from hashbench.api.archive_sample import allowed_difference, rerun_sample
from hashbench.core.errors import HashbenchError
from hashbench.core.io import checksum, read_record, write_record
from hashbench.execution.progress import Progress
from hashbench.plugins import source_hash
from hashbench.plugins.registry import discover
from hashbench.plugins.source_text import code_of

STUDY = {"measures": "AP,P@10", "quiet": True}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Return two parts of a study: two methods on emoji, another one on made-up data."""
    root = tmp_path_factory.mktemp("parts")
    first, second = root / "first", root / "second"
    package.run(["ridge-labels", "random"], "emoji", [8, 16], 2, out=first, **STUDY)
    package.run(["random"], "synthetic[rows=120]", 8, 2, out=second, **STUDY)
    return first, second


@pytest.fixture(scope="module")
def packed(folders, hashbench, tmp_path_factory):
    out = tmp_path_factory.mktemp("packed") / "archive"
    done = hashbench("archive", "pack", *folders, "-o", out, "--edition", "2000.1")
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture
def copied(packed, tmp_path):
    return shutil.copytree(packed, tmp_path / "copy")


def alter(folder, method, by, consistent):
    """Add to every score of a method; with another checksum if the change is to be consistent."""
    table = pd.read_csv(folder / TABLE, keep_default_na=False, dtype=str)
    chosen = table["method"] == method
    table.loc[chosen, "value"] = (table.loc[chosen, "value"].astype(float) + by).map(str)
    (folder / TABLE).write_bytes(lzma.compress(table.to_csv(index=False).encode()))
    if consistent:
        about = {**read_record(folder / ABOUT), "table": checksum(folder / TABLE)}
        write_record(folder / ABOUT, about)


def test_the_table_has_the_scores_of_the_folders(folders, packed):
    table = package.archive(packed)
    assert set(table["edition"]) == {"2000.1"}
    assert set(table["version"]) == {1}
    assert not table["stale"].any()
    keys = ["dataset", "label", "bits", "seed", "task", "database", "codes", "measure"]
    stored = table.set_index(keys)["value"].sort_index()
    results = [package.open(folder).scores() for folder in folders]
    own = pd.concat(results).rename(columns={"method": "label"}).set_index(keys)["value"]
    own = own.sort_index()
    assert stored.index.tolist() == own.index.tolist()
    assert stored.to_numpy() == pytest.approx(own.to_numpy(), abs=1e-6)
    assert (table["chance"] > 0).all()
    assert (table["fit_seconds"] > 0).all()
    assert set(table.loc[table["bits"] == 16, "item_bytes"]) == {2.0}
    assert table.groupby("split")["seed"].nunique().max() == 1
    emoji = table[table["dataset"] == "emoji"]
    assert emoji["overlap"].iloc[0] == pytest.approx(1 / 3, abs=0.01)


def test_packing_again_gives_the_same_bytes(folders, packed, hashbench, tmp_path):
    hashbench("archive", "pack", *folders, "-o", tmp_path, "--edition", "2000.1")
    for path in packed.iterdir():
        assert path.read_bytes() == (tmp_path / path.name).read_bytes(), path.name


def test_gaps_are_zeros(packed, hashbench):
    counts = coverage(read_archive(packed))
    assert counts.loc["random", ("emoji", 16)] == 2
    assert counts.loc["ridge-labels", ("synthetic[rows=120]", 8)] == 0
    shown = hashbench("archive", "show", "--archive", packed).stdout
    assert [line.split() for line in shown.splitlines()[2:4]] == [
        ["random", "2/2", "2"], ["ridge-labels", "2/2", "0"],
    ]  # fmt: skip


def test_codes_are_packed_of_embedded_datasets_only(packed):
    assert [path.name for path in packed.glob("codes-*")] == ["codes-emoji-2000.1.tar.gz"]
    assert read_about(packed).codes["emoji"].cells == 8


def test_codes_come_back_and_are_scored_by_any_measure(folders, packed, tmp_path):
    out = pull(str(packed / "codes-emoji-2000.1.tar.gz"), tmp_path / "out")
    pulled, first = package.open(out), package.open(folders[0])
    assert len(pulled.done()) == 8
    names = ["AP", "nDCG@20"]
    keys = ["method", "bits", "seed", "task", "database", "codes", "measure"]
    found, expected = (each.scores(names).set_index(keys)["value"] for each in (pulled, first))
    pd.testing.assert_series_equal(found.sort_index(), expected.sort_index())


def test_a_damaged_file_of_codes_leaves_nothing(packed, tmp_path):
    content = bytearray(gzip.decompress((packed / "codes-emoji-2000.1.tar.gz").read_bytes()))
    position = content.index(b"/codes.npz") + 1024
    content[position] ^= 1
    damaged = tmp_path / "damaged.tar.gz"
    damaged.write_bytes(gzip.compress(bytes(content)))
    with pytest.raises(HashbenchError):
        pull(str(damaged), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(HashbenchError, match="checksum"):
        pull(str(damaged), tmp_path / "out", sha256="0" * 64)


def test_of_two_versions_of_a_cell_the_present_one_is_kept(folders, hashbench, tmp_path):
    old = tmp_path / "old"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hashbench.execution.plan.source_hash", lambda plugin: "old")
        patch.setattr("hashbench.execution.compute_cell.source_hash", lambda plugin: "old")
        package.run("random", "emoji", 8, 2, out=old, **STUDY)
    done = hashbench("archive", "pack", old, folders[0], "-o", tmp_path / "a", "--edition", "x")
    assert done.stderr.count("several versions") == 2
    table = package.archive(tmp_path / "a")
    assert not table["stale"].any()
    assert not table.duplicated(
        ["label", "bits", "seed", "task", "measure", "database", "codes"]
    ).any()


def test_rows_of_a_changed_method_are_stale_and_others_are_not(packed, monkeypatch):
    changed = discover().methods["ridge-labels"].path.resolve()
    monkeypatch.setattr(
        source_hash, "_code", lambda path, text: code_of(text) + b"x" * (path == changed)
    )
    source_hash.source_hash.cache_clear()
    table = package.archive(packed)
    monkeypatch.undo()
    source_hash.source_hash.cache_clear()
    assert set(table.loc[table["stale"], "label"]) == {"ridge-labels"}
    assert set(table.loc[~table["stale"], "label"]) == {"random"}


def test_a_score_changed_by_hand_is_found(copied, hashbench):
    alter(copied, "random", 0.1, consistent=False)
    with pytest.raises(HashbenchError, match="changed"):
        package.archive(copied)
    assert hashbench("archive", "check", "--archive", copied).returncode == 2


def test_a_sampled_cell_that_is_changed_is_found_by_fitting_it_again(copied, hashbench):
    quiet = ("--archive", copied, "--rerun", 2, "--quiet")
    assert hashbench("archive", "check", *quiet).returncode == 0
    within = allowed_difference("random") * 0.9
    alter(copied, "random", within, consistent=True)
    alter(copied, "ridge-labels", allowed_difference("ridge-labels") * 1.1, consistent=True)
    table = read_archive(copied)
    found = rerun_sample(table, discover(), 8, 0, Progress())
    assert len(found) == 8
    assert all(each.agrees == each.name.startswith("random") for each in found)
    assert hashbench("archive", "check", "--archive", copied, "--rerun", 8).returncode == 1


def test_rows_of_another_protocol_version_are_stale(packed, monkeypatch):
    monkeypatch.setattr("hashbench.analysis.archive.PROTOCOL_VERSION", 2)
    assert package.archive(packed)["stale"].all()


def test_a_cell_that_failed_is_a_gap(hashbench, tmp_path):
    out = tmp_path / "out"
    package.run("seph", "emoji", 64, 1, out=out, timeout="0.2", **STUDY)
    hashbench("archive", "pack", out, "-o", tmp_path / "a", "--edition", "x")
    about = read_about(tmp_path / "a")
    assert about.rows == 0
    assert [(gap.method, gap.seed) for gap in about.gaps] == [("seph", 0)]
    assert dataclasses.asdict(about.gaps[0])["reason"]
