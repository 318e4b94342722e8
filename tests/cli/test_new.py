"""The files that ``hashbench new`` writes work as they are."""

import pytest
from click.testing import CliRunner

from hashbench.checks.methods import run_checks, toy
from hashbench.cli import cli
from hashbench.core.errors import HashbenchError
from hashbench.plugins.registry import discover


def new(*arguments):
    return CliRunner().invoke(cli, ["new", *arguments], catch_exceptions=False)


def test_a_new_method_conforms(tmp_path):
    file = tmp_path / "my_method.py"
    assert "hashbench check" in new("method", "my-method", "-o", str(file)).output
    cls = discover([file]).methods["my-method"].cls
    assert [o for o in run_checks(cls) if o.status != "passed"] == []


def test_a_new_neural_method_conforms_and_learns(tmp_path):
    pytest.importorskip("torch")
    file = tmp_path / "my_network.py"
    assert "hashbench check" in new("method", "my-network", "--torch", "-o", str(file)).output
    cls = discover([file]).methods["my-network"].cls
    assert [o for o in run_checks(cls) if o.status != "passed"] == []
    objective = cls(n_bits=8, epochs=10, random_state=0).fit(*toy(200)).objective_
    assert objective[-1] < 0.8 * objective[0]


def test_only_a_method_can_be_neural(tmp_path):
    with pytest.raises(HashbenchError, match=r"--torch.*dataset.*method"):
        new("dataset", "toy-data", "--torch", "-o", str(tmp_path / "d.py"))


def test_a_new_dataset_loads_and_splits(tmp_path):
    file = tmp_path / "d.py"
    new("dataset", "toy-data", "-o", str(file))
    dataset = discover([file]).datasets["toy-data"].cls()
    data = dataset.load()
    split = dataset.split(data, dataset.default_protocol(), 0)
    assert len(split.database) + len(split.query) == data.n_rows == 400
    assert len(split.train) == 150


def test_a_new_report_is_found(tmp_path):
    file = tmp_path / "r.py"
    new("report", "toy-report", "-o", str(file))
    assert discover([file]).reports["toy-report"].title == "TOY-REPORT"


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        (("method", "edsh"), r"'edsh'.*methods/edsh\.py"),
        (("method", "Bad_Name"), "'Bad_Name'.*hyphens"),
        (("thing", "x"), "'thing'.*dataset, method, report"),
    ],
)
def test_wrong_names_and_kinds_are_refused(tmp_path, monkeypatch, arguments, facts):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(HashbenchError, match=facts):
        new(*arguments)
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_is_not_overwritten(tmp_path):
    file = tmp_path / "kept.py"
    file.write_text("mine")
    with pytest.raises(HashbenchError, match=r"kept\.py"):
        new("method", "fresh", "-o", str(file))
    assert file.read_text() == "mine"
