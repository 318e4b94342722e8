"""The command from end to end: its output and the files that it writes."""

import csv
import json
import shutil
import subprocess
import sys
import tomllib

import numpy as np
import pytest

from hashbench.core.io import checksum, read_record, write_record
from hashbench.execution.store import SCHEMA

MINE = '''
import numpy as np
from hashbench import LinearMethod


class Mine(LinearMethod):
    """The best directions of the first view, found again in the others."""

    name = "mine"
    title = "Mine"
    supervised = False

    def __init__(self, n_bits=16, ridge=1.0, random_state=None):
        self.n_bits = n_bits
        self.ridge = ridge
        self.random_state = random_state

    def fit(self, views, labels=None):
        data = self.begin_fit(views, labels)
        views, rng = data.views, data.rng
        self.means_ = [X.mean(axis=0) for X in views]
        V = (views[0] - self.means_[0]) @ rng.standard_normal((views[0].shape[1], self.n_bits))
        self.projections_ = [
            np.linalg.solve(Z.T @ Z + self.ridge * np.eye(Z.shape[1]), Z.T @ V)
            for Z in (X - mean for X, mean in zip(views, self.means_))
        ]
        return self
'''


@pytest.fixture(scope="module")
def study(hashbench, tmp_path_factory):
    """A run of a plugin beside a built-in method: how it ended, and the folder."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "mine.py").write_text(MINE)
    out = folder / "out"
    done = hashbench(
        "run", "--plugin", folder / "mine.py", "-m", "mine,mine[ridge=5],edsh", "-d", "synthetic",
        "-b", "16", "-s", "1", "-o", out,
    )  # fmt: skip
    return done, out


def table(path):
    with path.open() as stream:
        return list(csv.DictReader(stream))


def test_a_method_in_a_file_of_its_own_appears_in_the_table(study):
    done, _ = study
    assert done.returncode == 0, done.stderr
    title = done.stdout.splitlines()[0]
    assert all(fact in title for fact in ("AP", "synthetic", "encoded")), title
    for label in ("mine ", "mine[ridge=5] ", "edsh "):
        assert f"\n{label}" in done.stdout
    shown, _, _ = done.stdout.partition("\n\n3 cells: ")
    assert max(map(len, shown.splitlines())) <= 80


def test_results_are_tidy(study):
    _, out = study
    rows = table(out / "results.csv")
    assert list(rows[0]) == [
        "dataset", "method", "params", "bits", "seed", "task", "database", "codes", "measure",
        "value",
    ]  # fmt: skip
    assert {row["measure"] for row in rows} == {"AP", "AP(norm=retrieved,ties=index)@100", "P@100"}
    assert {(row["method"], row["params"]) for row in rows} == {
        ("mine", ""), ("mine", "ridge=5"), ("edsh", ""),
    }  # fmt: skip
    assert {row["method"] for row in rows if row["codes"] == "learned"} == {"edsh"}
    assert all(0 <= float(row["value"]) <= 1 for row in rows)


def test_runs_say_how_and_where(study):
    _, out = study
    rows = table(out / "runs.csv")
    assert [row["status"] for row in rows] == ["done"] * 3
    for row in rows:
        assert float(row["fit_seconds"]) > 0
        assert int(row["peak_memory"]) > 1 << 20
        assert row["threads"] == "1"
        assert row["numpy"] == np.__version__


def test_the_study_is_stored_and_runs_again_to_the_same_cells(hashbench, study):
    _, out = study
    asked = tomllib.loads((out / "study.toml").read_text())
    assert asked["methods"] == ["mine", "mine[ridge=5]", "edsh"]
    before = (out / "results.csv").read_bytes()
    again = hashbench("run", out / "study.toml", "-o", out)
    assert again.returncode == 0, again.stderr
    (line,) = again.stderr.splitlines()
    assert "3 of 3 cells" in line
    assert (out / "results.csv").read_bytes() == before


def test_a_plan_shows_the_grid_and_changes_nothing(hashbench, study, tmp_path):
    _, out = study
    before = sorted(path.name for path in out.rglob("*"))
    planned = hashbench("run", out / "study.toml", "-s", "3", "-o", out, "--plan")
    assert planned.returncode == 0, planned.stderr
    for fact in ("9 cells", str(out), "3 done", "6 to run", " left "):
        assert fact in planned.stdout
    assert sorted(path.name for path in out.rglob("*")) == before
    nowhere = hashbench("run", "-m", "cca", "-d", "synthetic", "-o", tmp_path / "no", "--plan")
    assert "1 to run" in nowhere.stdout
    assert not (tmp_path / "no").exists()


def test_status_in_words_and_as_json(hashbench, study):
    _, out = study
    (line,) = hashbench("status", out).stdout.splitlines()
    assert "3 cells" in line
    assert "3 done" in line
    said = json.loads(hashbench("status", out, "--json").stdout)
    assert said["counts"] == {
        "done": 3, "failed": 0, "timeout": 0, "memory": 0, "skipped": 0, "left": 0,
    }  # fmt: skip
    nothing = hashbench("status", out / "cells")
    assert nothing.returncode == 2
    assert f"{out / 'cells'}: " in nothing.stderr
    assert "plan.json" in nothing.stderr


def test_a_damaged_cell_is_named_set_aside_and_computed_again(hashbench, study, tmp_path):
    _, out = study
    copy = tmp_path / "copy"
    shutil.copytree(out, copy)
    victim = table(copy / "runs.csv")[0]["id"]
    (copy / "cells" / victim / "codes.npz").write_bytes(b"rubbish")
    said = hashbench("status", copy)
    assert "damaged" in said.stdout
    assert "codes.npz" in said.stdout
    assert said.returncode == 1
    mended = hashbench("run", copy / "study.toml", "-o", copy)
    assert mended.returncode == 0, mended.stderr
    assert victim in mended.stderr
    assert "2 of 3 cells" in mended.stderr
    assert (copy / "results.csv").read_bytes() == (out / "results.csv").read_bytes()
    (kept,) = (copy / "set-aside").glob(f"*/{victim}/codes.npz")
    assert kept.read_bytes() == b"rubbish"


def test_timing_runs_cells_alone_and_those_again_that_did_not(hashbench, tmp_path):
    flags = ["run", "-m", "random,cca,edsh", "-d", "synthetic", "-b", "8", "-s", "2"]
    flags += ["-o", tmp_path / "out"]
    assert hashbench(*flags, "-j", "3").returncode == 0
    counted = [row for row in table(tmp_path / "out" / "runs.csv") if row["alone"] == "False"]
    assert counted
    timed = hashbench(*flags, "--timing")
    assert f"[{len(counted)}/{len(counted)}]" in timed.stderr
    assert {row["alone"] for row in table(tmp_path / "out" / "runs.csv")} == {"True"}


def test_changed_source_is_another_cell(hashbench, study, tmp_path):
    _, out = study
    changed = tmp_path / "mine.py"
    changed.write_text(MINE.replace("ridge=1.0", "ridge=2.0"))
    flags = ["-m", "mine,edsh", "-d", "synthetic", "-b", "16", "-s", "1", "-o", tmp_path / "out"]
    shutil.copytree(out, tmp_path / "out")
    again = hashbench("run", "--plugin", changed, *flags, "--replace")
    assert "1 of 2 cells" in again.stderr
    assert "2 cells in the store" in hashbench("status", tmp_path / "out").stdout
    assert json.loads(hashbench("status", tmp_path / "out", "--json").stdout)["others"] == 2


def test_the_table_shows_the_first_measure_that_is_a_number(hashbench, study):
    _, out = study
    shown = hashbench("run", out / "study.toml", "-o", out, "--measures", "PR,P@10")
    assert shown.stdout.startswith("P@10 on synthetic")
    curves = hashbench("run", out / "study.toml", "-o", out, "--measures", "PR")
    assert curves.returncode == 0
    assert "curve" in curves.stdout
    assert f"hashbench report {out}" in curves.stdout
    assert hashbench("run", out / "study.toml", "-o", out).returncode == 0


def test_quiet_shows_the_result_only(hashbench, study):
    _, out = study
    said = hashbench("run", out / "study.toml", "-o", out, "--quiet", "--force")
    assert said.returncode == 0
    assert said.stderr == ""


@pytest.mark.parametrize(
    ("flags", "facts"),
    [
        (["-m", "edhs"], ["method", "'edhs'", "'edsh'"]),
        (["-d", "synthetc"], ["dataset", "'synthetc'", "'synthetic'"]),
        (["-b", "many"], ["bits", "'many'", "1 to 4096"]),
        (["-j", "0"], ["jobs", "'0'", "1 to 1024"]),
        (["--measures", "mPA"], ["measure", "'mPA'", "'mAP'"]),
        (["--retry", "broken"], ["status", "'broken'", "done, failed"]),
        (["--executor", "slurm"], ["executor", "'slurm'", "dask, local"]),
        (["-d", "synthetic[rows=1]"], ["0 queries", "1 row"]),
        (["--timing", "--executor", "dask"], ["timing", "'dask'", "'local'"]),
        (["nowhere.toml"], ["'nowhere.toml'"]),
        (["-o", "/dev/null"], ["/dev/null/cells: Not a directory"]),
    ],
)
def test_bad_input_is_reported_in_one_line_with_exit_code_2(hashbench, tmp_path, flags, facts):
    data = [] if "-d" in flags else ["-d", "synthetic"]  # named twice, datasets add up
    done = hashbench("run", "-m", "cca", *data, "-o", tmp_path / "out", *flags)
    assert done.returncode == 2
    assert done.stderr.startswith("hashbench: ")
    assert all(fact in done.stderr for fact in facts), done.stderr
    assert done.stderr.count("\n") == 1


def test_unknown_names_leave_no_folder_behind(hashbench, tmp_path):
    assert hashbench("run", "-m", "edhs", "-o", tmp_path / "out").returncode == 2
    merged = hashbench("merge", tmp_path / "nowhere", "-o", tmp_path / "all")
    assert merged.returncode == 2
    assert merged.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_broken_plugin_is_named_before_what_it_would_have_been(hashbench, tmp_path):
    (tmp_path / "mine.py").write_text("import nothing_of_that_name\n")
    flags = ["--plugin", tmp_path / "mine.py"]
    commands = (
        ["run", "-m", "mine", "--quiet"], ["show", "mine"], ["check", "mine"],
        ["data", "describe", "mine"],
    )  # fmt: skip
    for command in commands:
        said = hashbench(*command, *flags).stderr.splitlines()
        assert len(said) == 2
        for fact in (
            f"{tmp_path}/mine.py",
            "ModuleNotFoundError",
            "nothing_of_that_name",
            "line 1",
        ):
            assert fact in said[0]
        assert said[1].startswith("hashbench: ")
        assert "'mine'" in said[1]


def test_errors_of_the_system_are_reported_in_one_line(hashbench, tmp_path):
    refused = hashbench("new", "method", "mine", "-o", tmp_path / "nowhere" / "mine.py")
    assert refused.returncode == 2
    (line,) = refused.stderr.splitlines()
    assert f"{tmp_path}/nowhere/mine.py: No such file or directory" in line
    (tmp_path / "plan.json").mkdir()
    (tmp_path / "cells").write_text("")
    (tmp_path / "study.toml").mkdir()
    refused = hashbench("run", "-m", "random", "-d", "synthetic", "-o", tmp_path)
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1


def test_the_folder_of_another_version_is_left_alone(hashbench, study, tmp_path):
    _, out = study
    newer = tmp_path / "newer"
    shutil.copytree(out, newer)
    for path in newer.rglob("*.json"):
        path.write_text(path.read_text().replace(f'"schema": {SCHEMA}', f'"schema": {SCHEMA + 1}'))
    before = {path: path.read_bytes() for path in newer.rglob("*") if path.is_file()}
    for command in (
        ["run", "-m", "cca", "-d", "synthetic", "-o", newer],
        ["run", "-m", "cca", "-d", "synthetic", "-o", newer, "--plan"],
        ["status", newer],
        ["merge", out, "-o", newer],
    ):
        refused = hashbench(*command)
        assert refused.returncode == 2
        assert f"schema {SCHEMA + 1}" in refused.stderr
        assert f" {SCHEMA}\n" in refused.stderr
    assert {path: path.read_bytes() for path in newer.rglob("*") if path.is_file()} == before


def test_a_missing_dataset_fails_its_own_cells_only(hashbench, tmp_path):
    out = tmp_path / "out"
    done = hashbench(
        "run", "-m", "cca", "-d", "nuswide,synthetic", "-o", out, HASHBENCH_DATA=str(tmp_path)
    )
    assert done.returncode == 1
    rows = {row["dataset"]: row for row in table(out / "runs.csv")}
    assert rows["synthetic"]["status"] == "done"
    assert rows["nuswide"]["status"] == "failed"
    assert "nuswide" in rows["nuswide"]["reason"]


def test_a_missing_dataset_is_reported_once_for_all_its_cells(hashbench, tmp_path):
    flags = ["-m", "cca,random", "-d", "nuswide,synthetic", "-s", "3", "-o", tmp_path / "out"]
    planned = hashbench("run", *flags, "--plan", HASHBENCH_DATA=str(tmp_path))
    lines = [line for line in planned.stdout.splitlines() if "6 cells: nuswide: " in line]
    assert len(lines) == 1
    hashbench("run", *flags, HASHBENCH_DATA=str(tmp_path))
    said = hashbench("status", tmp_path / "out").stdout
    _, header, first, *_ = said.splitlines()
    assert header.split() == ["status", "cell", "reason"]
    assert first.split()[:3] == ["failed", "6", "cells"]
    assert "nuswide: " in first
    assert said.count("6 cells") == 1
    assert max(map(len, said.splitlines())) <= 80
    found_status = json.loads(hashbench("status", tmp_path / "out", "--json").stdout)
    assert (found_status["counts"]["done"], found_status["counts"]["failed"]) == (6, 6)
    assert [(each["dataset"], each["cells"]) for each in found_status["missing"]] == [
        ("nuswide", 6)
    ]


def test_merging_brings_machines_together_and_names_conflicts(hashbench, tmp_path):
    flags = ["run", "-m", "random,cca", "-d", "synthetic[rows=100]", "-b", "8"]
    for name, seeds in (("a", "0,1"), ("b", "1,2")):
        assert hashbench(*flags, "-s", seeds, "-o", tmp_path / name).returncode == 0
    assert hashbench(*flags, "-s", "3", "-o", tmp_path / "whole").returncode == 0
    merged = hashbench("merge", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "all")
    assert merged.returncode == 0, merged.stderr
    same = (tmp_path / "all" / "results.csv").read_bytes()
    assert same == (tmp_path / "whole" / "results.csv").read_bytes()
    # A cell that was damaged where it was brought to is brought once more.
    damaged = min((tmp_path / "all" / "cells").iterdir())
    (damaged / "cell.json").write_text("{}")
    merged = hashbench("merge", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "all")
    assert merged.returncode == 0, merged.stderr
    assert len(list((tmp_path / "all" / "set-aside").iterdir())) == 1
    assert "set-aside" in merged.stderr
    assert (tmp_path / "all" / "results.csv").read_bytes() == same
    # The same cells with other codes, as another processor might give them.
    for folder in (tmp_path / "b" / "cells").iterdir():
        record = read_record(folder / "cell.json")
        with np.load(folder / "codes.npz") as arrays:
            codes = dict(arrays)
        codes["query_0"] = codes["query_0"] ^ np.uint64(1)
        np.savez_compressed(folder / "codes.npz", **codes)
        record["run"]["files"]["codes.npz"] = checksum(folder / "codes.npz")
        write_record(folder / "cell.json", record)
    merged = hashbench("merge", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "again")
    assert merged.returncode == 1
    conflicts = merged.stderr.splitlines()
    for line, method in zip(sorted(conflicts), ("cca", "random"), strict=True):
        for fact in (method, "8 bits", "synthetic[rows=100]", "seed 1", str(tmp_path / "b")):
            assert fact in line
    first = table(tmp_path / "a" / "results.csv")
    kept = [row for row in table(tmp_path / "again" / "results.csv") if row["seed"] in "01"]
    assert kept == first


MOODY = """
from pathlib import Path
from hashbench.methods.random import Random


class Moody(Random):
    name = "moody"

    def fit(self, views, labels=None):
        if (Path(__file__).parent / "bad").exists():
            raise ValueError("not today")
        return super().fit(views, labels)
"""


def test_a_done_cell_replaces_a_failed_one_in_a_merge(hashbench, tmp_path):
    (tmp_path / "moody.py").write_text(MOODY)
    flags = ["--plugin", tmp_path / "moody.py", "-m", "moody", "-d", "synthetic[rows=80]"]
    (tmp_path / "bad").touch()
    assert hashbench("run", *flags, "-b", "8", "-o", tmp_path / "failed").returncode == 1
    (tmp_path / "bad").unlink()
    assert hashbench("run", *flags, "-b", "8", "-o", tmp_path / "done").returncode == 0
    for order in (("failed", "done"), ("done", "failed")):
        out = tmp_path / "-".join(order)
        folders = [tmp_path / name for name in order]
        assert hashbench("merge", *folders, "-o", out).returncode == 0
        assert [row["status"] for row in table(out / "runs.csv")] == ["done"]


def test_merging_names_versions_that_differ(hashbench, tmp_path):
    for name, ridge in (("a", "1.0"), ("b", "2.0")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.py").write_text(MINE.replace("ridge=1.0", f"ridge={ridge}"))
        flags = ["--plugin", tmp_path / name / "mine.py", "-m", "mine", "-d", "synthetic"]
        assert hashbench("run", *flags, "-o", tmp_path / name / "out").returncode == 0
    merged = hashbench(
        "merge", tmp_path / "a" / "out", tmp_path / "b" / "out", "-o", tmp_path / "all"
    )
    assert merged.returncode == 1
    (line,) = merged.stderr.splitlines()
    for fact in ("mine", str(tmp_path / "a"), str(tmp_path / "b"), "parameters, source"):
        assert fact in line
    assert len(table(tmp_path / "all" / "runs.csv")) == 1


FIXED_SPLIT = """
import numpy as np

from hashbench import Data, Dataset, GivenSplit


class Fixed(Dataset):
    name = "fixed"
    synthetic = True
    protocols = {"given": GivenSplit()}

    def load(self):
        rng = np.random.default_rng(0)
        labels = np.eye(3, dtype=np.uint8)[rng.integers(3, size=90)]
        views = [labels @ rng.standard_normal((3, 6)) + rng.standard_normal((90, 6)) for _ in "it"]
        return Data(views, labels, given={"train": np.arange(60), "query": np.arange(60, 90)})
"""


def test_seeds_of_a_fixed_split_share_its_data(tmp_path, hashbench):
    plugin = tmp_path / "fixed.py"
    plugin.write_text(FIXED_SPLIT)
    done = hashbench(
        "run", "--plugin", plugin, "-m", "random,cca,edsh,dch", "-d", "fixed", "-b", "8,16",
        "-s", "6", "-j", "2", "-o", tmp_path / "out",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [row["status"] for row in table(tmp_path / "out" / "runs.csv")] == ["done"] * 48


def test_a_folder_named_like_the_package_is_not_imported(tmp_path):
    # As in a source tree from which the package was installed: `hashbench/` without its plugins.
    (tmp_path / "hashbench").mkdir()
    (tmp_path / "hashbench" / "__init__.py").write_text("raise ImportError('the wrong package')")
    command = [sys.executable, "-P", "-m", "hashbench", "run", "-m", "random", "-d", "synthetic"]
    done = subprocess.run(
        [*command, "-b", "8", "-s", "1", "-o", "out"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [row["status"] for row in table(tmp_path / "out" / "runs.csv")] == ["done"]
