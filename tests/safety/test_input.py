"""Numbers that nobody means, names that lead elsewhere, paths that must not count."""

import os
import shutil

import numpy as np
import pytest

import hashbench as package


@pytest.mark.parametrize(
    "flags",
    [
        ["-s", "20231118"],
        ["-s", "1000000000000"],
        ["-b", "1000000000000"],
        ["-j", "1000000000000"],
        ["--tune", "1000000000000"],
    ],
)
def test_a_number_beyond_reason_is_refused_in_one_line(hashbench, flags, tmp_path):
    done = hashbench("run", "-m", "random", *flags, "-o", tmp_path / "out")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert flags[1] in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_large_seed_can_be_named(hashbench, tmp_path):
    flags = ["-m", "random", "-d", "synthetic[rows=80]", "-b", "8", "-s", "20231118,"]
    done = hashbench("run", *flags, "-o", tmp_path / "out", "--quiet")
    assert done.returncode == 0, done.stderr
    assert ",20231118," in (tmp_path / "out" / "results.csv").read_text()


@pytest.fixture
def data(hashbench, tmp_path):
    """Return a file of data."""
    path = tmp_path / "d.npz"
    assert hashbench("data", "convert", "synthetic[rows=80]", path).returncode == 0
    return path


@pytest.mark.parametrize("name", ["../../x", "..", "a/b", "/x"])
def test_a_name_with_a_path_in_it_is_refused(hashbench, data, name, tmp_path):
    before = set(tmp_path.rglob("*"))
    done = hashbench("data", "export", f"{name}={data}", "-o", tmp_path / "a" / "b")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert set(tmp_path.rglob("*")) == before


def test_a_name_with_a_path_in_it_is_refused_from_python(tmp_path):
    rng = np.random.default_rng(0)
    labels = np.eye(2, dtype=np.uint8)[rng.integers(0, 2, 40)]
    data = package.Data([rng.standard_normal((40, 4)), rng.standard_normal((40, 3))], labels)
    with pytest.raises(package.HashbenchError, match="name"):
        package.run("random", {"../../x": data}, 8, 1, out=tmp_path / "out", quiet=True)


def test_the_shell_offers_what_a_selection_takes(hashbench):
    offered = hashbench(
        COMP_WORDS="hashbench run -d emoji[",
        COMP_CWORD="3",
        _HASHBENCH_COMPLETE="bash_complete",
    ).stdout
    for key in (
        "protocol",
        "preprocess",
        "query",
        "train",
        "unseen_classes",
        "label_noise",
        "label_fraction",
    ):
        assert f"emoji[{key}=" in offered


def test_moving_files_of_codes_and_data_recomputes_nothing(hashbench, data, tmp_path):
    split = tmp_path / "split"
    assert hashbench("data", "export", data, "-o", split).returncode == 0
    arrays = np.load(split / "d-0.npz")
    rng = np.random.default_rng(0)
    codes = {
        f"{part}_{view}": rng.integers(0, 2, (len(arrays[part]), 8)).astype(bool)
        for part in ("query", "database")
        for view in ("image", "text")
    }
    np.savez(split / "codes.npz", split=arrays["split"], n_bits=8, **codes)
    cells = []
    for place in ("one", "two"):
        folder = tmp_path / place
        folder.mkdir()
        shutil.copy(data, folder)
        shutil.copy(split / "codes.npz", folder)
        methods = f"ours={folder / 'codes.npz'},random"
        flags = ["-m", methods, "-d", folder / "d.npz", "-b", "8", "-s", "1"]
        done = hashbench("run", *flags, "-o", tmp_path / f"out-{place}", "--quiet")
        assert done.returncode == 0, done.stderr
        cells.append(sorted(os.listdir(tmp_path / f"out-{place}" / "cells")))
    assert cells[0] == cells[1]
    outs = [tmp_path / "out-one", tmp_path / "out-two"]
    merged = hashbench("merge", *outs, "-o", tmp_path / "merged")
    assert merged.returncode == 0, merged.stderr
    assert "0 conflicts" in merged.stdout


def test_a_device_given_to_run_is_not_left_in_the_environment(tmp_path, monkeypatch):
    monkeypatch.delenv("HASHBENCH_DEVICE", raising=False)
    flags = {"out": tmp_path / "out", "quiet": True, "device": "cpu"}
    package.run("random", "synthetic[rows=80]", 8, 1, **flags)
    assert "HASHBENCH_DEVICE" not in os.environ
