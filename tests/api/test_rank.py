"""A method among those of the archive: its scores are those of a full run on the same splits."""

import re
import shutil

import pytest

import hashbench as package
from hashbench.analysis.archive import ABOUT
from hashbench.core.errors import HashbenchError
from hashbench.core.io import read_record, write_record

METHODS = ["ridge-labels", "random", "cca"]

MINE = """
from hashbench import LinearMethod
from hashbench.linalg import Ridge


class Mine(LinearMethod):
    name, title, supervised = "mine", "Mine", True

    def __init__(self, n_bits=16, ridge=1.0, random_state=None):
        self.n_bits, self.ridge, self.random_state = n_bits, ridge, random_state

    def fit(self, views, labels=None):
        data = self.begin_fit(views, labels)
        codes = data.labels @ data.rng.standard_normal((data.labels.shape[1], self.n_bits))
        self.means_ = [X.mean(axis=0) for X in data.views]
        pairs = zip(data.views, self.means_, strict=True)
        self.projections_ = [Ridge(X, self.ridge, m).solve(codes) for X, m in pairs]
        return self
"""


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    path = tmp_path_factory.mktemp("mine") / "mine.py"
    path.write_text(MINE)
    return path


@pytest.fixture(scope="module")
def full(tmp_path_factory, mine):
    """Return the results of a run of all methods, the own one among them."""
    out = tmp_path_factory.mktemp("full") / "out"
    methods = [*METHODS, "mine"]
    return package.run(methods, "emoji", [8, 16], 3, plugins=mine, out=out, measures="AP,P@10",
                       quiet=True)  # fmt: skip


@pytest.fixture(scope="module")
def packed(full, hashbench, tmp_path_factory):
    """Return an archive of the methods that ship."""
    out = tmp_path_factory.mktemp("packed")
    part = out / "part"
    package.run(METHODS, "emoji", [8, 16], 3, out=part, measures="AP,P@10", quiet=True)
    folder = out / "archive"
    done = hashbench("archive", "pack", part, "-o", folder, "--edition", "test", "--no-codes")
    assert done.returncode == 0
    return folder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("measure", ["AP", "P@10"])
def test_the_rows_are_those_of_a_full_run(full, packed, mine, folder, measure):
    found = package.rank(mine, bits=[8, 16], archive=packed, measure=measure, quiet=True)
    assert found.own == ["mine"]
    scores = full.shown().scores(measure)
    for row in found.table.to_dict("records"):
        own = scores[(scores["method"] == row["method"]) & (scores["bits"] == row["bits"])]
        assert row["splits"] == 3
        assert row["mean"] == pytest.approx(own["value"].mean(), abs=1e-6)
        for task in ("image->text", "text->image"):
            mean = own.loc[own["task"] == task, "value"].mean()
            assert row[task] == pytest.approx(mean, abs=1e-6)
    assert len(found.table) == 2 * 4
    means = found.table.groupby("bits")["mean"]
    assert means.is_monotonic_decreasing.all()


def test_the_command_prints_the_own_row_and_the_time_first(packed, mine, folder, hashbench):
    done = hashbench("rank", mine, "--archive", packed, "-b", 8, "--quiet")
    assert done.returncode == 0, done.stderr
    assert re.search(r"3 cells on emoji, 3 splits: about [\d.]+ \w+", done.stderr.splitlines()[0])
    rows = [line.split() for line in done.stdout.splitlines() if "<" in line]
    assert [row[1] for row in rows] == ["mine"]
    assert (folder / "hashbench-results" / "rank-mine" / "results.csv").is_file()


def test_a_class_and_a_method_that_ships(packed, mine, folder):
    from hashbench.plugins.registry import discover

    cls = discover([mine]).methods["mine"].cls
    by_class = package.rank(cls, bits=8, archive=packed, quiet=True).table
    by_file = package.rank(mine, bits=8, archive=packed, quiet=True).table
    columns = ["method", "rank", "mean", "against"]
    assert by_class[columns].equals(by_file[columns])
    again = package.rank("ridge-labels[ridge=10]", bits=8, archive=packed, quiet=True)
    assert again.own == ["ridge-labels[ridge=10]"]
    assert set(again.table["method"]) == {*METHODS, "ridge-labels[ridge=10]"}
    itself = package.rank("cca", bits=8, archive=packed, quiet=True).table
    assert sorted(itself["method"]) == sorted(METHODS)


def test_codes_that_were_computed_elsewhere(full, packed, folder, hashbench):
    pattern = folder / "codes" / "{dataset}-{bits}-{seed}.npz"
    (folder / "codes").mkdir()
    done = hashbench("export", "codes", full.path, "-m", "mine", "-b", "8", "-o", pattern)
    assert done.returncode == 0, done.stderr
    found = package.rank(folder / "codes", bits=8, archive=packed, quiet=True)
    assert found.own == ["codes[external]"]
    scores = full.shown().scores("AP")
    mean = scores.loc[(scores["method"] == "mine") & (scores["bits"] == 8), "value"].mean()
    own = found.table.set_index("method").loc["codes[external]"]
    assert own["mean"] == pytest.approx(mean)


def test_codes_of_some_splits_are_compared_on_these(full, packed, folder, hashbench):
    (folder / "codes").mkdir()
    pattern = folder / "codes" / "{dataset}-{bits}-{seed}.npz"
    hashbench("export", "codes", full.path, "-m", "mine", "-b", "8", "-o", pattern)
    (folder / "codes" / "emoji-8-1.npz").unlink()
    found = package.rank(
        "ours=codes/{dataset}-{bits}-{seed}.npz", bits=8, archive=packed, quiet=True
    )
    assert set(found.table["splits"]) == {2}
    scores = full.shown().scores("AP")
    chosen = (scores["method"] == "cca") & (scores["bits"] == 8) & (scores["seed"] != 1)
    cca = found.table.set_index("method").loc["cca"]
    assert cca["mean"] == pytest.approx(scores.loc[chosen, "value"].mean(), abs=1e-6)


def test_splits_that_few_methods_have_are_left_out(packed, folder, hashbench, tmp_path):
    part = tmp_path / "one"
    package.run("scm-s", "emoji", 8, [7], out=part, measures="AP", quiet=True)
    out = tmp_path / "archive"
    both = packed.parent / "part", part
    hashbench("archive", "pack", *both, "-o", out, "--edition", "test", "--no-codes")
    found = package.rank("random", bits=8, archive=out, quiet=True).table.set_index("method")
    assert set(found["splits"]) == {3}
    assert found["rank"].isna().to_dict() == {"scm-s": True, **dict.fromkeys(METHODS, False)}


def test_a_tuned_method_is_compared_with_tuned_ones(packed, folder, hashbench, tmp_path):
    part = tmp_path / "tuned"
    package.run("ridge-labels", "emoji", 8, 2, out=part, measures="AP", tune=2, quiet=True)
    out = tmp_path / "archive"
    hashbench("archive", "pack", part, "-o", out, "--edition", "test", "--no-codes")
    default = package.rank("random", bits=8, archive=out, quiet=True).table
    assert set(default["method"]) == {"random", "ridge-labels"}
    tuned = package.rank("random", bits=8, archive=out, tuned=True, quiet=True).table
    assert set(tuned["method"]) == {"random", "ridge-labels(tuned)"}


def test_another_protocol_version_is_refused(packed, mine, tmp_path):
    other = shutil.copytree(packed, tmp_path / "other")
    write_record(other / ABOUT, {**read_record(other / ABOUT), "version": 99})
    with pytest.raises(HashbenchError, match="99"):
        package.rank(mine, archive=other, quiet=True)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"datasets": "nothing"}, "emoji"),
        ({"bits": 12}, "16"),
        ({"measure": "nDCG@5"}, "P@10"),
        ({"archive": "nowhere"}, "nowhere"),
    ],
)
def test_what_the_archive_lacks_is_named(packed, mine, folder, arguments, named):
    with pytest.raises(HashbenchError, match=named):
        package.rank(mine, **{"archive": packed, "bits": 8, "quiet": True, **arguments})


@pytest.mark.parametrize(
    "text", ["x = 1\n", "raise ValueError\n", MINE + MINE.replace("Mine", "B").replace("mine", "b")]
)
def test_a_file_without_exactly_one_method_is_refused(packed, folder, text):
    (folder / "wrong.py").write_text(text)
    with pytest.raises(HashbenchError, match="allowed: a file with one method"):
        package.rank("wrong.py", archive=packed, quiet=True)
