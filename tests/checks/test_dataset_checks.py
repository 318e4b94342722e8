"""Datasets that are always there keep every rule; and the rules can be broken."""

from types import MappingProxyType

import numpy as np
import pytest

from hashbench import Data, Dataset
from hashbench.checks.datasets import CHECKS, run_data_checks
from hashbench.plugins.registry import discover


@pytest.mark.parametrize("name", ["emoji", "emoji-multilabel", "synthetic"])
def test_what_ships_with_the_package_passes(name):
    outcomes = list(run_data_checks(discover().datasets[name].cls))
    assert len(outcomes) == len(CHECKS) + 1
    assert [outcome for outcome in outcomes if outcome.status != "passed"] == []


def made(seed=0, **changes):
    rng = np.random.default_rng(seed)
    labels = np.eye(2, dtype=np.uint8)[rng.integers(2, size=40)]
    return Data(
        **{"views": [rng.random((40, 3)), rng.random((40, 2))], "labels": labels, **changes}
    )


class Toy(Dataset):
    name = "toy"

    def load(self):
        return made()


class Random(Toy):
    def load(self):
        return made(seed=None)


class Ragged(Toy):
    def load(self):
        return made(labels=np.ones((39, 2), np.uint8))


class NotFinite(Toy):
    def load(self):
        return made(views=[np.full((40, 3), np.inf), np.ones((40, 2))])


class Misnamed(Toy):
    def load(self):
        return made(label_names=("a", "b", "c"))


class Unsplit(Toy):
    class Protocol:
        description = "by no seed"

        def __call__(self, data, rng):
            return Dataset.protocols["default"](data, np.random.default_rng())

    protocols = MappingProxyType({"by-chance": Protocol()})


class Unprepared(Toy):
    preprocessing = ("l2", "whiten")


class Unloadable(Toy):
    def load(self):
        return {}["views"]


def failures(cls):
    return {o.check: o.message for o in run_data_checks(cls) if o.status == "failed"}


@pytest.mark.parametrize(
    ("cls", "check", "facts"),
    [
        (Random, "the same when loaded again", []),
        (Ragged, "views and labels belong together", ["39 rows", "40"]),
        (NotFinite, "finite numbers", ["view image"]),
        (Misnamed, "names and strings", ["label_names", " 3", " 2"]),
        (Unsplit, "every protocol", ["by-chance"]),
        (Unprepared, "preprocessing", ["'whiten'"]),
        (Unloadable, "loads", ["KeyError", "'views'"]),
    ],
)
def test_each_rule_can_be_broken(cls, check, facts):
    assert failures(Toy) == {}
    message = failures(cls)[check]
    assert all(fact in message for fact in facts), message


def test_the_command_checks_datasets_too(hashbench, tmp_path):
    (tmp_path / "mine.py").write_text(
        "import numpy as np\nfrom hashbench import Data, Dataset\n\n\nclass Mine(Dataset):\n"
        '    name = "mine"\n\n    def load(self):\n'
        "        return Data([np.ones((9, 2))], np.ones((9, 1), np.uint8))\n"
    )
    checked = hashbench("check", tmp_path / "mine.py")
    assert checked.returncode == 1
    lines = [line.split() for line in checked.stdout.splitlines()]
    assert ["passed", "loads"] in lines
    (failed,) = [" ".join(words) for words in lines if words[:2] == ["failed", "views"]]
    assert "mine" in failed
    assert "1 view" in failed
    assert hashbench("check", "synthetic").returncode == 0


def test_a_name_wins_over_a_folder_that_is_called_the_same(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from hashbench.cli.check import check_command

    (tmp_path / "synthetic").mkdir()
    monkeypatch.chdir(tmp_path)
    checked = CliRunner().invoke(check_command, ["synthetic"])
    assert checked.exit_code == 0, checked.output
    assert checked.output.startswith("synthetic (")
