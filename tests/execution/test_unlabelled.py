"""Data without labels: only a query's own row is relevant."""

import csv

import numpy as np
import pytest

from hashbench.cli import main
from hashbench.core.codes import unpack
from hashbench.data.prepare import SplitRequest, make_split
from hashbench.execution.cell_codes import CellCodes
from hashbench.plugins.dataset import Data, Dataset
from hashbench.plugins.protocol import Protocol

FILE = "mine.npz[image=a,text=b,labels=unlabelled]"


class Unlabelled(Dataset):
    """Two views of sixty rows."""

    name = "unlabelled"

    def load(self):
        rng = np.random.default_rng(0)
        return Data([rng.random((60, 3)), rng.random((60, 2))], None)


def rows(path):
    with path.open() as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    latent = rng.standard_normal((120, 6))
    views = {"a": latent @ rng.standard_normal((6, 9)), "b": latent @ rng.standard_normal((6, 7))}
    np.savez("mine.npz", **views)
    flags = ("-m", "cca,edsh", "-d", FILE, "-b", "16", "-s", "1", "--no-report", "--quiet")
    with pytest.raises(SystemExit) as stop:
        main(["run", *flags, "-o", "out"])
    assert stop.value.code == 0
    return tmp_path / "out"


@pytest.mark.parametrize("validation", [False, True])
@pytest.mark.parametrize("protocol", ["default", "query=20"])
def test_the_database_holds_the_queries_and_what_was_not_trained_on(protocol, validation):
    plugin = Unlabelled()
    data = plugin.load()
    request = SplitRequest(Protocol.parse(protocol), 0, validation=validation)
    split = make_split(plugin, data, request)
    assert split.paired
    assert split.parts == ("unseen",)
    assert np.isin(split.query, split.database).all()
    assert not np.isin(split.query, split.train).any()
    assert not split.copies.size


def test_the_rank_of_the_own_row_is_measured(study):
    found = {(row["task"], row["measure"]): row for row in rows(study / "results.csv")}
    assert {row["method"] for row in found.values()} == {"cca"}
    assert {measure for _, measure in found} == {
        "R(relevant=pair)@1", "R(relevant=pair)@5", "R(relevant=pair)@10",
        "RR(mean=median,relevant=pair)",
    }  # fmt: skip
    (path,) = study.glob("cells/*/codes.npz")
    codes = CellCodes.load(path)
    (split,) = (dict(np.load(each)) for each in study.glob("splits/*.npz"))
    query, database = unpack(codes.query[0], 16), unpack(codes.database[1], 16)
    database = database[~split["is_seen"]]
    own = np.flatnonzero(
        split["query"][:, None] == split["database"][~split["is_seen"]][None]
    ) % len(database)
    distances = (query[:, None] != database[None]).sum(axis=2)
    mine = distances[np.arange(len(query)), own][:, None]
    before, tied = (distances < mine).sum(axis=1), (distances == mine).sum(axis=1)
    at_once = np.clip((5 - before) / tied, 0, 1).mean()
    value = float(found["image->text", "R(relevant=pair)@5"]["value"])
    assert value == pytest.approx(at_once, abs=1e-9)
    ranks = [np.arange(b + 1, b + t + 1) for b, t in zip(before, tied, strict=True)]
    reciprocal = [(1 / each).mean() for each in ranks]
    median = float(found["image->text", "RR(mean=median,relevant=pair)"]["value"])
    assert median == pytest.approx(np.median(reciprocal), abs=1e-9)


def test_supervised_methods_are_skipped(study):
    status = {row["method"]: (row["status"], row["reason"]) for row in rows(study / "runs.csv")}
    assert status["cca"][0] == "done"
    assert status["edsh"][0] == "skipped"
    assert "no labels" in status["edsh"][1]


def test_they_are_described(tmp_path, monkeypatch, capsys, study):
    with pytest.raises(SystemExit) as stop:
        main(["data", "describe", FILE])
    assert stop.value.code == 0
    printed = capsys.readouterr().out
    assert "120 rows" in printed
    assert "0 classes" in printed
    assert "chance" not in printed
