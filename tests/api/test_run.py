"""A study from Python is the study from the command line, with objects and data in memory."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hashbench
from hashbench.cli import main
from hashbench.core.errors import HashbenchError
from hashbench.plugins.registry import discover

DATA = "synthetic[rows=120]"


def command(*arguments):
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    return stop.value.code


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_same_study_by_python_and_by_the_command(folder):
    results = hashbench.run(["edsh", "random"], DATA, [8, 16], 2, measures="AP,P@10", out="a",
                            quiet=True)  # fmt: skip
    flags = ("-d", DATA, "-b", "8,16", "-s", "2", "--measures", "AP,P@10")
    assert command("run", "-m", "edsh", "-m", "random", *flags, "-o", "b", "--no-report") == 0
    assert Path("a/results.csv").read_text() == Path("b/results.csv").read_text()
    scores = results.scores()
    assert set(scores["method"]) == {"edsh", "random"}
    assert len(results.runs()) == 8
    assert len(results.curves("PR"))
    assert len(results.history())
    again = hashbench.open("b")
    assert again.scores().equals(hashbench.open("a").scores())
    assert "8 of 8" in repr(again)


def test_a_study_that_tunes(folder):
    study = {"bits": 8, "seeds": 1, "measures": "AP", "tune": 2}
    results = hashbench.run("edsh", DATA, **study, out="a", quiet=True)
    assert set(results.runs()["method"]) == {"edsh", "edsh(tuned)"}
    flags = ("-m", "edsh", "-d", DATA, "-b", "8", "-s", "1", "--measures", "AP", "--tune", "2")
    assert command("run", *flags, "-o", "b", "--no-report") == 0
    for name in ("results.csv", "trials.csv"):
        a, b = (pd.read_csv(Path(out) / name) for out in "ab")
        timed = [column for column in a if "seconds" in column]
        assert a.drop(columns=timed).equals(b.drop(columns=timed)), name


def test_tables_figures_and_comparisons(folder):
    results = hashbench.run(["edsh", "random"], DATA, [8, 16], 2, out="a", quiet=True)
    html = results.table("map-table").to_html()
    assert "EDSH" in html
    assert "font-weight: bold" in html
    assert results.figure("pr-curve", bits=8).get_axes()
    assert {"difference", "p_value"} <= set(results.compare("edsh", "random").columns)
    assert "EDSH" in results._repr_html_()
    with pytest.raises(HashbenchError, match=r"pr-curve.*figure"):
        results.table("pr-curve")
    with pytest.raises(HashbenchError, match=r"'pr-curves'.*'pr-curve'"):
        results.table("pr-curves")


def test_classes_objects_and_data_in_memory(folder):
    EDSH = discover().methods["edsh"].cls
    rng = np.random.default_rng(0)
    labels = np.array(["cat", "dog", "emu"])[np.arange(60) % 3]
    data = hashbench.Data([rng.random((60, 5)), rng.random((60, 4))], labels)
    results = hashbench.run([EDSH, EDSH(gamma=7.0), "random"], {"mine": data}, 8, 1, quiet=True)
    assert set(results.scores()["method"]) == {"edsh", "edsh[gamma=7]", "random"}
    assert set(results.scores()["dataset"]) == {"mine"}
    table = hashbench.score(EDSH(n_bits=8), data, measures="AP")
    assert set(table["database"]) == {"unseen", "seen"}
    assert set(table["task"]) == {"image->text", "text->image"}
    assert table["value"].between(0, 1).all()


def test_wrong_arguments_are_refused(folder):
    for arguments, facts in (
        ({"methods": int}, "methods.*<class 'int'>"),
        ({"datasets": np.ones((1, 3))}, "datasets.*ndarray"),
        ({"method": "edsh"}, r"\bmethod\b.*bits, datasets"),
        ({"methods": "edhs"}, "'edhs'.*'edsh'"),
    ):
        with pytest.raises(HashbenchError, match=facts):
            hashbench.run(**arguments, quiet=True)


SCRIPT = """
import numpy as np, hashbench
from hashbench import LinearMethod
SCALE = 2.0
def scaled(X):
    return SCALE * X
class Mine(LinearMethod):
    name, title, supervised = "mine", "Mine", False
    def __init__(self, n_bits=16, random_state=None):
        self.n_bits, self.random_state = n_bits, random_state
    def fit(self, views, labels=None):
        data = self.begin_fit(views, labels)
        views, rng = data.views, data.rng
        self.projections_ = [scaled(rng.standard_normal((X.shape[1], self.n_bits))) for X in views]
        return self
if __name__ == "__main__":
    results = hashbench.run([Mine, "random"], "synthetic[rows=80]", 8, 1, quiet=True, out="o")
    print(sorted(set(results.scores()["method"])))
    print("Mine" in hashbench.open("o").table().to_html())
"""


def test_a_class_of_a_script_travels_by_its_source(folder):
    Path("script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True)
    assert done.stdout == "['mine', 'random']\nTrue\n", done.stderr


def test_two_studies_from_flags_have_two_folders(folder, capsys):
    flags = ("-d", DATA, "-b", "8", "-s", "1", "--no-report")
    assert command("run", "-m", "random", *flags) == 0
    assert command("run", "-m", "edsh", *flags) == 0
    assert command("run", "-m", "edsh", *flags) == 0
    folders = sorted(path.name for path in Path("hashbench-results").iterdir())
    assert len(folders) == 2
    assert folders[0].startswith("edsh-synthetic-rows-120")
    assert f"hashbench-results/{folders[0]}" in capsys.readouterr().err


def test_a_file_with_the_suites_own_names_runs(folder, capsys):
    rng = np.random.default_rng(0)
    np.savez("mine.npz", image=rng.random((60, 5)), text=rng.random((60, 4)),
             labels=np.arange(60) % 3)  # fmt: skip
    assert command("run", "-d", "mine.npz", "-m", "edsh,random", "-b", "16", "-s", "1") == 0
    (table,) = Path("hashbench-results").glob("*/results.csv")
    assert set(pd.read_csv(table)["dataset"]) == {"mine"}
    assert "mine" in capsys.readouterr().out


def test_the_plan_prints_limits_which_are_none_unless_set(folder, capsys):
    assert command("run", "-m", "random", "-d", DATA, "--plan") == 0
    printed = capsys.readouterr().out
    assert all(fact in printed for fact in ("time none", "memory none", "1 thread")), printed
    assert command("run", "-m", "random", "-d", DATA, "--plan", "--timeout", "5m") == 0
    assert "time 5 min" in capsys.readouterr().out
