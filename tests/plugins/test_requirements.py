"""Methods that need more than the core: listed, left out of patterns, refused by name."""

import importlib.util
import json
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

import hashbench
from hashbench.cli import cli
from hashbench.core.errors import HashbenchError
from hashbench.neural.device import import_torch
from hashbench.plugins import requirements

COMMAND = "pip install torch"


@pytest.fixture
def no_torch(monkeypatch):
    """Make torch look as if it were not installed."""
    find = importlib.util.find_spec
    monkeypatch.setattr(
        requirements.importlib.util,
        "find_spec",
        lambda name, *rest: None if name == "torch" else find(name, *rest),
    )


def typed(*arguments):
    return CliRunner(env={"COLUMNS": "80"}).invoke(cli, arguments, catch_exceptions=False)


def test_an_extra_brings_what_the_command_installs():
    pyproject = Path(hashbench.__file__).parent.parent / "pyproject.toml"
    if not pyproject.exists():
        pytest.skip("not run from a source tree")
    extras = tomllib.loads(pyproject.read_text())["project"]["optional-dependencies"]
    for extra, module in (("torch", "torch"), ("dask", "distributed"), ("parquet", "pyarrow")):
        assert extras[extra][0].startswith(f"{module}>=")
        assert requirements.install_command(module) == f"pip install {module}"


def test_lists_show_what_a_method_needs(no_torch):
    listed = typed("list", "methods").output
    below = " ".join(listed.partition("\n\n")[2].split())
    assert COMMAND in below
    assert "cirh, " in below
    assert max(map(len, listed.splitlines())) <= 80
    shown = " ".join(typed("show", "dsph").output.split())
    assert COMMAND in shown
    entry = json.loads(typed("show", "dsph", "--json").output)
    assert (entry["requires"], entry["lacking"]) == (["torch"], ["torch"])


def test_all_leaves_it_out_with_one_line(no_torch, tmp_path):
    planned = typed("run", "--plan", "-m", "all", "-d", "synthetic", "-o", str(tmp_path / "out"))
    (line,) = [line for line in planned.stderr.splitlines() if COMMAND in line]
    assert "dsph" in line
    assert "edsh" in planned.stdout
    assert "dsph" not in planned.stdout
    by_name = typed("run", "--plan", "-m", "edsh", "-d", "synthetic", "-o", str(tmp_path / "out"))
    assert COMMAND not in by_name.stderr


@pytest.mark.parametrize(
    "arguments", [("run", "-m", "edsh,dsph[alpha=1]"), ("run", "-m", "dsph"), ("check", "dsph")]
)
def test_naming_one_gives_the_command_to_install_it(no_torch, arguments):
    with pytest.raises(HashbenchError, match=rf"dsph.*{COMMAND}"):
        typed(*arguments)


def test_fitting_without_it_gives_the_command_to_install_it(monkeypatch):
    def refuse(name):
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr("hashbench.neural.device.importlib.import_module", refuse)
    with pytest.raises(HashbenchError, match=rf"dsph.*{COMMAND}"):
        import_torch("dsph")
