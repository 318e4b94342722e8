"""The files that ``hashbench new`` writes work as they are."""

import pytest
from click.testing import CliRunner

from hashbench.base.errors import HashbenchError
from hashbench.checks.methods import run_checks
from hashbench.commands import cli
from hashbench.plugins.registry import discover


def new(*arguments):
    return CliRunner().invoke(cli, ["new", *arguments], catch_exceptions=False)


def test_a_new_method_conforms(tmp_path):
    file = tmp_path / "my_method.py"
    assert "hashbench check" in new("method", "my-method", "-o", str(file)).output
    cls = discover([file]).methods["my-method"].cls
    assert [o for o in run_checks(cls) if o.status != "passed"] == []


def test_a_new_dataset_loads_and_splits(tmp_path):
    file = tmp_path / "d.py"
    new("dataset", "toy-data", "-o", str(file))
    dataset = discover([file]).datasets["toy-data"].cls()
    data = dataset.load()
    split = dataset.split(data, dataset.default_protocol(), 0)
    assert len(split.train) + len(split.query) == data.n_rows == 400


def test_a_new_report_is_found(tmp_path):
    file = tmp_path / "r.py"
    new("report", "toy-report", "-o", str(file))
    assert discover([file]).reports["toy-report"].title == "TOY-REPORT"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("method", "edsh"), "exists already"),
        (("method", "Bad_Name"), "small letters, digits and hyphens"),
        (("thing", "x"), "unknown kind of plugin 'thing'"),
    ],
)
def test_errors(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(HashbenchError, match=message):
        new(*arguments)
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_is_not_overwritten(tmp_path):
    file = tmp_path / "kept.py"
    file.write_text("mine")
    with pytest.raises(HashbenchError, match="exists already"):
        new("method", "fresh", "-o", str(file))
    assert file.read_text() == "mine"
