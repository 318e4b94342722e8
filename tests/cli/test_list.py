import json
import re

import pytest
from click.testing import CliRunner

from hashbench.cli import cli
from hashbench.core.errors import HashbenchError
from hashbench.measures import parse
from hashbench.plugins.registry import discover


def hashbench(*arguments):
    found = CliRunner(env={"COLUMNS": "80"}).invoke(cli, arguments, catch_exceptions=False)
    assert found.exit_code == 0
    return found.stdout


def test_methods_as_json():
    listed = json.loads(hashbench("list", "methods", "--json"))
    assert [entry["name"] for entry in listed] == list(discover().methods)
    for entry in listed:
        assert {"name", "title", "supervised", "paper", "year", "fidelity"} <= set(entry)
    edsh = next(entry for entry in listed if entry["name"] == "edsh")
    assert edsh["supervised"] is True
    assert edsh["paper"].startswith("T. Yao")
    assert edsh["parameters"]["gamma"] == 10


def test_everything_as_json():
    assert set(json.loads(hashbench("list", "--json"))) == {
        "methods",
        "datasets",
        "reports",
        "measures",
        "studies",
    }


@pytest.mark.parametrize("kind", ["methods", "datasets", "reports", "measures"])
def test_listings_fit_a_terminal(monkeypatch, kind):
    monkeypatch.setenv("COLUMNS", "80")
    lines = hashbench("list", kind).splitlines()
    assert len(lines) > 5
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("name", ["edsh", "qch", "emoji", "nuswide", "map-table"])
def test_one_plugin(monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "80")
    text = hashbench("show", name)
    assert text.startswith(name)
    shown = json.loads(hashbench("show", name, "--json"))
    assert shown["name"] == name
    for parameter in shown["parameters"]:
        assert parameter in text


def test_a_reconstruction_is_marked():
    shown = json.loads(hashbench("show", "qch", "--json"))
    assert shown["fidelity"] == "reconstruction"
    assert "reconstruction" in hashbench("show", "qch")
    assert discover().methods["qch"].cls.paper.fidelity_note


def test_agreement_up_to_the_rank_of_the_data_has_a_mark(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    listed = hashbench("list", "methods")
    assert "differs^" in listed
    assert "\n^ " in listed  # what the mark means
    assert "equivalent^" in listed
    assert "rank" in hashbench("show", "cvh")
    assert "rank" not in hashbench("show", "edsh")
    for name, marked in (("cvh", True), ("edsh", False)):
        assert json.loads(hashbench("show", name, "--json"))["up_to_rank"] is marked


def test_preset_names_parse_back():
    for entry in json.loads(hashbench("list", "measures", "--json")):
        if entry["reproduces"]:
            assert parse(entry["name"].replace("(K)", "(50)"))


@pytest.mark.parametrize(
    ("arguments", "nearest"),
    [(("list", "method"), "'methods'"), (("show", "edhs"), "'edsh'")],
)
def test_errors_suggest_the_nearest_name(arguments, nearest):
    with pytest.raises(HashbenchError, match=nearest):
        CliRunner().invoke(cli, arguments, catch_exceptions=False)


def test_ranges_of_tuned_parameters_are_shown(tmp_path):
    path = tmp_path / "spaced.py"
    path.write_text(
        "from hashbench import Choice, LinearMethod, Log\n"
        "class Spaced(LinearMethod):\n"
        "    name, supervised = 'spaced', False\n"
        "    space = {'alpha': Log(0.01, 100), 'kind': Choice('a', 'b')}\n"
        "    def __init__(self, n_bits=8, random_state=0, alpha=1.0, kind='a'): ...\n"
        "    def fit(self, views, labels=None): ...\n"
    )
    text = hashbench("show", "spaced", "--plugin", str(path))
    assert re.search(r"alpha = 1 +searched: Log\(0.01, 100\)\n +kind = a +searched: Choice", text)
    listed = json.loads(hashbench("list", "methods", "--json", "--plugin", str(path)))
    spaces = {entry["name"]: entry["space"] for entry in listed}
    assert spaces["spaced"] == {"alpha": "Log(0.01, 100)", "kind": "Choice('a', 'b')"}
    assert spaces["random"] == {}
