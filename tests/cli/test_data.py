"""``hashbench data`` from the outside."""

import json

import numpy as np
import pytest

from hashbench.cli import main

PLUGIN = """
from hashbench.plugins.dataset import Dataset
from hashbench.plugins.downloads import DataFile

class Remote(Dataset):
    name = "remote"
    files = (
        DataFile("remote/a.mat", "{sha256}", "http://127.0.0.1:9/a.mat"),
        DataFile("remote/b.mat", content="XAll, 9 x 9"),
    )

    def load(self):
        raise AssertionError("nobody may load this")
"""
OF_NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("HASHBENCH_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def run_command(*arguments):
        with pytest.raises(SystemExit) as stop:
            main(["data", *map(str, arguments)])
        out, err = capsys.readouterr()
        return stop.value.code, out, err

    return run_command


@pytest.fixture
def remote(tmp_path):
    path = tmp_path / "remote.py"
    path.write_text(PLUGIN.format(sha256=OF_NOTHING))
    (tmp_path / "data" / "remote").mkdir(parents=True)
    return path


def test_describe_text(run):
    code, out, _ = run("describe", "synthetic[rows=200,labels_per_row=2]")
    assert code == 0
    assert out.startswith("synthetic")
    for fact in ("200 rows", "8 classes", "train 75", "query 50", "mAP"):
        assert fact in out


def test_describe_json_and_picture(run, tmp_path):
    page = tmp_path / "page.png"
    code, out, _ = run("describe", "synthetic[rows=200]", "--json", "-o", page, "-s", 4)
    found = json.loads(out)
    assert code == 0
    assert (found["rows"], found["seed"], found["synthetic"]) == (200, 4, True)
    assert page.stat().st_size > 10_000


def test_describe_a_file_under_a_protocol(run, tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "mine.npz"
    np.savez(path, a=rng.random((40, 3)), b=rng.random((40, 2)), c=rng.integers(3, size=40))
    code, out, _ = run("describe", f"{path}[image=a,text=b,labels=c,protocol=random]", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["name"], found["rows"], found["classes"]) == ("mine", 40, 3)
    assert [view["columns"] for view in found["views"]] == [3, 2]
    (note,) = found["notes"]
    assert "image=a, text=b, labels=c" in note


@pytest.mark.parametrize("steps", ["l2+centre", "none"])
def test_describe_another_preprocessing(run, steps):
    _, out, _ = run("describe", f"emoji[preprocess={steps}]", "--json")
    assert [view["preprocessing"] for view in json.loads(out)["views"]] == [steps] * 2


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("wik", ["'wik'", "'wiki'"]),
        ("wik*", ["'wik*'", "wiki, wiki-cnn"]),
        ("synthetic[protocol=defalt]", ["'defalt'", "'default'"]),
        ("synthetic[row=5]", ["'row'", "'rows'"]),
        ("synthetic[preprocess=center]", ["'center'", "'centre'"]),
        ("synthetic[rows=0]", ["rows", " 0", "from 1"]),
        ("synthetic[seed=-1]", ["seed", " -1", "from 0"]),
        ("synthetic-wiki[seed=0.5]", ["seed", " 0.5", "from 0"]),
        ("wiki", ["wiki_data.mat", "`hashbench data fetch wiki`"]),
        ("nuswide-tc10", ["nus-wide-tc10-xall-vgg.mat"]),
    ],
)
def test_mistakes_are_reported_in_one_line(run, text, facts):
    code, _, err = run("describe", text)
    assert code == 2
    assert all(fact in err for fact in facts), err
    assert err.count("\n") == 1


def test_a_seed_below_zero_is_refused(run):
    code, out, err = run("describe", "synthetic[rows=50]", "-s", "-1")
    assert (code, out) == (2, "")
    assert "'--seed'" in err
    assert "-1" in err


def test_a_picture_of_unknown_format(run, tmp_path):
    code, _, err = run("describe", "synthetic[rows=50]", "-o", tmp_path / "page.xyz")
    assert code == 2
    assert "page.xyz" in err


def test_check_distinguishes_right_wrong_and_missing_files(run, remote, tmp_path):
    code, out, err = run("check", "remote", "--plugin", remote)
    assert (code, out.count("missing")) == (2, 2)
    assert "remote: " in err
    assert "2 files" in err
    for name in ("a.mat", "b.mat"):
        (tmp_path / "data" / "remote" / name).touch()
    code, out, _ = run("check", "remote", "--plugin", remote)
    assert code == 0
    assert "a.mat: ok" in out
    assert "b.mat: present" in out
    (tmp_path / "data" / "remote" / "a.mat").write_text("other")
    code, out, _ = run("check", "remote", "--plugin", remote)
    assert code == 2
    assert "a.mat: wrong" in out


def test_fetch_gets_what_it_can_and_says_what_it_cannot(run, remote, tmp_path):
    (tmp_path / "data" / "remote" / "a.mat").touch()
    code, out, err = run("fetch", "remote", "--plugin", remote)
    assert code == 2
    assert "remote/a.mat: " in out
    assert "XAll, 9 x 9" in err
    assert str(tmp_path / "data" / "remote" / "b.mat") in err


def test_nothing_to_fetch(run):
    code, out, _ = run("fetch", "synthetic")
    assert code == 0
    assert out.startswith("synthetic: ")
    assert out.count("\n") == 1
