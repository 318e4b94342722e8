"""Classes that live in a notebook: written down with all they use, or refused with a reason."""

from __future__ import annotations

import linecache
import runpy
import sys
from types import ModuleType

import pytest

from hashbench.api.notebook_plugins import plugin_file
from hashbench.core.errors import HashbenchError

CELL = """%matplotlib inline
import math
from fractions import Fraction

SCALE = 3
table = [1, 2]


def root(value):
    return math.sqrt(value)


class Mine:
    name = "mine"

    def value(self) -> Fraction:
        return Fraction(int(root(16)) * SCALE)


class Unsendable:
    def value(self):
        return table
"""


@pytest.fixture
def notebook(monkeypatch):
    """A module that stands for a notebook, whose cell has a magic command."""
    module = ModuleType("__main__")
    linecache.cache["<cell>"] = (len(CELL), None, CELL.splitlines(keepends=True), "<cell>")
    code = compile(CELL.replace("%matplotlib inline", ""), "<cell>", "exec")
    monkeypatch.setitem(sys.modules, "__main__", module)
    exec(code, vars(module))
    yield module
    del linecache.cache["<cell>"]


def test_a_class_is_written_with_what_it_uses(notebook, tmp_path):
    path = plugin_file(notebook.Mine, tmp_path / "plugins")
    assert "table" not in path.read_text()
    assert runpy.run_path(str(path))["Mine"]().value() == 12


def test_a_class_that_has_a_file_is_left_there(tmp_path):
    assert plugin_file(HashbenchError, tmp_path).name == "errors.py"
    assert not any(tmp_path.iterdir())


def test_a_global_that_cannot_be_written_down_is_named(notebook, tmp_path):
    with pytest.raises(HashbenchError, match=r"Unsendable.*table, list"):
        plugin_file(notebook.Unsendable, tmp_path)


def test_a_class_without_source_is_refused(notebook, tmp_path):
    exec("class Typed:\n    def value(self):\n        pass\n", vars(notebook))
    with pytest.raises(HashbenchError, match=r"Typed.*source"):
        plugin_file(notebook.Typed, tmp_path)
