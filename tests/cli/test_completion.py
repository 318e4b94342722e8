"""What the shell offers, asked as click asks it."""

import os
import shutil
import subprocess
import sys

import pytest
from click.shell_completion import ShellComplete

from hashbench.cli import cli

PLUGIN = """
from hashbench import LinearMethod
class Mine(LinearMethod):
    name, title, supervised = "dlfhadow", "Shadow", False
    def __init__(self, n_bits=16, width=3, random_state=None):
        self.n_bits, self.width, self.random_state = n_bits, width, random_state
    def fit(self, views, labels=None):
        return self
"""


def offered(*words):
    *before, incomplete = words
    shell = ShellComplete(cli, {}, "hashbench", "_HASHBENCH_COMPLETE")
    return [item.value for item in shell.get_completions(before, incomplete)]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("ru",), ["run"]),
        (("run", "-m", "dlf"), ["dlfh"]),
        (("run", "-m", "random,dlf"), ["random,dlfh"]),
        (("run", "-m", "all,!dlf"), ["all,!dlfh"]),
        (("run", "-m", "edsh[gam"), ["edsh[gamma="]),
        (("run", "-m", "cca,edsh[alpha=1,gam"), ["cca,edsh[alpha=1,gamma="]),
        (("run", "-m", "edsh[gamma=1,gam"), []),
        (("run", "-m", "edsh[train"), ["edsh[train_rows="]),
        (("run", "-m", "nothing[a"), []),
        (("run", "-d", "wiki"), ["wiki", "wiki-cnn"]),
        (("run", "-d", "emoji[proto"), ["emoji[protocol="]),
        (("run", "--measures", "AP,nD"), ["AP,nDCG"]),
        (("run", "qui"), ["quick"]),
        (("report", "out", "map-ta"), ["map-table"]),
        (("show", "pr-c"), ["pr-curve"]),
        (("check", "dlf"), ["dlfh"]),
    ],
)
def test_what_may_come_next(words, expected):
    assert offered(*words) == expected


def test_plugins_of_ones_own_are_among_them(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(PLUGIN)
    assert offered("run", "--plugin", str(path), "-m", "dlf") == ["dlfh", "dlfhadow"]
    assert offered("run", "--plugin", str(path), "-m", "dlfhadow[w") == ["dlfhadow[width="]


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_bash_is_set_up_by_the_line_in_the_documentation():
    asked = {"COMP_WORDS": "hashbench run -m dlf", "COMP_CWORD": "3"}
    done = subprocess.run(
        [sys.executable, "-m", "hashbench"],
        env={**os.environ, **asked, "_HASHBENCH_COMPLETE": "bash_complete"},
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["plain,dlfh"], done.stderr
