"""Tuned studies through the real command: what decides, what must not, and what a kill changes."""

import csv
import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

#: Three methods whose parameter decides how much they learn, and a dataset to change.
PLUGIN = """
import time
import numpy as np
from hashbench import Choice, Data, Dataset, LinearMethod, Log, RandomQuery
from hashbench.plugins.protocol import Protocol
from hashbench.data.prepare import SplitRequest, make_split
from hashbench.linalg import Ridge

VARIANT, SECONDS = "plain", 0.0


class Toy(Dataset):
    name = "toy"
    protocols = {"random": RandomQuery(0.25)}

    def load(self):
        rng = np.random.default_rng(0)
        labels = np.eye(4, dtype=np.uint8)[rng.integers(4, size=160)]
        views = [labels @ rng.standard_normal((4, d)) * 3 for d in (20, 15)]
        views = [X + 4 * rng.standard_normal(X.shape) + 5 for X in views]
        data = Data(views, labels)
        if VARIANT == "noise":
            rows = make_split(self, data, SplitRequest(Protocol("random"), 0)).query
            for X in views:
                X[rows] = 100 * rng.standard_normal((len(rows), X.shape[1]))
            labels[rows] = np.eye(4)[rng.integers(4, size=len(rows))]
        if VARIANT == "labels":
            request = SplitRequest(Protocol("random"), 0, validation=True)
            rows = make_split(self, data, request).query
            labels[rows] = np.eye(4)[rng.integers(4, size=len(rows))]
        return Data(views, labels)


class Learner(LinearMethod):
    supervised = True
    space = {"ridge": Log(1e-4, 1e6), "kind": Choice("sign", "real")}

    def __init__(self, n_bits=8, random_state=None, ridge=1e6, kind="sign"):
        self.n_bits, self.random_state = n_bits, random_state
        self.ridge, self.kind = ridge, kind

    def fit(self, views, labels=None):
        data = self.begin_fit(views, labels)
        views, Y, rng = data.views, data.labels, data.rng
        time.sleep(SECONDS)
        codes = Y @ rng.standard_normal((Y.shape[1], self.n_bits))
        target = np.sign(codes) if self.kind == "sign" else codes
        self.projections_ = [Ridge(X, self.ridge).solve(target) for X in views]
        return self


class One(Learner):
    name = "one"


class Two(Learner):
    name = "two"


class Three(Learner):
    name = "three"
"""

ON_TOY = ("-d", "toy", "-b", "8,16", "-s", "1", "--measures", "AP")
STUDY = ("-m", "one,two,three,random", *ON_TOY)


def plugin(folder, variant="plain", seconds=0.0):
    path = folder / f"{variant}.py"
    text = PLUGIN.replace(
        'VARIANT, SECONDS = "plain", 0.0', f"VARIANT = {variant!r}\nSECONDS = {seconds}"
    )
    path.write_text(text)
    return path


def winners(out):
    plan = json.loads((out / "plan.json").read_text())
    return {
        (cell["method"], cell["bits"]): (cell["parameters"], cell["preprocessing"])
        for cell in plan["cells"]
        if cell.get("tuned")
    }


@pytest.fixture(scope="module")
def tuned(hashbench, tmp_path_factory):
    """Return a function that runs the tuned study on a variant of the data."""
    folder = tmp_path_factory.mktemp("tuned")

    def run(variant="plain", *more):
        out = folder / f"{variant}-{'-'.join(more)}".replace("/", "")
        path = plugin(folder, variant)
        done = hashbench("run", "--plugin", path, *STUDY, "--tune", "12", "-o", out, *more)
        assert done.returncode == 0, done.stderr
        return out

    return run


@pytest.fixture(scope="module")
def plain(tuned):
    return tuned("plain", "-j", "2")


def test_a_tuned_method_stands_beside_its_default(plain):
    rows = list(csv.DictReader((plain / "results.csv").open()))
    methods = {row["method"] for row in rows}
    assert methods == {"one", "two", "three", "one(tuned)", "two(tuned)", "three(tuned)", "random"}
    means = {}
    for name in ("one", "one(tuned)", "two", "two(tuned)", "three", "three(tuned)"):
        values = [float(row["value"]) for row in rows if row["method"] == name]
        assert len(values) == 4  # two tasks at two code lengths
        means[name] = sum(values) / 4
    for name in ("one", "two", "three"):  # the default is bad on purpose
        assert means[f"{name}(tuned)"] > means[name] + 0.02
    found = winners(plain)
    for name in ("one", "two", "three"):  # found at one length, used at both
        assert found[name, 8] == found[name, 16]


def test_queries_have_no_say_in_what_is_chosen(tuned, plain):
    noise = tuned("noise")
    assert (noise / "results.csv").read_bytes() != (plain / "results.csv").read_bytes()
    assert winners(noise) == winners(plain)


def test_validation_rows_have(tuned, plain):
    assert winners(tuned("labels")) != winners(plain)


def test_one_job_gives_the_same_bytes_and_running_again_runs_nothing(hashbench, tuned, plain):
    alone = tuned("plain", "-j", "1")
    for name in ("results.csv", "trials.csv"):
        assert (alone / name).read_bytes() == (plain / name).read_bytes()
    path, before = plain.parent / "plain.py", lines(alone)
    again = hashbench("run", "--plugin", path, *STUDY, "--tune", "12", "-o", alone)
    assert again.returncode == 0
    assert lines(alone) == before == 36  # no trial was run
    assert "14 of 14 cells" in again.stderr


@pytest.mark.cluster
def test_dask_gives_the_same_bytes(tuned, plain):
    pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
    out = tuned("plain", "--executor", "dask")
    for name in ("results.csv", "trials.csv"):
        assert (out / name).read_bytes() == (plain / name).read_bytes()


@pytest.mark.slow
def test_kills_change_nothing(hashbench, plain, tmp_path):
    path, out, rng = plugin(tmp_path, "plain", seconds=0.1), tmp_path / "out", random.Random(1)
    command = ["run", "--plugin", str(path), *STUDY, "--tune", "12", "-o", str(out)]
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-m", "hashbench", *command],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ.copy(),
        )
        before, deadline = lines(out), time.monotonic() + 60
        while lines(out) < before + 3 and process.poll() is None:
            assert time.monotonic() < deadline, "waited too long"
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.3))
        process.kill()
        process.wait()
        assert process.returncode == -signal.SIGKILL, "the study was over before the last kill"
    assert 0 < lines(out) < 36
    done = hashbench(*command)
    assert done.returncode == 0, done.stderr
    assert (out / "results.csv").read_bytes() == (plain / "results.csv").read_bytes()
    assert lines(out) == 36


def lines(out):
    return sum(path.read_bytes().count(b"\n") for path in out.glob("trials/*.jsonl"))


def test_more_points_keep_the_trials_that_were_run(hashbench, plain, tmp_path):
    path, out = plugin(tmp_path), tmp_path / "out"
    study = ("run", "--plugin", path, *ON_TOY, "-o", out, "-m", "one")
    assert hashbench(*study, "--tune", "4").returncode == 0
    more = hashbench(*study, "--tune", "7", "--keep-trials")
    assert "3 trials" in more.stderr
    assert len(list(out.glob("trials/*/*.npz"))) == 3
    listed = list(csv.DictReader((out / "trials.csv").open()))
    assert [row["point"] for row in listed] == [str(point) for point in range(7)]
    assert [row["chosen"] for row in listed].count("yes") == 1


def test_plan_and_status_count_trials(hashbench, plain, tmp_path):
    path, out = plugin(tmp_path), tmp_path / "out"
    study = ("run", "--plugin", path, *ON_TOY, "-o", out, "-m", "one,two")
    assert hashbench(*study, "--tune", "4").returncode == 0
    done = hashbench(*study, "--tune", "4", "--plan").stdout
    for fact in ("2 searches", "4 points", "8 done, 0 trials"):
        assert fact in done
    for fact in ("8 cells", "8 done; 0 to run"):  # with the tuned ones: their searches are over
        assert fact in done
    more = hashbench(*study, "--tune", "7", "--plan").stdout
    assert "7 points" in more
    assert "8 done, 6 trials" in more
    again = hashbench(*study, "--tune", "4", "--plan", "--force").stdout
    assert "4 points" in again
    assert "8 trials" in again
    trials = json.loads(hashbench("status", out, "--json").stdout)["trials"]
    assert trials == {"searches": 2, "trials": 8, "counts": {"done": 8, "left": 0}}
    lost = next(out.glob("trials/*.jsonl"))
    lost.write_bytes(lost.read_bytes()[:-30])  # the last line is cut, as by a kill
    shown = hashbench("status", out).stdout
    assert all(fact in shown for fact in ("8 trials", "2 searches", "7 done, 1 left")), shown


@pytest.mark.slow
def test_merging_keeps_trials(hashbench, plain, tmp_path):
    path, outs = plugin(tmp_path), {}
    for methods, points in (("one,two", 4), ("one", 4), ("two", 4), ("one", 3)):
        outs[methods, points] = out = tmp_path / f"{methods}-{points}"
        study = ("run", "--plugin", path, *ON_TOY, "-m", methods, "-o", out)
        done = hashbench(*study, "--tune", str(points), "--keep-trials")
        assert done.returncode == 0, done.stderr
    both, one, two = (outs[m, 4] for m in ("one,two", "one", "two"))
    merged = tmp_path / "merged"
    done = hashbench("merge", one, two, "-o", merged)
    assert done.returncode == 0, done.stderr
    for name in ("results.csv", "trials.csv"):
        assert (merged / name).read_bytes() == (both / name).read_bytes()
    assert len(list(merged.glob("trials/*/*.npz"))) == 8
    trials = json.loads(hashbench("status", merged, "--json").stdout)["trials"]
    assert trials == {"searches": 2, "trials": 8, "counts": {"done": 8, "left": 0}}
    # A search with fewer points is a conflict: it is named, and no trial is lost.
    fewer = tmp_path / "fewer"
    differ = hashbench("merge", outs["one", 3], one, "-o", fewer)
    assert differ.returncode == 1
    assert "3 points" in differ.stderr
    assert lines(fewer) == 4
    listed = list(csv.DictReader((fewer / "trials.csv").open()))
    assert [row["point"] for row in listed] == ["0", "1", "2"]


def test_a_search_whose_trials_all_fail_is_a_failed_row_with_the_reason(hashbench, tmp_path):
    path, out = plugin(tmp_path, seconds=30), tmp_path / "out"
    done = hashbench(
        "run", "--plugin", path, *ON_TOY, "-m", "one", "-b", "8", "-o", out, "--tune", "2",
        "--timeout", "1s",
    )  # fmt: skip
    assert done.returncode == 1
    rows = list(csv.DictReader((out / "runs.csv").open()))
    (tuned,) = [row for row in rows if row["method"] == "one(tuned)"]
    assert tuned["status"] == "failed"
    assert "2 trials" in tuned["reason"]
    assert "1.0 s" in tuned["reason"]


def test_wrong_settings_of_tuning_are_refused(hashbench, tmp_path):
    path = plugin(tmp_path)
    for flags, facts in (
        (("--tune", "1"), ["tune", "'1'", "from 2 to"]),
        (("--tune", "4", "--tune-bits", "all"), ["tune_bits", "'all'"]),
        (("--tune", "4", "--measures", "PR"), ["measure", "curve"]),
    ):
        done = hashbench("run", "--plugin", path, *STUDY, "-o", tmp_path / "out", *flags)
        assert done.returncode == 2, done.stderr
        assert all(fact in done.stderr for fact in facts), done.stderr
        assert "Traceback" not in done.stderr
