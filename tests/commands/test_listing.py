import json

import pytest
from click.testing import CliRunner

from hashbench.base.errors import HashbenchError
from hashbench.commands import cli
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


def test_a_reconstruction_says_so():
    assert "reconstruction" in hashbench("show", "qch")
    assert discover().methods["qch"].cls.fidelity_note


def test_agreement_up_to_the_rank_of_the_data_has_a_mark(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    listed = hashbench("list", "methods")
    assert "third-party^" in listed
    assert "^ up to the rank of the data" in listed
    assert "up to the rank" in " ".join(hashbench("show", "cvh").split())
    assert "up to the rank" not in hashbench("show", "edsh")
    assert json.loads(hashbench("show", "cvh", "--json"))["up_to_rank"] is True


def test_preset_names_parse_back():
    for entry in json.loads(hashbench("list", "measures", "--json")):
        if entry["reproduces"]:
            assert parse(entry["name"].replace("(K)", "(50)"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("list", "method"), "did you mean 'methods'"),
        (("show", "edhs"), "did you mean 'edsh'"),
    ],
)
def test_errors_suggest(arguments, message):
    with pytest.raises(HashbenchError, match=message):
        CliRunner().invoke(cli, arguments, catch_exceptions=False)


def test_what_may_be_tuned_is_shown(tmp_path):
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
    assert "space\n  alpha: Log(0.01, 100)\n  kind: Choice('a', 'b')" in text
    listed = json.loads(hashbench("list", "methods", "--json", "--plugin", str(path)))
    spaces = {entry["name"]: entry["space"] for entry in listed}
    assert spaces["spaced"] == {"alpha": "Log(0.01, 100)", "kind": "Choice('a', 'b')"}
    assert spaces["random"] == {}
    assert "space: none; the method is not tuned" in hashbench("show", "random")
